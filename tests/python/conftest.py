"""What the Python tests stand on: a cluster, clients, names, and event loops for `async def` tests.

Tests run on an embedded cluster, and with AEROSPIKE_HOST=host:port on a real one (namespace `test`).
"""

import asyncio
import contextlib
import inspect
import itertools
import logging
import os
import re
import resource
import secrets
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time

import hangs
import pytest
from hangs import OWN_PROCESS
from hypothesis import HealthCheck, settings

import aerolane
from aerolane import Behavior, Client, Key, SyncClient
from aerolane.exceptions import ClientClosedError
from aerolane.testing import EmbeddedCluster

try:
    import uvloop
except ImportError:
    uvloop = None

# The same examples in each run, however long they take: what fails has to do with the code, and not with luck or with
# the machine. Others are tried by --hypothesis-profile=random.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", settings.get_profile("random"), derandomize=True, database=None)
settings.load_profile("repeatable")

REAL = os.environ.get("AEROSPIKE_HOST")
LOOPS = {"selector": asyncio.SelectorEventLoop}
if uvloop is not None:
    LOOPS["uvloop"] = uvloop.new_event_loop
# A UDF module, for `udf_module`.
UDFS = """
function add(rec, name, by)
  rec[name] = (rec[name] or 0) + by
  if aerospike:exists(rec) then aerospike:update(rec) else aerospike:create(rec) end
  return rec[name]
end

function back(rec, value)
  return value
end

function fail(rec)
  error("on purpose")
end
"""
# Settings of writers, with time enough for a busy machine.
LONG = {"attempt_timeout": 60, "record_ttl": 60}
# What takes longer than this hangs: an `async def` test, or what `eventually` waits for. In seconds.
ASYNC_TIMEOUT = 110.0
# The embedded cluster that most tests run on.
_shared = []
_session = secrets.token_hex(3)
_numbers = itertools.count(1)


def pytest_configure(config):
    config.pluginmanager.register(hangs.Watchdog())


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
    """Runs tests marked `own_process`, and `async def` tests, so that no plugin is needed."""
    if pyfuncitem.get_closest_marker("own_process") and OWN_PROCESS not in os.environ:
        run_in_its_own_process(pyfuncitem)
        return True
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


