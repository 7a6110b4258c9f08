"""What the Python tests stand on: a cluster, clients, names, and event loops for `async def` tests.

Tests run on an embedded cluster, and with AEROSPIKE_HOST=host:port on a real one (namespace `test`).
"""

import asyncio
import inspect
import itertools
import os
import secrets
import sys

import pytest

import aerolane
from aerolane.testing import EmbeddedCluster

try:
    import uvloop
except ImportError:
    uvloop = None

REAL = os.environ.get("AEROSPIKE_HOST")
LOOPS = {"selector": asyncio.SelectorEventLoop}
if uvloop is not None:
    LOOPS["uvloop"] = uvloop.new_event_loop
# An `async def` test that takes longer than this hangs. In seconds.
ASYNC_TIMEOUT = 60.0
_session = secrets.token_hex(3)
_numbers = itertools.count(1)


def pytest_report_header():
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return f"aerolane {aerolane.build_info()}, GIL {'on' if gil else 'off'}, cluster: {REAL or 'embedded'}"


def pytest_generate_tests(metafunc):
    """An `async def` test runs once on each kind of event loop."""
    if inspect.iscoroutinefunction(metafunc.function):
        metafunc.fixturenames.append("loop_factory")
        metafunc.parametrize("loop_factory", LOOPS.values(), ids=LOOPS.keys())


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs `async def` tests, so that no plugin is needed."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}

    async def bounded():
        async with asyncio.timeout(ASYNC_TIMEOUT):
            await pyfuncitem.obj(**arguments)

    with asyncio.Runner(loop_factory=pyfuncitem.callspec.params["loop_factory"]) as runner:
        runner.run(bounded())
    return True


@pytest.fixture(scope="session")
def _embedded():
    with EmbeddedCluster(nodes=3) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def seeds(request):
    """Seeds of the cluster under test: the real one of AEROSPIKE_HOST, or the embedded one."""
    return REAL or request.getfixturevalue("_embedded").seeds


@pytest.fixture
def cluster(request):
    """The embedded cluster behind `seeds`, whole again after the test. Skips on a real cluster."""
    if REAL:
        pytest.skip("needs an embedded cluster")
    embedded = request.getfixturevalue("_embedded")
    yield embedded
    embedded.clear_faults()
    for node in embedded.nodes:
        embedded.start_node(node)


@pytest.fixture
def new_cluster():
    """`new_cluster(**settings)`: an embedded cluster of the test's own, whatever AEROSPIKE_HOST says."""
    clusters = []

    def make(**settings):
        clusters.append(EmbeddedCluster(**settings))
        return clusters[-1]

    yield make
    for cluster in clusters:
        cluster.close()


@pytest.fixture
def set_name():
    """The name of a set that nothing was written to."""
    return f"py{_session}_{next(_numbers)}"


@pytest.fixture
def key(set_name):
    """The key of a record that does not exist yet."""
    return aerolane.Key("test", set_name, "k")


@pytest.fixture
def connect(seeds):
    """`connect(seeds=None, policy=None)`: a native client of the test's own, closed after the test."""
    from aerolane import native

    clients = []

    def make(hosts=None, policy=None):
        clients.append(native.new_client_blocking(policy or native.ClientPolicy(), hosts or seeds))
        return clients[-1]

    yield make
    for client in clients:
        client.close_blocking()


@pytest.fixture(scope="session")
def client(seeds):
    """A native client for blocking calls and for any event loop, shared by all tests: do not close it."""
    from aerolane import native

    client = native.new_client_blocking(native.ClientPolicy(), seeds)
    yield client
    client.close_blocking()
