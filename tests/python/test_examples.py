"""What the SDK's performance guide shows, and the examples of our own pages, run as programs of their own.

Each of the guide's runs twice: as it stands in the guide, with Aerolane in place of the packages that it imports, and
with `aerolane` in its imports. Nothing else of it is changed but the address of the cluster. Lines after `# --` are
ours: work for the example to do (where the guide leaves that to the reader), and what shows that it was done.
"""

import ast
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest
from conftest import UDFS, udf_module

import aerolane

ROOT = pathlib.Path(__file__).parents[2]

# Top-level `await` is allowed, as in `python -m asyncio`: that is how the guide writes it.
RUNNER = """
import ast, asyncio, inspect, sys
had_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
code = compile(sys.stdin.read(), "<example>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
space = {"__name__": "__main__"}
if code.co_flags & inspect.CO_COROUTINE:
    asyncio.run(eval(code, space))
else:
    exec(code, space)
assert getattr(sys, "_is_gil_enabled", lambda: True)() == had_gil, "the GIL was switched on"
"""

COMPAT = """\
import aerolane.compat
aerolane.compat.install("aerospike_sdk", "aerospike_async", "aerospike_native")
"""

SYNC = """\
from aerospike_sdk import Behavior, SyncClient
from aerospike_async import Key

with SyncClient("localhost:3000") as client:
    session = client.create_session(Behavior.DEFAULT)
    k = Key("test", "users", "alice")
    session.put(k, {"name": "Alice", "age": 28})
    record = session.get(k)
    print(record.bins)
"""

ASYNC = """\
import asyncio
from aerospike_sdk import Behavior, Client
from aerospike_async import Key

async def main():
    async with Client("localhost:3000") as client:
        session = client.create_session(Behavior.DEFAULT)
        k = Key("test", "users", "alice")
        await session.put(k, {"name": "Alice", "age": 28})
        record = await session.get(k)
        print(record.bins)

asyncio.run(main())
"""

POOL = """\
from aerospike_sdk import AsyncPool, Behavior
from aerospike_sdk.aio.client import Client

def factory():
    return Client("localhost:3000")

async def per_loop(client, loop_idx):
    session = client.create_session(Behavior.DEFAULT)
    # -- do work, e.g. asyncio.gather of session.get/put calls
    import asyncio, threading
    from aerospike_async import Key
    keys = [Key("test", "users", f"loop {loop_idx}, {n}") for n in range(50)]
    await asyncio.gather(*(session.put(k, {"loop": loop_idx, "n": n}) for n, k in enumerate(keys)))
    records = await asyncio.gather(*(session.get(k) for k in keys))
    assert [r.bins for r in records] == [{"loop": loop_idx, "n": n} for n in range(50)]
    seen.append((loop_idx, threading.get_ident(), id(client)))

# --
seen = []
async with AsyncPool(factory, loop_count=4) as pool:
    await pool.map(per_loop, range(4))
# --
assert sorted(loop for loop, _, _ in seen) == [0, 1, 2, 3], seen
assert len({thread for _, thread, _ in seen}) == len({client for _, _, client in seen}) == 4, seen
print("done")
"""

# `per_client_runtime` is the guide's too; the alpha's callbacks of `run` take the client alone.
POOL_RUN = """\
import asyncio
from aerospike_sdk import AsyncPool, Behavior
from aerospike_sdk.aio.client import Client
from aerospike_async import Key

def factory():
    return Client("localhost:3000")

async def read(client):
    session = client.create_session(Behavior.DEFAULT)
    k = Key("test", "users", "alice")
    await session.put(k, {"name": "Alice", "age": 28})
    record = await session.get(k, bins=["name"])
    return record.bins

async def main():
    async with AsyncPool(factory, loop_count=2, per_client_runtime=True) as pool:
        print(await pool.run(read))

asyncio.run(main())
"""