def run_in_its_own_process(item):
    """Has a test made by another pytest, where it is the only one; its failure is the test's."""
    config = item.config
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    command += ["-c", str(config.inipath), "--rootdir", str(config.rootpath)]
    for option in ("--hypothesis-profile", "--hypothesis-seed"):
        if (value := config.getoption(option)) is not None:
            command.append(f"{option}={value}")
    run = subprocess.run(
        [*command, item.nodeid],
        cwd=config.rootpath,
        env=os.environ | {OWN_PROCESS: "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # A test that is left out there has shown nothing.
    if run.returncode != 0 or not re.search(r"\b1 passed\b", run.stdout):
        pytest.fail(f"in a process of its own:\n{run.stdout}", pytrace=False)


@pytest.fixture(scope="session")
def _embedded():
    with EmbeddedCluster(nodes=3) as cluster:
        _shared.append(cluster)
        yield cluster
        _shared.clear()


def pytest_runtest_setup():
    """Ends the run if the shared cluster has died: every test would fail, each one only after its timeouts."""
    for cluster in _shared:
        if (code := cluster._control._process.poll()) is not None:
            pytest.exit(f"the embedded cluster of the tests has ended (exit code {code})", returncode=3)


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
    """The name of a set that nothing was written to, whatever tests append to theirs."""
    return f"py{_session}_{next(_numbers)}_"


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


@pytest.fixture(params=["blocking", *LOOPS])
def run(request):
    """`run(client, name, *args, **kwargs)`: a call, blocking or on an event loop."""

    def blocking(client, name, *args, **kwargs):
        return getattr(client, name + "_blocking")(*args, **kwargs)

    def on_loop(client, name, *args, **kwargs):
        async def call():
            return await getattr(client, name)(*args, **kwargs)

        with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            return runner.run(asyncio.wait_for(call(), 100))

    return blocking if request.param == "blocking" else on_loop


@pytest.fixture
def new_index(client, set_name):
    """`new_index(create)`: the name of a new index, dropped after the test; `create(name)` gives its task."""
    made = []

    def make(create):
        name = f"{set_name}_{len(made)}"
        task = create(name)
        made.append(name)
        assert task.wait_till_complete_blocking(0.02, 100) is True
        return name

    yield make
    for name in made:
        client.drop_index_blocking("test", set_name, name).wait_till_complete_blocking(0.02, 100)


@contextlib.contextmanager
def udf_module(client, source, name):
    """A UDF module that is there as long as the block runs."""
    client.register_udf_blocking(source, f"{name}.lua").wait_till_complete_blocking(0.05, 100)
    yield name
    client.remove_udf_blocking(f"{name}.lua").wait_till_complete_blocking(0.05, 100)


def resident():
    """Memory of this process, in bytes. Tests that bound it are marked `own_process`."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def eventually(condition, message=lambda: ""):
    """Waits for `condition()` to be true: how long that takes, the machine decides."""
    deadline = time.monotonic() + ASYNC_TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, message()
        time.sleep(0.01)


async def eventually_async(condition):
    """`eventually` for `async def` tests, whose time is bounded: the loop goes on meanwhile."""
    while not condition():
        await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def other_task():
    """Another task of the loop, as long as the block runs; gives a function that tells how many turns it has had."""
    turns = 0

    async def look_on():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(look_on())
    try:
        yield lambda: turns
    finally:
        task.cancel()


@contextlib.contextmanager
def overheard(where):
    """An address that leads to `where`, and what clients have said to it."""
    said = bytearray()

    class Passing(socketserver.BaseRequestHandler):
        def handle(self):
            with socket.create_connection(where) as onward:
                threading.Thread(target=self.answers, args=(onward,), daemon=True).start()
                while data := self.request.recv(4096):
                    said.extend(data)
                    onward.sendall(data)

        def answers(self, onward):
            with contextlib.suppress(OSError):
                while data := onward.recv(4096):
                    self.request.sendall(data)

    class Server(socketserver.ThreadingTCPServer):
        # Clients open several connections at once; what does not fit in line waits for a second.
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Passing) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address, said
        server.shutdown()


class Either:
    """A session of one kind; `run` gives what a call comes to."""

    def __init__(self, kind, seeds):
        self.kind = kind
        self._loop = asyncio.new_event_loop() if kind == "async" else None
        self.client = Client(seeds) if self._loop else SyncClient(seeds)
        self.run(self.client.connect())
        self.session = self.client.create_session(Behavior.DEFAULT)

    def run(self, result):
        if self._loop is None:
            return result

        async def awaited():
            return await result

        return self._loop.run_until_complete(awaited()) if inspect.isawaitable(result) else result

    def each(self, stream):
        """What iterating over a stream gives."""
        if self._loop is None:
            return list(stream)

        async def collect():
            return [result async for result in stream]

        return self._loop.run_until_complete(collect())

    def results(self, builder, *args, **named):
        """All results of a builder."""
        return self.run(self.run(builder.execute(*args, **named)).collect())

    def close(self):
        self.run(self.client.close())
        if self._loop is not None:
            self._loop.close()


@pytest.fixture(params=["sync", "async"])
def either(request, seeds):
    one = Either(request.param, seeds)
    yield one
    one.close()


@pytest.fixture
def session(either):
    return either.session


@pytest.fixture
def keys(set_name):
    """`keys(n)`: the key of a record of the test's own set."""
    return lambda n: Key("test", set_name, n)


@pytest.fixture
def writer(either, session):
    """`writer(**settings)`: a writer with time enough for a busy machine, closed after the test."""
    made = []

    def make(**settings):
        made.append(session.writer(**{**LONG, **settings}))
        return made[-1]

    yield make
    for one in made:
        with contextlib.suppress(ClientClosedError):
            either.run(one.close(60))


@pytest.fixture
def own(either, new_cluster):
    """`own(nodes)`: a cluster of the test's own, and a client for it of the kind of `either`."""
    clients = []

    def make(nodes):
        cluster = new_cluster(nodes=nodes)
        clients.append(Either(either.kind, cluster.seeds))
        return cluster, clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture(scope="module")
def consistent():
    """A cluster of one node whose namespace is strongly consistent."""
    with EmbeddedCluster(nodes=1, strong_consistency=True) as cluster:
        yield cluster


class Alarm(Exception):
    """What a signal handler raises."""


@pytest.fixture
def alarm():
    """SIGALRM raises `Alarm` while the test runs."""

    def ring(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def logged(*names, level, kept=logging.LogRecord.getMessage):
    """What these loggers say at this level and above: the messages, or what else is `kept` of each record."""
    lines, loggers = [], [logging.getLogger(name) for name in names]
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(kept(record))
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level)
    try:
        yield lines
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.setLevel(logging.NOTSET)
