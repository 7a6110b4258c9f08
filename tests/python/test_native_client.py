"""The native client: every call in both twins, bad input, states."""

import asyncio
import contextlib
import gc
import os
import signal
import threading
import time
import weakref
from pathlib import Path

import pytest
from conftest import eventually_async

import aerolane
from aerolane import Key, Operation, native
from aerolane.exceptions import (
    ClientClosedError,
    GenerationError,
    InvalidArgumentError,
    InvalidNamespaceError,
    InvalidNodeError,
    RecordExistsError,
    RecordNotFoundError,
)

TWINS = ["get", "put", "add", "append", "prepend", "delete", "touch", "exists", "operate", "info", "info_on_all_nodes"]
TWINS += ["truncate"]


class Blocking:
    def __init__(self, client):
        self.client = client

    def __getattr__(self, name):
        def call(*args, **kwargs):
            return getattr(self.client, f"{name}_blocking")(*args, **kwargs)

        return call


class Awaited:
    """Each call on an event loop of its own thread."""

    def __init__(self, client):
        self.client = client
        self.loop = asyncio.new_event_loop()

    def __getattr__(self, name):
        def call(*args, **kwargs):
            async def run():
                return await getattr(self.client, name)(*args, **kwargs)

            return self.loop.run_until_complete(asyncio.wait_for(run(), 30))

        return call


@pytest.fixture(params=["blocking", "async"])
def calls(request, client):
    """The calls of the client, each carried out to its end."""
    if request.param == "blocking":
        yield Blocking(client)
    else:
        awaited = Awaited(client)
        yield awaited
        awaited.loop.close()


def test_weak_references(connect, seeds):
    """What keeps a client for as long as others do: a cache, a registry."""
    for make in (connect, lambda: native._LocalClient(native.ClientPolicy(), seeds)):
        client = make()
        weak, cache = weakref.ref(client), weakref.WeakValueDictionary({"client": client})
        assert weak() is client is cache["client"]
        assert weakref.getweakrefcount(client) == 2
    gone = []
    client = native.new_client_blocking(native.ClientPolicy(), seeds)
    weakref.finalize(client, gone.append, True)
    client.close_blocking()
    del client
    gc.collect()
    assert gone == [True]


def test_every_network_call_has_its_twin(client):
    for name in [*TWINS, "close"]:
        assert callable(getattr(client, name)), name
        assert callable(getattr(client, f"{name}_blocking")), name


def test_put_and_get(calls, key):
    assert calls.put(key, {"a": 1, "b": "x"}) is None
    record = calls.get(key)
    assert record.bins == {"a": 1, "b": "x"}
    assert record.generation == 1
    assert record.key == key
    assert calls.get(key, ["b"]).bins == {"b": "x"}
    assert calls.get(key, bins=("b", "missing")).bins == {"b": "x"}
    assert calls.get(key, []).bins == {}
    assert calls.put(key, {"a": None}) is None
    assert calls.get(key).bins == {"b": "x"}


def test_add_append_prepend(calls, key):
    calls.put(key, {"n": 1, "s": "b", "raw": b"b"})
    assert calls.add(key, {"n": 2, "new": 5}) is None
    assert calls.append(key, {"s": "c", "raw": b"c"}) is None
    assert calls.prepend(key, {"s": "a", "raw": b"a"}) is None
    assert calls.get(key).bins == {"n": 3, "new": 5, "s": "abc", "raw": b"abc"}


def test_delete_exists_touch(calls, key):
    assert calls.exists(key) is False
    assert calls.delete(key) is False
    with pytest.raises(RecordNotFoundError):
        calls.touch(key)
    calls.put(key, {"a": 1})
    assert calls.exists(key) is True
    assert calls.touch(key) is None
    assert calls.get(key).generation == 2
    assert calls.delete(key) is True
    assert calls.exists(key) is False


def test_missing_record(calls, key):
    with pytest.raises(RecordNotFoundError) as caught:
        calls.get(key)
    assert caught.value.result_code == 2
    assert not caught.value.in_doubt


async def test_exists_legacy(client, key):
    assert await client.exists_legacy(key) == (key, None)
    await client.put(key, {"a": 1})
    there, metadata = await client.exists_legacy(key)
    assert there == key
    assert metadata["gen"] == 1
    assert set(metadata) == {"gen", "ttl"}