# The form of the SDK's 1.0: a definition, and callbacks that take its cluster.
POOL_OF_DEFINITION = """\
import asyncio
from aerospike_sdk import AsyncPool, Behavior, ClusterDefinition, DataSet

users = DataSet.of("test", "users")

async def per_loop(cluster, loop_idx):
    session = cluster.create_session(Behavior.DEFAULT)
    k = users.id(loop_idx)
    await session.put(k, {"n": loop_idx})
    return (await session.get(k)).bins["n"]

async def main():
    async with AsyncPool(ClusterDefinition("localhost", 3000), loop_count=4) as pool:
        print(await pool.map(per_loop, range(4)))

asyncio.run(main())
"""

DEFINITION_SYNC = """\
from aerospike_sdk import Behavior, DataSet
from aerospike_sdk.sync import ClusterDefinition

users = DataSet.of("test", "users")
with ClusterDefinition("localhost", 3000).connect() as cluster:
    session = cluster.create_session(Behavior.DEFAULT)
    session.put(users.id("alice"), {"name": "Alice", "age": 28})
    print(session.get(users.id("alice")).bins)
"""

DEFINITION_ASYNC = """\
import asyncio
from aerospike_sdk import Behavior, ClusterDefinition, DataSet

async def main():
    users = DataSet.of("test", "users")
    async with ClusterDefinition("localhost", 3000).connect() as cluster:
        session = cluster.create_session(Behavior.DEFAULT)
        await session.put(users.id("alice"), {"name": "Alice", "age": 28})
        print((await session.get(users.id("alice"))).bins)
    cluster = await ClusterDefinition("localhost", 3000).connect()
    assert cluster.is_connected
    await cluster.close()

asyncio.run(main())
"""

CURRENT_THREAD_RUNTIME = """\
from aerospike_sdk import Behavior, SyncClient

# Auto-default `conn_pools_per_node = 1` applies because we didn't pass a policy.
with SyncClient("localhost:3000", current_thread_runtime=True) as client:
    session = client.create_session(Behavior.DEFAULT)
    # -- worker threads each call session.get / session.put as normal
    from concurrent.futures import ThreadPoolExecutor
    from aerospike_async import Key

    def worker(n):
        for turn in range(20):
            k = Key("test", "users", f"thread {n}, turn {turn}")
            session.put(k, {"n": n, "turn": turn})
            assert session.get(k).bins == {"n": n, "turn": turn}
        return n

    with ThreadPoolExecutor(8) as pool:
        print(list(pool.map(worker, range(8))))
"""

ERRORS = """\
import asyncio
from aerospike_sdk import Behavior, Client, SyncClient
from aerospike_sdk.exceptions import AerospikeError, RecordNotFoundError
from aerospike_async import Key

missing = Key("test", "users", "nobody at all")
with SyncClient("localhost:3000") as client:
    try:
        client.create_session(Behavior.DEFAULT).get(missing)
    except RecordNotFoundError as error:
        print(isinstance(error, AerospikeError), int(error.result_code))

async def main():
    async with Client("localhost:3000") as client:
        session = client.create_session(Behavior.DEFAULT)
        try:
            await session.get(missing)
        except RecordNotFoundError as error:
            print(isinstance(error, AerospikeError), int(error.result_code))

asyncio.run(main())
"""

# A filter whose parameters stand in its text as `printf` has them, and a write with a handler of errors.
BUILDERS = """\
import asyncio
from aerospike_sdk import Behavior, Client, DataSet, ErrorStrategy

async def main():
    people = DataSet.of("test", "builders")
    async with Client("localhost:3000") as client:
        session = client.create_session(Behavior.DEFAULT)
        # --
        for n, (age, country) in enumerate([(25, "US"), (26, "US"), (40, "UK"), (60, "US")]):
            await session.upsert(people.id(n)).put({"age": age, "country": country}).execute()

        found = await (
            session.query(people)
            .where("$.age > %s and $.country == '%s'", 25, "US")
            .execute()
        )
        ages = []
        async for result in found:
            if result.is_ok:
                ages.append(result.record.bins["age"])
        print(sorted(ages))

        stream = await (
            session.upsert(people.id(1))
            .put({"name": "Bob"})
            .expire_record_after_seconds(600)
            .execute(on_error=ErrorStrategy.IN_STREAM)
        )
        print([result.is_ok for result in await stream.collect()])
        # --
        record = await session.get(people.id(1))
        print(record.bins["name"], 500 < record.ttl <= 600)

asyncio.run(main())
"""

