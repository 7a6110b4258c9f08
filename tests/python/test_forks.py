"""What the page about forks shows, run as it stands there: under gunicorn, under Celery, and in a pool of processes."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from aerolane import DataSet, SyncClient

PAGE = pathlib.Path(__file__).parents[2] / "docs/python/forks.md"
# What a step may take on a busy machine. Nothing waits for so long if it works.
PATIENCE = 60


@pytest.fixture
def program(tmp_path, seeds):
    """`program(*files)`: puts files of the page into a folder; gives it, and the environment for what runs there."""

    def write(*names):
        files = re.findall(r'^```python title="(.*?)"\n(.*?)^```$', PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        for name in names:
            (tmp_path / name).write_text(dict(files)[name], "utf-8")
        # gunicorn and Celery leave files at home.
        return tmp_path, os.environ | {"AEROSPIKE_HOST": seeds, "HOME": str(tmp_path), "PYTHONWARNINGS": "default"}

    return write


class Process:
    """A process with children of its own, all of which end with the block."""

    def __init__(self, command, folder, env):
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=folder,
                env=env,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()

    def wait_for(self, what):
        """Until `what()` gives something."""
        until = time.monotonic() + PATIENCE
        while (found := what()) is None:
            assert self.process.poll() is None and time.monotonic() < until, self.log.read_text("utf-8")
            time.sleep(0.05)
        return found


def asked(port, name, bins=None):
    """Status and answer; `None`: nobody listens yet."""
    body = None if bins is None else json.dumps(bins).encode()
    url, headers = f"http://127.0.0.1:{port}/users/{name}", {"Content-Type": "application/json"}
    request = urllib.request.Request(url, body, headers, method="GET" if bins is None else "PUT")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())
    except OSError:
        return None


def test_gunicorn(program):
    pytest.importorskip("gunicorn")
    pytest.importorskip("flask")
    folder, env = program("service.py", "gunicorn.conf.py")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with Process(["gunicorn", "service:app", "--bind", f"127.0.0.1:{port}"], folder, env) as gunicorn:
        written = gunicorn.wait_for(lambda: asked(port, "ann", {"age": 31}))
        assert written == (204, None), gunicorn.log.read_text("utf-8")
        workers = set()

        def both_workers():
            status, answer = asked(port, "ann")
            assert status == 200 and answer["age"] == 31
            workers.add(answer["pid"])
            return True if len(workers) == 2 else None

        gunicorn.wait_for(both_workers)
        assert gunicorn.process.pid not in workers
        assert asked(port, "nobody") == (404, {"detail": "no such user"})
    assert gunicorn.process.returncode == 0
    assert "Traceback" not in gunicorn.log.read_text("utf-8")


def test_gunicorn_ends_when_no_worker_can_connect(program):
    pytest.importorskip("gunicorn")
    pytest.importorskip("flask")
    folder, env = program("service.py", "gunicorn.conf.py")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        nobody = "{}:{}".format(*probe.getsockname())
    # With one worker: a second one that fails while gunicorn ends changes its exit code.
    command = [sys.executable, "-m", "gunicorn", "service:app", "--bind", "127.0.0.1:0", "--workers", "1"]
    env |= {"AEROSPIKE_HOST": nobody}
    run = subprocess.run(command, cwd=folder, env=env, timeout=PATIENCE, capture_output=True, text=True)
    assert run.returncode == 3
    assert f"could not connect to the cluster: {nobody}" in run.stderr and "Worker failed to boot" in run.stderr


CONFIG = PAGE.parents[2] / "examples/python/celery_tasks/celeryconfig.py"


def test_celery(program, seeds, set_name):
    pytest.importorskip("celery")
    folder, env = program("tasks.py")
    tasks = folder / "tasks.py"
    tasks.write_text(tasks.read_text("utf-8").replace('"visits"', f'"{set_name}"'), "utf-8")
    (folder / "celeryconfig.py").write_text(CONFIG.read_text("utf-8"), "utf-8")
    for queue in ("queue", "control"):
        (folder / queue).mkdir()
    send = "import tasks\nfor n in range(20): tasks.visit.delay(f'page{n % 4}')"
    subprocess.run([sys.executable, "-c", send], cwd=folder, env=env, timeout=PATIENCE, check=True)
    command = ["celery", "-A", "tasks", "worker", "--loglevel", "info", "--without-gossip", "--without-mingle"]
    with SyncClient(seeds) as client, Process(command, folder, env) as celery:
        session, pages = client.create_session(), DataSet.of("test", set_name).ids(*(f"page{n}" for n in range(4)))

        def all_counted():
            counts = [row.record.bins["count"] for row in session.query(pages).execute() if row.is_ok]
            return counts if sum(counts) == 20 else None

        assert celery.wait_for(all_counted) == [5, 5, 5, 5]
    log = celery.log.read_text("utf-8")
    assert "Traceback" not in log and log.count("succeeded") == 20, log


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_multiprocessing(program, start):
    folder, env = program("pool.py")
    pool = folder / "pool.py"
    text = pool.read_text("utf-8").replace("multiprocessing.Pool", f'multiprocessing.get_context("{start}").Pool')
    pool.write_text(text, "utf-8")
    run = subprocess.run(
        [sys.executable, "pool.py"], cwd=folder, env=env, timeout=PATIENCE, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert re.fullmatch(r"written by [1-4] processes\n", run.stdout)


def test_a_client_is_connected_in_each_child(program, set_name):
    folder, env = program("reconnect.py")
    module = folder / "reconnect.py"
    module.write_text(module.read_text("utf-8").replace('"hits"', f'"{set_name}"'), "utf-8")
    command = [sys.executable, "reconnect.py"]
    run = subprocess.run(command, cwd=folder, env=env, timeout=PATIENCE, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "{'count': 3}\n"), run.stderr


def test_connect_does_nothing_where_a_client_is_connected(program):
    folder, env = program()
    text = """
