"""Existing imports on Aerolane."""

import importlib
import subprocess
import sys
import textwrap
from types import ModuleType

import pytest

import aerolane
from aerolane import compat


@pytest.fixture(autouse=True)
def _clean():
    yield
    compat.uninstall()


def test_imports_give_aerolane():
    compat.install("aerospike_sdk", "aerospike_async", "aerospike_native")
    compat.install("aerospike_sdk")
    import aerospike_async
    import aerospike_native
    from aerospike_sdk import Key

    assert Key is aerolane.Key is aerospike_async.Key is aerospike_native.Key
    assert "Key" in dir(aerospike_async)
    namespace = {}
    exec("from aerospike_sdk import *", namespace)
    assert namespace["Key"] is aerolane.Key


@pytest.mark.parametrize(
    ("module", "name", "home"),
    [
        ("aerospike_sdk", "Client", "aerolane"),
        ("aerospike_sdk", "SyncClient", "aerolane"),
        ("aerospike_sdk", "AsyncPool", "aerolane"),
        ("aerospike_sdk", "Behavior", "aerolane"),
        ("aerospike_sdk", "ClusterDefinition", "aerolane"),
        ("aerospike_sdk", "DataSet", "aerolane"),
        ("aerospike_sdk", "RecordNotFoundError", "aerolane"),
        ("aerospike_sdk.aio.client", "Client", "aerolane"),
        ("aerospike_sdk.aio.background", "BackgroundTaskSession", "aerolane"),
        ("aerospike_sdk.aio.info", "InfoCommands", "aerolane"),
        ("aerospike_sdk.aio.operations.index", "IndexBuilder", "aerolane"),
        ("aerospike_sdk.aio.pool", "AsyncPool", "aerolane"),
        ("aerospike_sdk.aio.cluster_definition", "ClusterDefinition", "aerolane"),
        ("aerospike_sdk.policy", "Behavior", "aerolane.policy"),
        ("aerospike_sdk.exceptions", "RecordNotFoundError", "aerolane.exceptions"),
        ("aerospike_sdk.info_types", "NamespaceDetail", "aerolane.info_types"),
        ("aerospike_sdk.loggers", "refresh_log_levels", "aerolane.loggers"),
        ("aerospike_sdk.loggers", "SdkLoggers", "aerolane.loggers"),
        ("aerospike_sdk.metrics", "MetricsSnapshot", "aerolane.metrics"),
        ("aerospike_sdk.metrics", "LatencyType", "aerolane.metrics"),
        ("aerospike_sdk.metrics.export", "MetricsWriter", "aerolane.metrics"),
        ("aerospike_sdk.sync", "ClusterDefinition", "aerolane.sync"),
        ("aerospike_sdk.sync.background", "BackgroundOperationBuilder", "aerolane.sync"),
        ("aerospike_sdk.sync.client", "SyncClient", "aerolane"),
        ("aerospike_sdk.sync.info", "InfoCommands", "aerolane.sync"),
        ("aerospike_sdk.sync.operations.index", "IndexBuilder", "aerolane.sync"),
        ("aerospike_async", "Key", "aerolane"),
        ("aerospike_async", "new_client", "aerolane.native"),
        ("aerospike_native", "ClientPolicy", "aerolane.native"),
        ("aerospike_native", "WritePolicy", "aerolane.native"),
        ("aerospike_native", "refresh_log_levels", "aerolane.native"),
    ],
)
def test_every_name_has_its_home(module, name, home):
    compat.install("aerospike_sdk", "aerospike_async", "aerospike_native")
    assert getattr(importlib.import_module(module), name) is getattr(importlib.import_module(home), name)


def test_what_is_lacking_is_named():
    compat.install("aerospike_sdk")
    import aerospike_sdk

    with pytest.raises(AttributeError, match=r"no counterpart to aerospike_sdk\.FluxCapacitor"):
        _ = aerospike_sdk.FluxCapacitor
    with pytest.raises(ImportError, match="FluxCapacitor"):
        from aerospike_sdk import FluxCapacitor  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"no counterpart to the module aerospike_sdk\.flux"):
        importlib.import_module("aerospike_sdk.flux")
    with pytest.raises(ValueError, match="no stand-in for 'asyncpg'"):
        compat.install("asyncpg")


def test_only_what_was_asked_for_is_replaced():
    compat.install("aerospike_async")
    finder = sys.meta_path[0]
    assert finder.find_spec("aerospike_sdk", None) is None
    assert finder.find_spec("aerospike", None) is None
    assert finder.find_spec("json", None) is None


def test_the_real_package_is_not_replaced_once_it_is_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "aerospike_async", ModuleType("aerospike_async"))
    with pytest.raises(RuntimeError, match="imported already"):
        compat.install("aerospike_async")
    assert not [finder for finder in sys.meta_path if type(finder).__module__ == "aerolane.compat"]


def test_uninstalling_takes_everything_back():
    compat.install("aerospike_sdk")
    importlib.import_module("aerospike_sdk")
    assert "aerospike_sdk" in sys.modules
    compat.uninstall("aerospike_sdk")
    assert "aerospike_sdk" not in sys.modules
    assert not [finder for finder in sys.meta_path if type(finder).__module__ == "aerolane.compat"]


def test_a_program_of_the_alpha_runs_unchanged(seeds, set_name):
    """The examples of the peers' guide, but for the two lines in front."""
    program = textwrap.dedent(
        """
        import aerolane.compat
        aerolane.compat.install("aerospike_sdk", "aerospike_async")

        import asyncio
        from aerospike_sdk import AsyncPool, Behavior, Client, SyncClient
        from aerospike_sdk.aio.client import Client as PoolClient
        from aerospike_async import Key

        SEEDS, SET = __import__("sys").argv[1:]

        with SyncClient(SEEDS) as client:
            session = client.create_session(Behavior.DEFAULT)
            k = Key("test", SET, "alice")
            session.put(k, {"name": "Alice", "age": 28})
            record = session.get(k)
            print(record.bins)

        async def main():
            async with Client(SEEDS) as client:
                session = client.create_session(Behavior.DEFAULT)
                await session.put(k, {"name": "Alice", "age": 29})
                record = await session.get(k)
                print(record.bins)

            def factory():
                return PoolClient(SEEDS)

            async def per_loop(client, loop_idx):
                session = client.create_session(Behavior.DEFAULT)
                record = await session.get(k)
                return record.bins["age"] + loop_idx

            async with AsyncPool(factory, loop_count=4) as pool:
                print(await pool.map(per_loop, range(4)))

        asyncio.run(main())
        """
    )
    run = subprocess.run([sys.executable, "-c", program, seeds, set_name], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "{'name': 'Alice', 'age': 28}",
        "{'name': 'Alice', 'age': 29}",
        "[29, 30, 31, 32]",
    ]
