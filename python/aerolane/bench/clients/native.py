"""The direct layer: `aerolane.native` and the vendor's `aerospike_native`, which have the same API."""

import importlib
from types import ModuleType
from typing import Any

from aerolane.bench.clients.calls import Calls, Unsupported
from aerolane.bench.spec import RunSpec


def _policy(module: ModuleType, spec: RunSpec) -> Any:
    policy = module.ClientPolicy()
    policy.use_services_alternate = spec.services_alternate
    security = spec.security
    if security.user:
        policy.set_auth_mode(getattr(module.AuthMode, security.auth_mode.upper()), security.user, security.password)
    elif security.auth_mode == "pki":
        policy.set_pki_auth()
    if security.tls_cert_file:
        policy.tls_config = module.TlsConfig.with_client_auth(
            security.tls_ca_file or None, security.tls_cert_file, security.tls_key_file
        )
    elif security.tls:
        policy.tls_config = module.TlsConfig(security.tls_ca_file or None)
    return policy


def _seeds(spec: RunSpec) -> str:
    if not spec.security.tls_name:
        return spec.seeds
    return ",".join(f"{host}:{spec.security.tls_name}:{port}" for host, port in spec.hosts())


def _calls(module: ModuleType, client: Any, suffix: str, prefix: str) -> Calls:
    replace = module.WritePolicy()
    replace.record_exists_action = module.RecordExistsAction.REPLACE
    names: dict[str, object] = {
        "make_key": module.Key.from_int_user_key,
        "first_bin": ["b0"],
        "replace_policy": replace,
        "Statement": module.Statement,
        "all_partitions": module.PartitionFilter.all,
        # A user makes an operation once, where it is always the same.
        "first_item": [module.ListOperation.get("b0", 0)],
    }
    # A thread-bound client has some of the calls only; the loop will say which one it misses.
    for name in ("get", "put", "add", "operate", "query", "batch_read", "batch_write"):
        if hasattr(client, name + suffix):
            names[name] = getattr(client, name + suffix)
    query = prefix + "query(Statement(namespace, set_name), all_partitions())" if "query" in names else None
    # The vendor's module has none.
    columns = hasattr(module.Recordset, "to_numpy")
    exceptions = importlib.import_module(module.__name__ + ".exceptions")
    return Calls(
        names=names,
        read=prefix + "get({key})",
        write=prefix + "put({key}, {bins})",
        read_first_bin=prefix + "get({key}, first_bin)",
        replace=prefix + "put({key}, {bins}, policy=replace_policy)",
        add=prefix + 'add({key}, {"b0": {amount}})' if "add" in names else None,
        read_many=prefix + "batch_read({keys})" if "batch_read" in names else None,
        write_many=prefix + "batch_write({keys}, {rows})" if "batch_write" in names else None,
        read_many_numpy=prefix + "batch_read({keys}, as_numpy=dtype)" if columns and "batch_read" in names else None,
        list_get=prefix + "operate({key}, first_item)" if "operate" in names else None,
        each=f"{'async ' if prefix else ''}for record in {query}" if query else None,
        query_numpy=f"{prefix}({query}).to_numpy{suffix}(dtype)" if columns and query else None,
        not_found=(getattr(exceptions, "RecordNotFound", None) or exceptions.RecordNotFoundError,),
    )


class NativeBlocking:
    """The calls named `..._blocking`, one client for all threads.

    With `current_thread_runtime` every thread has a client object of its own (`_LocalClient`).
    """

    def __init__(self, module: str) -> None:
        self._module = importlib.import_module(module)
        self._clients: list[Any] = []
        self._spec: RunSpec | None = None

    def connect(self, spec: RunSpec) -> None:
        """Opens the client, unless each thread is to have its own."""
        self._spec = spec
        if not spec.current_thread_runtime:
            self._clients.append(self._module.new_client_blocking(_policy(self._module, spec), _seeds(spec)))

    def calls(self) -> Calls:
        """The calls for the calling thread."""
        assert self._spec is not None
        if not self._spec.current_thread_runtime:
            return _calls(self._module, self._clients[0], "_blocking", "")
        policy = _policy(self._module, self._spec)
        policy.conn_pools_per_node = 1
        return _calls(self._module, self._module._LocalClient(policy, _seeds(self._spec)), "_blocking", "")

    def native(self) -> Any:
        """The client itself, the same for all threads."""
        return self._clients[0]

    def truncate(self, spec: RunSpec) -> None:
        """Empties the set."""
        if not self._clients:
            raise Unsupported("--truncate does not go with --current-thread-runtime in this mode")
        self._clients[0].truncate_blocking(spec.namespace, spec.set_name)

    def close(self) -> None:
        """Closes the client."""
        for client in self._clients:
            client.close_blocking()


class NativeAsync:
    """The awaitable calls, one client for each event loop."""

    def __init__(self, module: str) -> None:
        self._module = importlib.import_module(module)
        self._client: Any = None

    async def connect(self, spec: RunSpec) -> None:
        """Opens the client on the running loop."""
        self._client = await self._module.new_client(_policy(self._module, spec), _seeds(spec))

    def calls(self) -> Calls:
        """The calls for the running loop."""
        return _calls(self._module, self._client, "", "await ")

    def native(self) -> Any:
        """The client itself."""
        return self._client

    async def truncate(self, spec: RunSpec) -> None:
        """Empties the set."""
        await self._client.truncate(spec.namespace, spec.set_name)

    async def close(self) -> None:
        """Closes the client."""
        await self._client.close()