# The same in the form of 1.0, without asyncio.
BUILDERS_OF_DEFINITION = """\
from aerospike_sdk import Behavior, DataSet, ErrorStrategy
from aerospike_sdk.sync import ClusterDefinition

people = DataSet.of("test", "builders_sync")
with ClusterDefinition("localhost", 3000).connect() as cluster:
    session = cluster.create_session(Behavior.DEFAULT)
    session.upsert(people).bins("age", "country").rows([(1, 25, "US"), (2, 31, "US"), (3, 40, "UK")]).execute()
    found = session.query(people).where("$.age > %s and $.country == '%s'", 25, "US").execute()
    print([result.record_or_raise().bins["age"] for result in found])
    chain = session.update(people.id(1)).bin("age").add(1).query(people.ids(1, 9)).bins("age").include_missing_keys()
    print([result.is_ok for result in chain.execute(on_error=ErrorStrategy.IN_STREAM)])
    with cluster.create_session().query(people.ids(1, 2)).stream() as stream:
        print(sorted(result.record.bins["age"] for result in stream))
"""

ALICE = "{'name': 'Alice', 'age': 28}\n"
EXAMPLES = {
    "sync": (SYNC, ALICE),
    "async": (ASYNC, ALICE),
    "pool of a factory": (POOL, "done\n"),
    "pool, one call": (POOL_RUN, "{'name': 'Alice'}\n"),
    "pool of a definition": (POOL_OF_DEFINITION, "[0, 1, 2, 3]\n"),
    "definition, sync": (DEFINITION_SYNC, ALICE),
    "definition, async": (DEFINITION_ASYNC, ALICE),
    "builders": (BUILDERS, "[26, 60]\n[True]\nBob True\n"),
    "builders of a definition": (BUILDERS_OF_DEFINITION, "[31]\n[True, True, False]\n[26, 31]\n"),
    "current_thread_runtime": (CURRENT_THREAD_RUNTIME, "[0, 1, 2, 3, 4, 5, 6, 7]\n"),
    "errors": (ERRORS, "True 2\nTrue 2\n"),
}


def with_our_imports(program):
    """The program with `aerolane` in its import lines, and those alone."""

    def ours(line):
        return re.sub(r"\baerospike_(sdk|async)\b", "aerolane", line[0])

    return re.sub(r"^ *(from|import) .*$", ours, program, flags=re.MULTILINE)


