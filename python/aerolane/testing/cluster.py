"""Embedded clusters, each in a process of its own."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, final

from aerolane.testing import arguments
from aerolane.testing.arguments import Conditions, ConflictResolution, ServiceTime, Time
from aerolane.testing.changes import Changes
from aerolane.testing.control import Control
from aerolane.testing.fault import Fault
from aerolane.testing.node import EmbeddedNode, id_of
from aerolane.testing.schedule import Schedule, Step


@final
class EmbeddedCluster(Changes[None, Fault]):
    """`EmbeddedCluster(nodes=3, replication_factor=2, namespace="test", ...)`: an Aerospike-compatible cluster in
    memory, on loopback ports. For tests and for trying things out, never for production.

    It runs as soon as it is made, in a process of its own, until `close()`, the end of its `with` block, its garbage
    collection, or the end of this process, however that comes about. All methods may be called from any thread; none
    waits for clients. A forked child cannot use its parent's cluster.

    * `nodes`: 1 to 128. Default 3.
    * `replication_factor`: how many nodes hold each partition. Default 2.
    * `namespace`: a name, or several. Default `"test"`.
    * `strong_consistency`: whether the namespaces are in strong-consistency mode: then transactions work, and deletes
      have to be durable. Default False.
    * `default_ttl`: seconds until records written with the default TTL expire. Default 0: never.
    * `nsup_period`: seconds between two sweeps that remove expired records. Default 1; with 0 only `sweep` does.
      Expired records are not shown, whether they were removed or not.
    * `host`, `port`: where the first node listens, the next ones on the ports above. Default 127.0.0.1 and 0: free
      ports.
    * `cluster_name`: default none.
    * `build`: the build that nodes say they are, for what clients make of it. Default "8.1.2.0". What nodes can do
      stays the same, but for two things that they know from 8.2 on: the index type `integer`, and conditions of queries
      as text with the question which index serves them.
    * `users`: passwords by user name. Given any, clients have to log in. Default none.
    * `racks`: the racks of the nodes, in turn; copies of a partition are on different ones. Default: no racks.
    * `tls_name`, `tls_port`: with a name, nodes listen with TLS, too, with a certificate for it that is made on the
      spot.
    * `tls_client_ca`: certificates (PEM text); on the TLS ports, clients have to show one that one of these has signed.
      With `users`, a client can log in with it (`AuthMode.PKI`): its Common Name is the user.
      Default none: clients need no certificate.
    * `threads`: threads that serve all nodes. Default: as many as cores, at most 4.
    * `service_time`, `in_service`, `latency`: how long requests take, as `set_conditions`. Default: no time.
    * `seed`: of everything random, which are those times and what faults with a probability strike. The same seed gives
      the same run again for the same requests in the same order. Default: what the environment variable `AEROLANE_SEED`
      says, and 0 without it.
    * `replication_lag`: how late writes reach their replicas, as `set_replication_lag`. Default: not at all.
    * `migration_rate`: how many records a second move when nodes come or go, as `set_migration_rate`. Default: all at
      once.
    * `keep_records`: whether nodes that stop have their records when they come back, as with storage on a device.
      Default False.
    * `conflict_resolution`: which version of a record is kept of two that nodes have of it then, that of the higher
      `"generation"` (default) or of the later `"last-update-time"`.
    * `roster`: whether partitions become unavailable where a cluster in strong-consistency mode would not answer for
      them, with the nodes that it starts with for a roster. It takes `strong_consistency`. Default False.
    * `data_limit`: bytes of records from which on a node takes no writes for a namespace: result 8. Default 0: none.
    * `connection_limit`: connections that a node has at a time; one more is closed. Default 0: no limit.

    Raises `ValueError` for a setting out of range, `OSError` for a port in use, and `FileNotFoundError` where the
    program is not installed (`pip install 'aerolane[testing]'`).
    """

    def __init__(
        self,
        nodes: int = 3,
        replication_factor: int = 2,
        namespace: str | Sequence[str] = "test",
        *,
        default_ttl: int = 0,
        nsup_period: int = 1,
        host: str = "127.0.0.1",
        port: int = 0,
        cluster_name: str | None = None,
        users: Mapping[str, str] | None = None,
        tls_name: str | None = None,
        tls_port: int = 0,
        threads: int | None = None,
        strong_consistency: bool = False,
        tls_client_ca: str | None = None,
        service_time: ServiceTime | None = None,
        in_service: int = 64,
        latency: Time | None = None,
        seed: int | None = None,
        build: str | None = None,
        racks: Sequence[int] = (),
        replication_lag: Time | None = None,
        migration_rate: int | None = None,
        keep_records: bool = False,
        conflict_resolution: ConflictResolution = "generation",
        roster: bool = False,
        data_limit: int = 0,
        connection_limit: int = 0,
    ) -> None:
        settings: dict[str, object] = {
            "nodes": arguments.whole("nodes", nodes),
            "replication_factor": arguments.whole("replication_factor", replication_factor),
            "namespaces": arguments.one_or_several("namespace", "name", namespace),
            "strong_consistency": bool(strong_consistency),
            "default_ttl": arguments.whole("default_ttl", default_ttl),
            "nsup_period": arguments.whole("nsup_period", nsup_period),
            "host": host,
            "port": arguments.whole("port", port),
            "cluster_name": cluster_name,
            "build": build,
            "users": dict(users or {}),
            "racks": [arguments.whole("racks", rack) for rack in racks],
            "tls_name": tls_name,
            "tls_port": arguments.whole("tls_port", tls_port),
            "tls_client_ca": tls_client_ca,
            "threads": None if threads is None else arguments.whole("threads", threads),
            "replication_lag": None if replication_lag is None else arguments.time("replication_lag", replication_lag),
            "migration_rate": arguments.whole_or_none("migration_rate", migration_rate),
            "keep_records": bool(keep_records),
            "conflict_resolution": conflict_resolution,
            "roster": bool(roster),
            "data_limit": arguments.whole("data_limit", data_limit),
            "connection_limit": arguments.whole("connection_limit", connection_limit),
            **arguments.conditions(service_time, in_service, latency, 0 if seed is None else seed),
        }
        if seed is None:
            del settings["seed"]
        control = Control()
        try:
            told = control.ask("start", **settings)
        except BaseException:
            control.end()
            raise
        self._control = control
        self._certificate: str | None = told["certificate"]
        self._seed: int = told["seed"]

    def _do(self, do: str, **given: object) -> None:
        self._control.ask(do, **given)

    def _inject(self, **rule: object) -> Fault:
        told = self._control.ask("inject", **rule)
        return Fault(self._control, told["fault"], told["rule"])

    def _show(self) -> dict[str, Any]:
        shown: dict[str, Any] = self._control.ask("show")
        return shown

    @property
    def seeds(self) -> str:
        """Seeds of all live nodes, as clients take them: `"127.0.0.1:40001,127.0.0.1:40002"`."""
        return str(self._show()["seeds"])

    @property
    def tls_seeds(self) -> str:
        """The same for TLS; empty without TLS."""
        return str(self._show()["tls_seeds"])

    @property
    def certificate_pem(self) -> str | None:
        """The certificate that clients of the TLS ports have to trust (PEM); `None` without TLS."""
        return self._certificate

    @property
    def nodes(self) -> list[EmbeddedNode]:
        """All nodes, stopped ones included, in the order they were added."""
        return [EmbeddedNode.of(node) for node in self._show()["nodes"]]

    @property
    def pid(self) -> int:
        """The id of the cluster's process."""
        return self._control.pid

    @property
    def seed(self) -> int:
        """What everything random comes from. Print it when a test fails: `AEROLANE_SEED` then gives the same run."""
        return self._seed

    @property
    def is_closed(self) -> bool:
        """Whether the cluster was closed."""
        return self._control.has_ended

    def add_node(self) -> EmbeddedNode:
        """Adds a node, starts it and gives it."""
        return EmbeddedNode.of(self._control.ask("add_node"))

    def master(
        self, partition: int, namespace: str | None = None, *, seen_by: EmbeddedNode | str | None = None
    ) -> str | None:
        """The id of the node that is master of a partition (0 to 4095); `None` if no node runs, or the partition is
        unavailable. `namespace`: default the first one. `seen_by`: the node whose partition map counts, for a cluster
        that is split (default: that of the first group). Raises `LookupError` for an unknown namespace or node."""
        whole = arguments.whole("partition", partition)
        node = None if seen_by is None else id_of(seen_by)
        master: str | None = self._control.ask("master", partition=whole, namespace=namespace, seen_by=node)
        return master

    def migrate(self, records: int) -> int:
        """Moves at most so many records on that are to be moved; gives how many those were. Fewer than asked for: all
        that is to be moved has been."""
        moved: int = self._control.ask("migrate", records=arguments.whole("records", records))
        return moved

    def migrating(self, namespace: str = "test") -> int:
        """How many partitions of a namespace have records that are still to be moved. Raises `LookupError` for an
        unknown namespace."""
        left: int = self._control.ask("migrating", namespace=namespace)
        return left

    def stats(self, node: EmbeddedNode | str) -> dict[str, int]:
        """Counts of a node since the cluster was started: `connections_opened`, `connections_closed`, `infos`,
        `logins`, `records`, `batches`, `batch_rows`, `queries`, `query_records`."""
        stats: dict[str, int] = self._control.ask("stats", node=id_of(node))
        return stats

    def record_count(self, namespace: str = "test") -> int:
        """How many records a namespace has, each counted once. Raises `LookupError` for an unknown namespace."""
        count: int = self._control.ask("record_count", namespace=namespace)
        return count

    def udf_log(self) -> list[str]:
        """The last thousand lines that UDFs have logged, oldest first, each with its level in front."""
        lines: list[str] = self._control.ask("udf_log")
        return lines

    def sweep(self) -> int:
        """Removes all records that have expired, now, whatever the `nsup_period`; gives how many those were."""
        swept: int = self._control.ask("sweep")
        return swept

    def conditions(self, node: EmbeddedNode | str) -> Conditions:
        """The conditions of a node, as the keyword arguments of `set_conditions` that make them: `service_time`,
        `in_service`, `latency`, `seed`. Raises `LookupError` for an unknown node."""
        conditions: Conditions = self._control.ask("conditions", node=id_of(node))
        return conditions

    def schedule(self, *steps: Step) -> Schedule:
        """Has steps happen one after the other: `cluster.schedule(after(requests=200, on="write").stop_node(node),
        after(seconds=3).start_node(node))`, with `after` of this package.

        A step that waits for requests counts those that were answered since the step before. The answer to the last of
        them is sent; then its connection waits until the step is done, so a program that sends one request after the
        other sees the same each time.

        Raises `ValueError` without steps, or for a kind of request that does not exist, and `LookupError` for a node to
        count requests of that does not exist.
        """
        given = [{"after": step.after, "run": step.run} for step in steps]
        return Schedule(self._control, self._control.ask("schedule", steps=given)["schedule"])

    def close(self) -> None:
        """Stops all nodes; their records are gone. Closing a closed cluster does nothing."""
        self._control.end()

    def __enter__(self) -> Self:
        _ = self.seeds
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.is_closed or self._control.is_foreign:
            return "<EmbeddedCluster, closed>"
        return f"<EmbeddedCluster at {self.seeds}>"
