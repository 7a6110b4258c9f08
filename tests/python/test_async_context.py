"""Context variables: a task sees its own after it was woken, a callback those that it was given."""

import asyncio
import contextvars
import gc
import weakref

import pytest
from conftest import eventually_async

from aerolane import Key

name = contextvars.ContextVar("name", default="nobody")


@pytest.fixture
def stored(client, key):
    client.put_blocking(key, {"i": 1})
    return key


async def test_tasks_see_their_own_context(client, stored):
    seen = []

    async def task(number):
        name.set(number)
        for _ in range(20):
            await client.get(stored)
            seen.append(name.get() == number)

    await asyncio.gather(*(task(n) for n in range(30)))
    assert len(seen) == 600 and all(seen)
    assert name.get() == "nobody"


async def test_what_a_task_sets_after_it_was_woken_stays_with_it(client, stored):
    async def task(number):
        await client.get(stored)
        name.set(number)
        await client.get(stored)
        return name.get()

    assert await asyncio.gather(*(task(n) for n in range(10))) == list(range(10))
    assert name.get() == "nobody"


async def test_callbacks_run_in_the_context_given(client, stored):
    seen = []
    context = contextvars.copy_context()
    context.run(name.set, "given")
    op = client.get(stored)
    op.add_done_callback(lambda op: seen.append(("given", name.get())), context=context)
    op.add_done_callback(lambda op: seen.append(("more", name.get())), context=context)
    token = name.set("current")
    op.add_done_callback(lambda op: seen.append(("current", name.get())))
    op.add_done_callback(lambda op: seen.append(("none", name.get())), context=None)
    name.reset(token)
    await op
    await asyncio.sleep(0.01)
    expected = [("given", "given"), ("more", "given"), ("current", "current"), ("none", "current")]
    assert sorted(seen) == sorted(expected)
    op.add_done_callback(lambda op: seen.append(("late", name.get())), context=context)
    await asyncio.sleep(0)
    assert seen[-1] == ("late", "given")


async def test_a_context_that_is_entered_already(client, stored):
    """Called from within a context, with that very context for the callback."""
    event_loop = asyncio.get_running_loop()
    context = contextvars.copy_context()
    context.run(name.set, "entered")
    seen = event_loop.create_future()
    op = client.get(stored)
    context.run(op.add_done_callback, lambda op: seen.set_result(name.get()), context=context)
    await op
    assert await seen == "entered"
    seen = event_loop.create_future()
    context.run(op.add_done_callback, lambda op: seen.set_result(name.get()), context=context)
    assert await seen == "entered"


async def test_a_shared_context(client, set_name):
    """Tasks that share one context wake each other's neighbours."""
    keys = [Key("test", set_name, i) for i in range(8)]
    await asyncio.gather(*(client.put(k, {"i": i}) for i, k in enumerate(keys)))
    context = contextvars.copy_context()
    event_loop = asyncio.get_running_loop()

    async def task(key):
        return [(await client.get(key)).bins["i"] for _ in range(50)]

    tasks = [event_loop.create_task(task(key), context=context) for key in keys]
    assert await asyncio.gather(*tasks) == [[i] * 50 for i in range(8)]


async def test_lanes_keep_no_context(connect, stored):
    """Whoever opens connections, starts timers and fills sockets does so in its own context, which is let go of."""
    client = connect()
    variable = contextvars.ContextVar("variable")

    class Held:
        pass

    async def task():
        held = Held()
        variable.set(held)
        await asyncio.gather(*(client.get(stored) for _ in range(200)))
        # More than a socket takes at once: the loop is asked to tell when it takes more.
        large = Key("test", stored.set_name, "large")
        await asyncio.gather(*(client.put(large, {"b": bytes(700_000)}) for _ in range(8)))
        # Timers are set anew by those before them.
        await asyncio.sleep(0.3)
        await client.get(stored)
        return weakref.ref(held)

    alive = await asyncio.create_task(task())

    def collected():
        gc.collect()
        return alive() is None

    await eventually_async(collected)
    assert (await client.get(stored)).bins == {"i": 1}