def output_of(program, seeds):
    """What a program prints, with the address of the cluster put in."""
    host, _, port = seeds.partition(",")[0].rpartition(":")
    program = program.replace('"localhost:3000"', f'"{seeds}"').replace('"localhost", 3000', f'"{host}", {port}')
    # Nothing may be left open, and nothing deprecated be used.
    command = [sys.executable, "-Werror", "-c", RUNNER]
    run = subprocess.run(command, input=program, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, f"{run.stderr}\n{textwrap.indent(program, '    ')}"
    assert run.stderr == ""
    return run.stdout


@pytest.mark.parametrize("imports", ["theirs", "ours"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_guide(seeds, name, imports):
    program, expected = EXAMPLES[name]
    program = COMPAT + program if imports == "theirs" else with_our_imports(program)
    assert output_of(program, seeds) == expected


def examples_of(page):
    """The programs in Python on one of our pages."""
    text = (ROOT / page).read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert programs
    return [pytest.param(program, id=f"{page} {number}") for number, program in enumerate(programs)]


# Without one of these, the programs that import it are skipped.
LIBRARIES = "fastapi|opentelemetry|pandas|polars|prometheus_client|pyarrow|trio"


def pages():
    """All our pages that have programs in Python on them."""
    every = [
        *ROOT.glob("*.md"),
        ROOT / "python/README.md",
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("crates/**/*.md"),
        *ROOT.glob("tests/**/*.md"),
    ]
    # Programs with a title are files of something larger: test_forks.py and test_python_examples.py run those.
    return sorted(str(page.relative_to(ROOT)) for page in every if "```python\n" in page.read_text(encoding="utf-8"))


def test_the_pages_are_found():
    assert {"README.md", "docs/python/index.md", "docs/python/builders.md"} <= set(pages())


@pytest.mark.parametrize("program", [program for page in pages() for program in examples_of(page)])
def test_an_example_of_our_own_pages(seeds, program):
    for library in re.findall(rf"(?:^(?:import|from) |\.to_)({LIBRARIES})\b", program, flags=re.MULTILINE):
        pytest.importorskip(library)
    printed = output_of(program, seeds)
    assert bool(printed) == ("print(" in program)


# What the program on the page about FastAPI does while the cluster fails.
FAILING = """
from aerolane.testing import EmbeddedCluster
from fastapi.testclient import TestClient

def asked(http, method, fault):
    with cluster.inject(*fault):
        answer = getattr(http, method)("/users/ann", **({"json": {"age": 1}} if method == "put" else {}))
        return answer.status_code, answer.headers.get("Retry-After"), answer.json()

with TestClient(app) as http:
    http.put("/users/ann", json={"age": 31})
    print(asked(http, "get", ("stall",)))
    print(asked(http, "put", ("result", 18)))
    print(asked(http, "put", ("result", 4)))
"""


def test_the_service_answers_while_its_cluster_fails():
    """What its page promises of deadlines and of failures."""
    pytest.importorskip("fastapi")
    (page,) = examples_of("docs/python/fastapi.md")
    service = page.values[0].partition('if __name__ == "__main__":')[0]
    begin = "from aerolane.testing import EmbeddedCluster\ncluster = EmbeddedCluster(1)\n"
    program = begin + service.replace('"localhost:3000"', "cluster.seeds") + FAILING + "cluster.close()\n"
    late, overloaded, refused = map(ast.literal_eval, output_of(program, "").splitlines())
    assert late == (503, "1", {"detail": "try again later"})
    failed = {"detail": "the database failed", "in_doubt": False}
    assert overloaded == (502, None, failed) and refused == (502, None, failed)


# Pages with a table of another client's calls, and how the head of that table begins.
TABLES = {"docs/python/from-aerospike.md": "| C client |", "docs/python/from-aerospike-py.md": "| aerospike-py |"}


def counterparts():
    """Calls of a session that the pages for users of other clients name."""
    pages = [(ROOT / page).read_text(encoding="utf-8").partition(head)[2] for page, head in TABLES.items()]
    tables = [page.partition("\n\n")[0] for page in pages]
    return sorted({call for table in tables for call in re.findall(r"`(session\.[^`]+)`", table)})


def test_the_counterparts_are_found():
    assert len(counterparts()) >= 24


@pytest.mark.parametrize("call", counterparts())
def test_a_counterpart_of_a_call_of_another_client(seeds, client, set_name, call):
    with aerolane.SyncClient(seeds) as opened, udf_module(client, UDFS, f"{set_name}_module") as module:
        session, users = opened.create_session(), aerolane.DataSet.of("test", set_name)
        key, keys, bins = users.id("ann"), users.ids("ann", "bob"), {"age": 31, "city": "Oslo"}
        if "insert" not in call:
            # The table expects generation 3.
            [session.put(each, bins) for each in keys for _ in range(3)]
        names = {"session": session, "users": users, "key": key, "keys": keys, "bins": bins}
        names |= {"module": module, "function": "add", "args": ["age", 1], "array": {"id": [1], "age": [31]}}
        given = eval(call, names)
        if hasattr(given, "raise_for_failures"):
            given.raise_for_failures()
        if hasattr(given, "wait_till_complete_blocking"):
            given.wait_till_complete_blocking()
            session.drop_index(users, "ages").wait_till_complete_blocking()


def test_imports_alone_are_rewritten():
    ours = with_our_imports(POOL)
    assert "aerospike_" not in ours
    changed = [(a, b) for a, b in zip(POOL.splitlines(), ours.splitlines(), strict=True) if a != b]
    assert all(a.lstrip().startswith("from aerospike_") for a, _ in changed) and len(changed) == 3
