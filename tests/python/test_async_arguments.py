"""What is wrong with the arguments of an async call is raised where the call is awaited: calls beside it are not lost.
Blocking calls raise at once.
"""

import asyncio
import gc
import warnings

import pytest

from aerolane import Client, DataSet, InvalidArgumentError, Key, native

# How a call of each kind goes wrong: the call, and its error.
BAD = {
    "key": (lambda c, key: c.get("no key"), TypeError),
    "no key": (lambda c, key: c.get(None), TypeError),
    "bins": (lambda c, key: c.get(key, 5), TypeError),
    "policy": (lambda c, key: c.get(key, policy={}), TypeError),
    "value": (lambda c, key: c.put(key, {"i": object()}), TypeError),
    "no bins": (lambda c, key: c.put(key, None), TypeError),
    "large": (lambda c, key: c.put(key, {"i": 1 << 70}), OverflowError),
    "bin name": (lambda c, key: c.put(key, {"a name of 16 byt": 1}), InvalidArgumentError),
    "empty": (lambda c, key: c.put(key, {}), InvalidArgumentError),
    "operations": (lambda c, key: c.operate(key, []), InvalidArgumentError),
    "generation": (lambda c, key: c.operate(key, [native.Operation.get()], generation=-1), OverflowError),
    "flag": (lambda c, key: c.operate(key, [native.Operation.get()], durable_delete=3), TypeError),
    "exists_legacy": (lambda c, key: c.exists_legacy(5), TypeError),
    "batch": (lambda c, key: c.batch_read([key, 5]), TypeError),
    "lengths": (lambda c, key: c.batch_write([key], []), ValueError),
    "statement": (lambda c, key: c.query(5), TypeError),
    "info": (lambda c, key: c.info(""), ValueError),
    "info's type": (lambda c, key: c.info(5), TypeError),
    "truncate": (lambda c, key: c.truncate("test", "s", -1), ValueError),
    "udf": (lambda c, key: c.execute_udf(key, "m", "f", [object()]), TypeError),
    "module": (lambda c, key: c.register_udf(5, "a.lua"), TypeError),
    "path": (lambda c, key: c.register_udf_from_file("/no/such/file.lua", "a.lua"), FileNotFoundError),
    "roles": (lambda c, key: c.create_user("u", "p", [5]), TypeError),
    "privileges": (lambda c, key: c.create_role("r", [5], [], 0, 0), TypeError),
    "node": (lambda c, key: c.nodes()[0].info(""), ValueError),
}


@pytest.mark.parametrize("name", BAD)
async def test_raised_where_it_is_awaited(client, key, name):
    call, kind = BAD[name]
    op = call(client, key)
    with pytest.raises(kind):
        await op
    # In its place, with nothing lost; again with a good one, which a second await gives again.
    good, bad, last = await asyncio.gather(
        client.put(key, {"i": 1}), call(client, key), client.exists(key), return_exceptions=True
    )
    assert good is None and isinstance(bad, kind) and isinstance(last, bool)
    assert (await client.get(key)).bins == {"i": 1}


async def test_the_name_of_the_argument(client, key):
    for call, name in ((lambda: client.get("no key"), "key"), (lambda: client.get(key, policy={}), "policy")):
        with pytest.raises(TypeError) as caught:
            await call()
        assert caught.value.__notes__ == [f"while processing '{name}'"]


async def test_sessions(seeds, set_name):
    key = Key("test", set_name, 1)
    async with Client(seeds) as client:
        session = client.create_session()
        for call, kind in (
            (lambda: session.get(5), TypeError),
            (lambda: session.put(key, {"i": object()}), TypeError),
            (lambda: session.put(key, {}), InvalidArgumentError),
            (lambda: session.get_many([key, 5]), TypeError),
            (lambda: session.get_many(5), TypeError),
            (lambda: session.put_many([key], {"i": object()}), TypeError),
            (lambda: session.info(5), TypeError),
            (lambda: session.truncate(5), TypeError),
            (lambda: session.truncate(DataSet.of("test", set_name), -1), ValueError),
            (lambda: session.is_namespace_sc(5), TypeError),
            (lambda: session.namespace_sc_status(5), TypeError),
        ):
            good, bad = await asyncio.gather(session.put(key, {"i": 1}), call(), return_exceptions=True)
            assert good is None and isinstance(bad, kind), bad
            with pytest.raises(kind):
                await call()
        assert (await session.get(key)).bins == {"i": 1}


async def test_new_client(seeds):
    for call in (lambda: native.new_client(5, seeds), lambda: native.new_client(native.ClientPolicy(), 5)):
        op = call()
        with pytest.raises(TypeError):
            await op


def test_the_signature_is_checked_at_the_call(client, key):
    """As with coroutine functions."""
    with pytest.raises(TypeError, match="key"):
        client.get()
    with pytest.raises(TypeError, match="nonsense"):
        client.get(key, nonsense=1)
    with pytest.raises(TypeError):
        client.get(key, None, None)


def test_blocking_calls_raise_at_once(client, key):
    for call, kind in (
        (lambda: client.get_blocking("no key"), TypeError),
        (lambda: client.put_blocking(key, {"i": object()}), TypeError),
        (lambda: client.put_blocking(key, {}), InvalidArgumentError),
    ):
        with pytest.raises(kind):
            call()


def test_outside_of_a_loop(client, key):
    op = client.put(key, {"i": object()})
    with pytest.raises(TypeError, match="bin 'i'"):
        asyncio.run(op)


async def test_a_call_that_failed_is_a_coroutine_that_raises(client, key):
    op = client.put(key, {"i": object()})
    assert asyncio.iscoroutine(op) and op.done()
    assert repr(op) == "<aerolane operation 'put', failed>"
    assert isinstance(op.exception(), TypeError)
    assert op.get_loop() is asyncio.get_running_loop()
    task = asyncio.create_task(op)
    (done,), _ = await asyncio.wait({task})
    assert isinstance(done.exception(), TypeError)
    seen = []
    op.add_done_callback(seen.append)
    await asyncio.sleep(0)
    assert seen == [op]


async def test_never_awaited(client, key):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client.put(key, {"i": object()})
        gc.collect()
    (warning,) = caught
    assert warning.category is RuntimeWarning
    text = "aerolane operation 'put' was never awaited: TypeError: bin 'i': object is not supported"
    assert str(warning.message) == text


async def test_what_ends_the_program_is_raised_at_once(client, key):
    class Interrupting(dict):
        def items(self):
            raise KeyboardInterrupt

        __iter__ = keys = items

    with pytest.raises(KeyboardInterrupt):
        client.put(key, Interrupting(i=1))