import os
from aerolane import Key, SyncClient

key, client = Key("test", "forks", 2), SyncClient(os.environ["AEROSPIKE_HOST"])

def session():
    client.connect()
    return client.create_session()

session().put(key, {"a": 1})
child = os.fork()
print(session().get(key).bins, flush=True)
if not child:
    client.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
client.close()
"""
    command = [sys.executable, "-c", text]
    run = subprocess.run(command, cwd=folder, env=env, timeout=PATIENCE, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "{'a': 1}\n" * 2), run.stderr


def test_a_connected_client_connects_again_in_the_child(program):
    folder, env = program()
    text = """
import os
from aerolane import Key, SyncClient
from aerolane.exceptions import AerospikeError

key = Key("test", "forks", 1)
with SyncClient(os.environ["AEROSPIKE_HOST"]) as client:
    session = client.create_session()
    session.put(key, {"a": 1})
    child = os.fork()
    if not child:
        try:
            session.get(key)
        except AerospikeError as error:
            print("refused:", type(error).__name__, "fork" in str(error), flush=True)
        client.connect()
        print(client.create_session().get(key).bins, flush=True)
        client.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print(session.get(key).bins)
"""
    run = subprocess.run(
        [sys.executable, "-c", text], cwd=folder, env=env, timeout=PATIENCE, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "refused: ClientError True\n{'a': 1}\n{'a': 1}\n"


RECONNECTS = """
import asyncio, os, sys
from aerolane import Client, Key, SyncClient

key, kind = Key("test", "forks", 3), sys.argv[1]
client = (SyncClient if kind == "sync" else Client)(os.environ["AEROSPIKE_HOST"], after_fork="reconnect")

def run(result):
    return result if kind == "sync" else asyncio.run(awaited(result))

async def awaited(result):
    return await result

def read():
    if kind == "sync":
        return client.create_session().get(key).bins
    async def main():
        return (await client.create_session().get(key)).bins
    return asyncio.run(main())

def in_child(work):
    child = os.fork()
    if not child:
        try:
            print(work(), flush=True)
        except RuntimeError as error:
            print("refused:", error, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

# Not before it has been connected: a forgotten connect() is told as without a fork.
in_child(read)
if kind == "sync":
    client.connect()
    client.create_session().put(key, {"a": 1})
else:
    client.connect_blocking()
    client.native.put_blocking(key, {"a": 1})
in_child(read)
in_child(lambda: (client.native.get_blocking(key).bins, in_child(read)))
print(client.native.get_blocking(key).bins, flush=True)
run(client.close())
in_child(read)
"""


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_client_that_reconnects_after_a_fork(program, kind):
    folder, env = program()
    command = [sys.executable, "-c", RECONNECTS, kind]
    run = subprocess.run(command, cwd=folder, env=env, timeout=PATIENCE, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    before, child, grandchild, in_between, parent, after = run.stdout.splitlines()
    assert before.startswith("refused: the client") and after.startswith("refused: the client")
    assert [child, grandchild, parent] == ["{'a': 1}"] * 3
    assert in_between == "({'a': 1}, None)"


def test_what_a_client_may_do_after_a_fork():
    with pytest.raises(ValueError, match='after_fork is "retry", it must be "error" or "reconnect"'):
        SyncClient("localhost", after_fork="retry")


def test_the_program_that_reconnects(program):
    folder, env = program("after_fork.py")
    command = [sys.executable, "after_fork.py"]
    run = subprocess.run(command, cwd=folder, env=env, timeout=PATIENCE, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "{'age': 31}\n" * 2), run.stderr