def test_operate(calls, key):
    calls.put(key, {"n": 1})
    record = calls.operate(key, [Operation.add("n", 4), Operation.get_bin("n")])
    assert record.bins["n"] == 5 or record.bins["n"] == [None, 5]
    assert calls.get(key).bins == {"n": 5}
    assert calls.operate(key, [Operation.get()]).bins == {"n": 5}


def test_operate_overrides(calls, key):
    put = [Operation.put("n", 1)]
    calls.operate(key, put, record_exists_action=native.RecordExistsAction.CREATE_ONLY)
    with pytest.raises(RecordExistsError):
        calls.operate(key, put, record_exists_action=native.RecordExistsAction.CREATE_ONLY)
    with pytest.raises(GenerationError):
        calls.operate(key, put, generation=7)
    calls.operate(key, put, generation=1, expiration=native.Expiration.seconds(1000))
    assert 0 < calls.get(key).ttl <= 1000
    calls.operate(key, put, expiration=native.Expiration.NEVER_EXPIRE, durable_delete=False)
    assert calls.get(key).ttl is None
    with pytest.raises(TypeError, match="record_exists_action"):
        calls.operate(key, put, record_exists_action=1)


def test_policies_are_obeyed(calls, key):
    policy = native.WritePolicy()
    policy.record_exists_action = native.RecordExistsAction.UPDATE_ONLY
    with pytest.raises(RecordNotFoundError):
        calls.put(key, {"a": 1}, policy=policy)
    policy.record_exists_action = native.RecordExistsAction.CREATE_ONLY
    calls.put(key, {"a": 1}, policy=policy)
    with pytest.raises(RecordExistsError):
        calls.put(key, {"a": 1}, policy=policy)
    # Of a namespace that is not strongly consistent, only the first policy counts.
    calls.put(key, {"a": 2}, policy_sc=policy)
    assert calls.get(key, policy=native.ReadPolicy(), policy_sc=native.ReadPolicy()).bins == {"a": 2}


def awaited(method):
    """An async method as one that blocks: it raises where it is awaited."""
    return lambda *args, **kwargs: asyncio.run(method(*args, **kwargs))


def test_filters_and_transactions_of_a_wrong_type(client, key):
    for call in (client.get_blocking, awaited(client.get)):
        with pytest.raises(TypeError, match="filter_expression"):
            call(key, filter_expression=object())
        with pytest.raises(TypeError, match="txn must be a Txn"):
            call(key, txn=object())
    with pytest.raises(TypeError, match="txn must be a Txn"):
        client.put_blocking(key, {"a": 1}, txn=object())
    with pytest.raises(TypeError, match="txn must be a Txn"):
        client.operate_blocking(key, [Operation.get()], txn=object())


@pytest.mark.parametrize("name", ["get", "delete", "touch", "exists"])
@pytest.mark.parametrize("bad", ["k", None, ("test", "s", 1), 7])
def test_keys_are_keys(client, name, bad):
    for call in (awaited(getattr(client, name)), getattr(client, f"{name}_blocking")):
        with pytest.raises(TypeError, match="key"):
            call(bad)


def test_bins_are_checked(client, key):
    for call in (client.put_blocking, awaited(client.put)):
        for bad in ([], "x", 3, None):
            with pytest.raises(TypeError):
                call(key, bad)
        with pytest.raises(InvalidArgumentError):
            call(key, {})
        with pytest.raises(TypeError):
            call(key, {1: 2})
        with pytest.raises(InvalidArgumentError):
            call(key, {"a name of 16 byt": 1})
        with pytest.raises(TypeError, match="a"):
            call(key, {"a": object()})
    for call in (client.get_blocking, awaited(client.get)):
        for bad in ("a", [1], 7):
            with pytest.raises(TypeError):
                call(key, bad)
    for bad in ([], [1], "x"):
        with pytest.raises((TypeError, InvalidArgumentError)):
            client.operate_blocking(key, bad)


def test_policies_are_of_their_class(client, key):
    with pytest.raises(TypeError, match="policy"):
        client.get_blocking(key, policy=native.WritePolicy())
    with pytest.raises(TypeError, match="policy"):
        client.put_blocking(key, {"a": 1}, policy=native.ReadPolicy())
    with pytest.raises(TypeError, match="policy"):
        awaited(client.get)(key, policy={})


def test_unknown_namespace(calls):
    with pytest.raises(InvalidNamespaceError, match="nowhere"):
        calls.get(Key("nowhere", "s", 1))


