"""Clients that nobody closed: they warn, and say where they were made."""

import asyncio
import gc
import inspect
import sys
import tracemalloc
import warnings

import pytest

from aerolane import Client, ClusterDefinition, SyncClient, native, sync


async def native_async(seeds):
    return await native.new_client(native.ClientPolicy(), seeds)


def native_blocking(seeds):
    return native.new_client_blocking(native.ClientPolicy(), seeds)


async def session_async(seeds):
    client = Client(seeds)
    await client.connect()
    return client


def session_blocking(seeds):
    client = SyncClient(seeds)
    client.connect()
    return client


def definition_blocking(seeds):
    host, port = seeds.split(",")[0].rsplit(":", 1)
    return sync.ClusterDefinition(host, int(port)).connect()


async def definition_async(seeds):
    host, port = seeds.split(",")[0].rsplit(":", 1)
    return await ClusterDefinition(host, int(port)).connect()


MAKERS = [native_async, native_blocking, session_async, session_blocking, definition_async, definition_blocking]


def finish(result):
    """What a function gave, or the coroutine that it gave."""
    return asyncio.run(result) if inspect.isawaitable(result) else result


def close(client):
    if isinstance(client, native.Client):
        client.close_blocking()
    else:
        finish(client.close())


@pytest.fixture
def traced():
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_an_unclosed_client_warns_and_says_where_it_was_made(make, seeds, traced):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client = finish(make(seeds))
        gc.collect()
        assert caught == []
        del client
        gc.collect()
    (warning,) = caught
    assert warning.category is ResourceWarning
    assert str(warning.message).startswith(f"unclosed client of {seeds.split(',')[0]}")
    lines, first = inspect.getsourcelines(make)
    place = tracemalloc.get_object_traceback(warning.source)[-1]
    assert place.filename == __file__ and first < place.lineno < first + len(lines)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_closed_client_does_not_warn(make, seeds):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client = finish(make(seeds))
        close(client)
        del client
        gc.collect()
    assert caught == []


def test_without_tracemalloc_the_warning_has_a_source_all_the_same(seeds):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del [native_blocking(seeds)][:]
        gc.collect()
    (warning,) = caught
    assert warning.source is not None


def test_where_warnings_are_errors_nothing_is_raised(seeds, monkeypatch):
    """Nobody could catch it: it goes where Python reports such errors, and an exception on its way stays."""
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda hook: reported.append(hook.exc_type))

    def fails():
        held = [native_blocking(seeds)]
        held[held.pop() and 1]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(IndexError):
            fails()
        gc.collect()
    assert reported == [ResourceWarning]
