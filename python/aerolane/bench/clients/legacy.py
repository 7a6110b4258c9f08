"""The vendor's older client on its C client (`aerospike`). Keys are tuples."""

import importlib
from typing import Any

from aerolane.bench.clients.apy import TUPLE_KEY
from aerolane.bench.clients.calls import Calls, Unsupported
from aerolane.bench.spec import RunSpec


class LegacySync:
    """The C client, one for all threads."""

    def __init__(self) -> None:
        self._module = importlib.import_module("aerospike")
        self._client: Any = None

    def connect(self, spec: RunSpec) -> None:
        """Connects."""
        if spec.current_thread_runtime:
            raise Unsupported("it has no thread-local runtimes")
        security = spec.security
        config: dict[str, Any] = {"hosts": [(*host, security.tls_name or None) for host in spec.hosts()]}
        config["use_services_alternate"] = spec.services_alternate
        if security.tls:
            files = {"cafile": security.tls_ca_file, "certfile": security.tls_cert_file}
            files["keyfile"] = security.tls_key_file
            config["tls"] = {"enable": True} | {name: path for name, path in files.items() if path}
        if security.user:
            config["policies"] = {"auth_mode": getattr(self._module, f"AUTH_{security.auth_mode.upper()}")}
        login = (security.user, security.password) if security.user else ()
        self._client = self._module.client(config).connect(*login)

    def calls(self) -> Calls:
        """The calls; the same for all threads."""
        client = self._client
        records = importlib.import_module("aerospike_helpers.batch.records")
        write = importlib.import_module("aerospike_helpers.operations.operations").write

        def batch_write(keys: list[Any], rows: list[dict[str, Any]]) -> Any:
            writes = [
                records.Write(key, [write(name, value) for name, value in bins.items()])
                for key, bins in zip(keys, rows, strict=True)
            ]
            return client.batch_write(records.BatchRecords(writes))

        calls = ("get", "put", "select", "increment", "operate", "query", "batch_read")
        names = {name: getattr(client, name) for name in calls}
        lists = importlib.import_module("aerospike_helpers.operations.list_operations")
        replace = {"exists": self._module.POLICY_EXISTS_CREATE_OR_REPLACE}
        return Calls(
            names=names
            | {"first_bin": ["b0"], "replace_policy": replace, "batch_write": batch_write}
            | {"first_item": [lists.list_get("b0", 0)]},
            key=TUPLE_KEY,
            read="get({key})",
            write="put({key}, {bins})",
            read_first_bin="select({key}, first_bin)",
            replace="put({key}, {bins}, None, replace_policy)",
            add='increment({key}, "b0", {amount})',
            read_many="batch_read({keys})",
            write_many="batch_write({keys}, {rows})",
            list_get="operate({key}, first_item)",
            each="for record in query(namespace, set_name).results()",
            touch="record[2]",
            touch_each="record[2]",
            touch_many="[row.record[2] for row in record.batch_records]",
            bins_of=lambda record: record[2],
            not_found=(importlib.import_module("aerospike.exception").RecordNotFound,),
        )

    def truncate(self, spec: RunSpec) -> None:
        """Empties the set."""
        self._client.truncate(spec.namespace, spec.set_name, 0)

    def close(self) -> None:
        """Closes the client."""
        self._client.close()