def test_info(calls, client):
    build = calls.info("build")
    assert set(build) == {"build"}
    everywhere = calls.info_on_all_nodes("build")
    assert set(everywhere) == set(client.node_names())
    assert all(answer == build for answer in everywhere.values())
    for bad in ("", "x" * 70_000, "a\0b"):
        with pytest.raises(ValueError, match="info command"):
            calls.info(bad)
    with pytest.raises(TypeError):
        calls.info(3)


def test_truncate(calls, client, set_name):
    keys = [Key("test", set_name, n) for n in range(5)]
    for key in keys:
        client.put_blocking(key, {"a": 1})
    # What was written in the same millisecond would stay on a real server.
    time.sleep(0.05)
    assert calls.truncate("test", set_name) is None
    # A server may need a moment until it has heard of it.
    deadline = time.monotonic() + 60
    while any(client.batch_exists_blocking(keys)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert client.batch_exists_blocking(keys) == [False] * 5
    with pytest.raises(ValueError, match="before_nanos"):
        calls.truncate("test", set_name, -1)
    with pytest.raises(ValueError, match="namespace"):
        calls.truncate("", set_name)


def test_nodes(client):
    nodes = client.nodes()
    assert sorted(node.name for node in nodes) == sorted(client.node_names())
    node = nodes[0]
    assert node.address == f"{node.host[0]}:{node.host[1]}"
    assert node.is_active
    assert node.failures == 0
    assert node.version >= node.version
    assert str(node.version).count(".") == 3
    assert node.version.major >= 6
    assert node.aliases()
    assert node.partition_generation >= 0
    assert client.get_node(node.name).name == node.name
    assert set(node.info_blocking("build")) == {"build"}
    assert node.name in repr(node)
    with pytest.raises(InvalidNodeError, match="zz"):
        client.get_node("zz")


async def test_info_of_a_node(client):
    assert set(await client.nodes()[0].info("build")) == {"build"}


def test_facts(client, seeds):
    assert client.is_connected()
    assert client.seeds() == seeds
    assert client.is_strong_consistency("test") is False
    assert client.is_strong_consistency("nowhere") is None
    assert native.Client.client_version() == aerolane.__version__
    assert native.Client.core_version()
    assert client.cluster_name is None
    client.server_cluster_name  # noqa: B018 -- a real cluster may have one


def test_stats(client, key):
    before = client.stats()["total"]["requests"]
    client.put_blocking(key, {"a": 1})
    stats = client.stats()
    assert stats["total"]["requests"] > before
    assert stats["total"]["open"] >= 1
    assert {node["name"] for node in stats["nodes"]} >= set(client.node_names())
    assert stats["topology_version"] >= 1


def test_stats_of_blocking_calls_have_no_times(connect, key):
    client = connect()
    client.put_blocking(key, {"a": 1})
    total = client.stats()["total"]
    assert (total["in_use"], total["service_time_us"], total["round_trip_us"]) == (0, None, None)


async def test_stats_show_how_slow_a_node_is(connect, new_cluster, key):
    """A slow node gets more connections; how many, and how long it takes, is in the snapshot."""
    cluster = new_cluster(nodes=1)
    # Fewer connections than readers: where each request has its own, nothing shows how long one occupies it.
    client = connect(cluster.seeds, native.ClientPolicy(max_conns_per_node=8))
    await client.put(key, {"a": 1})
    cluster.set_conditions(service_time={"read": "2ms"})
    policy = native.ReadPolicy(total_timeout=60_000)

    def seen():
        stats = client.stats()
        total = stats["total"]
        times = [total["service_time_us"], total["round_trip_us"]]
        assert stats["nodes"][0]["in_use"] <= stats["nodes"][0]["open"]
        return total["in_use"] > 3 and all(time is not None and time >= 1900 for time in times)

    async def read():
        while not done:
            await client.get(key, policy=policy)

    done = False
    readers = [asyncio.create_task(read()) for _ in range(32)]
    await eventually_async(seen)
    done = True
    await asyncio.gather(*readers)


def test_closing(connect, key):
    client = connect()
    client.put_blocking(key, {"a": 1})
    client.close_blocking()
    client.close_blocking()
    assert not client.is_connected()
    assert "closed" in repr(client)
    for call in (
        lambda: client.get_blocking(key),
        lambda: client.put_blocking(key, {"a": 1}),
        lambda: client.operate_blocking(key, [Operation.get()]),
        lambda: client.info_blocking("build"),
        lambda: client.info_on_all_nodes_blocking("build"),
        lambda: client.truncate_blocking("test", "s"),
        client.nodes,
        client.node_names,
        lambda: client.get_node("x"),
    ):
        with pytest.raises(ClientClosedError):
            call()


async def test_closing_async(seeds, key):
    client = await native.new_client(native.ClientPolicy(), seeds)
    await client.put(key, {"a": 1})
    node = client.nodes()[0]
    await client.close()
    await client.close()
    for call in (
        lambda: client.get(key),
        lambda: client.put(key, {"a": 1}),
        lambda: client.info("build"),
        lambda: node.info("build"),
        lambda: client.truncate("test", "s"),
    ):
        with pytest.raises(ClientClosedError):
            await call()


async def test_context_managers(seeds, key):
    async with await native.new_client(native.ClientPolicy(), seeds) as client:
        await client.put(key, {"a": 1})
    with pytest.raises(ClientClosedError):
        await client.get(key)
    with native.new_client_blocking(native.ClientPolicy(), seeds) as client:
        assert client.get_blocking(key).bins == {"a": 1}
    with pytest.raises(ClientClosedError):
        client.get_blocking(key)


@pytest.mark.filterwarnings("ignore:unclosed client:ResourceWarning")
def test_dropping_closes(new_cluster):
    cluster = new_cluster(nodes=1)
    before = threading.active_count()
    client = native.new_client_blocking(native.ClientPolicy(), cluster.seeds)
    client.put_blocking(Key("test", "s", 1), {"a": 1})
    del client
    # Fewer where a thread of another test has ended meanwhile.
    assert threading.active_count() <= before


@pytest.mark.parametrize("twin", ["async", "blocking"])
def test_seeds_that_do_not_answer(twin):
    policy = native.ClientPolicy()
    policy.timeout = 500
    seeds = "127.0.0.1:1,127.0.0.1:2"

    async def connect():
        await native.new_client(policy, seeds)

    with pytest.raises(aerolane.ConnectionError) as caught:
        native.new_client_blocking(policy, seeds) if twin == "blocking" else asyncio.run(connect())
    assert "127.0.0.1:1" in str(caught.value)
    assert "127.0.0.1:2" in str(caught.value)
    assert isinstance(caught.value, ConnectionError)


BAD_SEEDS = ["", ",", "127.0.0.1:0", "127.0.0.1:99999", "127.0.0.1:-1", "a b:3000", ":3000", "localhost:", "a:3000,"]
BAD_SEEDS += ["127.0.0.1:4090x", "localhost:http", "localhost:3000:3000", "256.0.0.1:3000", "[::1]:x", "[::1]:0", "::1"]


@pytest.mark.parametrize("bad", BAD_SEEDS)
def test_seeds_that_are_none(bad):
    with pytest.raises(InvalidArgumentError) as caught:
        native.new_client_blocking(native.ClientPolicy(), bad)
    assert isinstance(caught.value, ValueError)
    for front_door in (aerolane.Client, aerolane.SyncClient):
        # Without connecting.
        with pytest.raises(InvalidArgumentError):
            front_door(bad)


def test_a_port_that_is_no_number_is_named():
    with pytest.raises(InvalidArgumentError, match=r'"127\.0\.0\.1:4090x": "4090x" is not a port'):
        native.new_client_blocking(native.ClientPolicy(), "127.0.0.1:4090x")


def test_arguments_of_new_client(seeds):
    with pytest.raises(TypeError):
        native.new_client_blocking(None, seeds)
    with pytest.raises(TypeError):
        native.new_client_blocking(native.ClientPolicy(), 3000)
    with pytest.raises(TypeError):
        native.Client()


def test_many_threads(client, set_name):
    failures = []

    def work(number):
        try:
            for turn in range(100):
                key = Key("test", set_name, number * 1000 + turn)
                client.put_blocking(key, {"n": turn})
                assert client.get_blocking(key).bins == {"n": turn}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def control_threads():
    """How many threads of this process look after clusters."""
    names = (Path("/proc/self/task", task, "comm") for task in os.listdir("/proc/self/task"))
    with contextlib.suppress(OSError):  # One has just ended: of others.
        return [name.read_text().strip() for name in names].count("aerolane-ctl")
    return control_threads()


def test_local_clients_share_a_cluster(new_cluster):
    """One tend and one bounded pool, however many threads."""
    cluster = new_cluster(nodes=1)
    (node,) = cluster.nodes
    key = Key("test", "s", 1)
    first = native._LocalClient(native.ClientPolicy(max_conns_per_node=3), cluster.seeds)
    first.put_blocking(key, {"a": 1})
    clients = []
    before = control_threads()
    opened = cluster.stats(node)["connections_opened"]

    def work():
        local = native._LocalClient(native.ClientPolicy(max_conns_per_node=3), cluster.seeds)
        clients.append(local)
        for _ in range(50):
            local.put_blocking(key, {"a": 1})

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(clients) == 16
    # Those of other tests may end meanwhile.
    assert control_threads() <= before
    assert cluster.stats(node)["connections_opened"] - opened <= 2
    local = clients[0]
    assert local.get_blocking(key).bins == {"a": 1}
    assert local.exists_blocking(key)
    assert local.touch_blocking(key) is None
    assert local.operate_blocking(key, [Operation.get()]).bins == {"a": 1}
    assert local.delete_blocking(key) is True
    assert local.is_strong_consistency("test") is False
    assert local.info_blocking("build")
    assert local.cluster_name is None


def test_interrupted_among_many_threads(new_cluster):
    """Ctrl-C ends the call of the main thread alone, also while threads share connections."""
    import _thread

    cluster = new_cluster(nodes=1)
    client = native.new_client_blocking(native.ClientPolicy(), cluster.seeds)
    keys = [Key("test", "s", number) for number in range(24)]
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, key in enumerate(keys):
        client.put_blocking(key, {"a": number})
    policy = native.ReadPolicy(total_timeout=60_000, socket_timeout=60_000)
    failures, rounds, stop = [], [0] * 24, threading.Event()

    def work(number):
        try:
            while not stop.is_set():
                assert client.get_blocking(keys[number], policy=policy).bins == {"a": number}
                rounds[number] += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            with cluster.inject("delay", 1.0, on="read"):
                timer = threading.Timer(0.2, _thread.interrupt_main)
                with pytest.raises(KeyboardInterrupt):
                    timer.start()
                    for _ in range(20):
                        client.get_blocking(keys[0], policy=policy)
                timer.join()
            assert client.get_blocking(keys[0], policy=policy).bins == {"a": 0}
        before = list(rounds)
        deadline = time.monotonic() + 60
        while not all(now > then for now, then in zip(rounds, before, strict=True)):
            assert time.monotonic() < deadline and not failures, failures
            time.sleep(0.01)
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
        signal.signal(signal.SIGINT, handler)
        client.close_blocking()
    assert not failures and not any(thread.is_alive() for thread in threads)


def test_signal_handler_waits_for_other_threads(new_cluster):
    """The handler of a signal may wait for threads whose requests share a connection with the interrupted call."""
    cluster = new_cluster(nodes=1)
    client = native.new_client_blocking(native.ClientPolicy(), cluster.seeds)
    key = Key("test", "s", 1)
    client.put_blocking(key, {"a": 1})
    # No deadline ends their wait.
    policy = native.ReadPolicy(total_timeout=0, socket_timeout=0)
    stop, failures, left, threads = threading.Event(), [], [], []

    def work():
        try:
            while not stop.is_set():
                assert client.get_blocking(key, policy=policy).bins == {"a": 1}
        except BaseException as error:
            failures.append(error)

    def join_all(*_):
        stop.set()
        deadline = time.monotonic() + 20
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()))
        left.append(sum(thread.is_alive() for thread in threads))

    handler = signal.signal(signal.SIGALRM, join_all)
    try:
        for _ in range(10):
            stop.clear()
            threads[:] = [threading.Thread(target=work, daemon=True) for _ in range(16)]
            for thread in threads:
                thread.start()
            with cluster.inject("delay", 0.15, on="read", probability=0.02):
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                rounds = len(left)
                while len(left) == rounds:
                    client.get_blocking(key, policy=policy)
    finally:
        signal.signal(signal.SIGALRM, handler)
        stop.set()
        client.close_blocking()
    assert not failures
    assert left == [0] * 10


def test_interrupted(new_cluster):
    """Ctrl-C ends a call that waits, on the main thread."""
    import _thread

    cluster = new_cluster(nodes=1)
    client = native.new_client_blocking(native.ClientPolicy(), cluster.seeds)
    key = Key("test", "s", 1)
    # A process that was started in the background ignores the signal.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    client.put_blocking(key, {"a": 1})
    policy = native.ReadPolicy()
    policy.total_timeout = policy.socket_timeout = 60_000
    cluster.inject("delay", 5.0, on="read")
    timer = threading.Timer(0.2, _thread.interrupt_main)
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            client.get_blocking(key, policy=policy)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, handler)
    client.close_blocking()
