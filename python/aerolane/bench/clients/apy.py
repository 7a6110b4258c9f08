"""aerospike-py (`aerospike_py`). Keys are tuples; batches give lazy answers."""

import importlib
from typing import Any

from aerolane.bench.clients.calls import Calls, Unsupported
from aerolane.bench.spec import RunSpec

TUPLE_KEY = "(namespace, set_name, str(kid))"


def _config(spec: RunSpec) -> dict[str, object]:
    if spec.security.tls:
        raise Unsupported("it has no TLS")
    if spec.current_thread_runtime:
        raise Unsupported("it has no thread-local runtimes")
    config: dict[str, object] = {"hosts": spec.hosts()}
    if spec.services_alternate:
        config["use_services_alternate"] = True
    return config


def _login(spec: RunSpec) -> tuple[str, ...]:
    return (spec.security.user, spec.security.password) if spec.security.user else ()


def _calls(client: Any, prefix: str) -> Calls:
    module = importlib.import_module("aerospike_py")
    return Calls(
        names={
            name: getattr(client, name)
            for name in ("get", "put", "select", "operate", "query", "batch_read", "batch_write")
        }
        | {
            "first_bin": ["b0"],
            "first_item": [importlib.import_module("aerospike_py.list_operations").list_get("b0", 0)],
            "increment": client.increment,
            "replace_policy": {"exists": module.POLICY_EXISTS_REPLACE},
        },
        key=TUPLE_KEY,
        read=prefix + "get({key})",
        write=prefix + "put({key}, {bins})",
        read_first_bin=prefix + "select({key}, first_bin)",
        replace=prefix + "put({key}, {bins}, None, replace_policy)",
        add=prefix + 'increment({key}, "b0", {amount})',
        read_many=prefix + "batch_read({keys})",
        write_many=prefix + "batch_write(list(zip({keys}, {rows})))",
        read_many_numpy=f"({prefix}batch_read({{keys}})).to_numpy(dtype)",
        list_get=prefix + "operate({key}, first_item)",
        each=f"for record in {prefix}query(namespace, set_name).results()",
        touch_many="record.to_list()",
        not_found=(module.RecordNotFound,),
    )


class ApySync:
    """Its blocking client, one for all threads."""

    def __init__(self) -> None:
        self._module = importlib.import_module("aerospike_py")
        self._client: Any = None

    def connect(self, spec: RunSpec) -> None:
        """Connects."""
        self._client = self._module.client(_config(spec)).connect(*_login(spec))

    def calls(self) -> Calls:
        """The calls; the same for all threads."""
        return _calls(self._client, "")

    def truncate(self, spec: RunSpec) -> None:
        """Empties the set."""
        self._client.truncate(spec.namespace, spec.set_name)

    def close(self) -> None:
        """Closes the client."""
        self._client.close()


class ApyAsync:
    """Its asyncio client."""

    def __init__(self) -> None:
        self._module = importlib.import_module("aerospike_py")
        self._client: Any = None

    async def connect(self, spec: RunSpec) -> None:
        """Connects."""
        self._client = self._module.AsyncClient(_config(spec))
        await self._client.connect(*_login(spec))

    def calls(self) -> Calls:
        """The calls for the running loop."""
        return _calls(self._client, "await ")

    async def truncate(self, spec: RunSpec) -> None:
        """Empties the set."""
        await self._client.truncate(spec.namespace, spec.set_name)

    async def close(self) -> None:
        """Closes the client."""
        await self._client.close()
