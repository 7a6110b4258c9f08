"""The session API: `aerolane` and the vendor's `aerospike_sdk`, which have the same API."""

import importlib
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any

from aerolane.bench.clients.calls import Calls, Unsupported
from aerolane.bench.spec import RunSpec


def _definition(module: ModuleType, spec: RunSpec) -> Any:
    security = spec.security
    hosts = [module.Host(host, port, security.tls_name or None) for host, port in spec.hosts()]
    definition = module.ClusterDefinition(hosts=hosts).using_services_alternate(spec.services_alternate)
    if security.user:
        login = getattr(definition, _LOGINS[security.auth_mode])
        definition = login(security.user, security.password)
    elif security.auth_mode == "pki":
        definition = definition.with_certificate_credentials()
    if security.tls:
        definition = definition.with_tls_config(
            tls_name=security.tls_name or None,
            ca_file=security.tls_ca_file or None,
            client_cert_file=security.tls_cert_file or None,
            client_key_file=security.tls_key_file or None,
        )
    return definition


_LOGINS = {
    "internal": "with_native_credentials",
    "external": "with_external_credentials",
    "external_insecure": "with_external_insecure_credentials",
}


def _calls(package: str, session: Any, fast_path: bool, prefix: str) -> Calls:
    root = importlib.import_module(package)
    names: dict[str, object] = {
        "make_key": root.Key.from_int_user_key,
        "get": session.get,
        "put": session.put,
        "first_bin": ["b0"],
        "query": session.query,
        "upsert": session.upsert,
        "replace": session.replace,
        "DataSet": root.DataSet,
        # One chained builder for the whole batch; the list of its parts is what a user would loop over.
        "chain": _chain,
    }

    def stream(builder: str) -> str:
        return f"{prefix}{builder}.execute()"

    def collected(builder: str) -> str:
        return f"{prefix}({stream(builder)}).collect()"

    calls = Calls(
        names=names,
        read=prefix + "get({key})",
        write=prefix + "put({key}, {bins})",
        read_first_bin=prefix + "get({key}, first_bin)",
        not_found=(root.RecordNotFoundError,),
    )
    calls.replace = stream("replace({key}).put({bins})")
    calls.add = stream('upsert({key}).add("b0", {amount})')
    first_item = stream('query({key}).bin("b0").list_get(0)')
    calls.list_get = f"{prefix}({first_item}).first_or_raise()"
    calls.each = f"{'async ' if prefix else ''}for record in {stream('query(DataSet.of(namespace, set_name))')}"
    calls.touch_each = "record.record.bins"
    calls.read_many = collected("query({keys})")
    calls.write_many = collected("chain(upsert, {keys}, {rows})")
    if not fast_path:
        calls.read = f"{prefix}({stream('query({key})')}).first_or_raise()"
        calls.write = stream("upsert({key}).put({bins})")
        calls.read_first_bin = f"{prefix}({stream('query({key}).bins(first_bin)')}).first_or_raise()"
        calls.touch = "record.record.bins"
        calls.bins_of = lambda result: result.record.bins
    return calls


def _chain(upsert: Callable[..., Any], keys: list[Any], rows: list[Any]) -> Any:
    builder = upsert(keys[0]).put(rows[0])
    for key, bins in zip(keys[1:], rows[1:], strict=True):
        builder = builder.upsert(key).put(bins)
    return builder


class SessionSync:
    """Sessions of the blocking API, one for all threads."""

    def __init__(self, package: str, thread_client: str) -> None:
        self._package = package
        self._thread_client = thread_client
        self._cluster: Any = None
        self._session: Any = None
        self._fast_path = True

    def connect(self, spec: RunSpec) -> None:
        """Connects and opens the session."""
        self._fast_path = spec.fast_path
        if spec.current_thread_runtime:
            if spec.security.tls or spec.security.user or spec.services_alternate:
                raise Unsupported("--current-thread-runtime goes without login, TLS and --services-alternate here")
            module = importlib.import_module(self._thread_client)
            self._cluster = module.SyncClient(spec.seeds, current_thread_runtime=True)
            connect = getattr(self._cluster, "connect", None)
            if connect is not None:
                connect()
        else:
            self._cluster = _definition(importlib.import_module(self._package + ".sync"), spec).connect()
        self._session = self._cluster.create_session(importlib.import_module(self._package).Behavior.DEFAULT)

    def calls(self) -> Calls:
        """The calls; the same for all threads."""
        return _calls(self._package, self._session, self._fast_path, "")

    def truncate(self, spec: RunSpec) -> None:
        """Empties the set."""
        self._session.truncate(_data_set(self._package, spec))

    def close(self) -> None:
        """Closes the cluster."""
        self._cluster.close()


class SessionAsync:
    """Sessions of the asyncio API; with `pool_loops`, one cluster and session for each loop of an `AsyncPool`."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._module = importlib.import_module(package)
        self._cluster: Any = None
        self._session: Any = None
        self._fast_path = True

    async def connect(self, spec: RunSpec) -> None:
        """Connects and opens the session."""
        self._adopt(await _definition(self._module, spec).connect(), spec)

    def _adopt(self, cluster: Any, spec: RunSpec) -> None:
        self._fast_path = spec.fast_path
        self._cluster = cluster
        self._session = cluster.create_session(self._module.Behavior.DEFAULT)

    def calls(self) -> Calls:
        """The calls for the running loop."""
        return _calls(self._package, self._session, self._fast_path, "await ")

    async def run_pool(
        self, spec: RunSpec, uvloop: bool, on_loop: Callable[["SessionAsync", int], Awaitable[None]]
    ) -> None:
        """Runs `on_loop(client, index)` on each loop of an `AsyncPool`."""

        async def adopt(cluster: Any, index: int) -> None:
            client = SessionAsync(self._package)
            client._adopt(cluster, spec)
            await on_loop(client, index)

        pool = self._module.AsyncPool(_definition(self._module, spec), spec.pool_loops, use_uvloop=uvloop)
        async with pool:
            await pool.map(adopt, range(spec.pool_loops))

    async def truncate(self, spec: RunSpec) -> None:
        """Empties the set."""
        await self._session.truncate(_data_set(self._package, spec))

    async def close(self) -> None:
        """Closes the cluster."""
        await self._cluster.close()


def _data_set(package: str, spec: RunSpec) -> Any:
    return importlib.import_module(package).DataSet.of(spec.namespace, spec.set_name)
