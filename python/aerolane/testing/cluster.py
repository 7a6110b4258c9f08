"""Embedded clusters, each in a process of its own."""

import math
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, final

from aerolane.testing import arguments
from aerolane.testing.arguments import Action, Conditions, ConflictResolution, Kind, ServiceTime, Time
from aerolane.testing.control import Control
from aerolane.testing.fault import Fault
from aerolane.testing.node import EmbeddedNode, id_of
from aerolane.testing.schedule import Schedule, Step


@final
class EmbeddedCluster:
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
      stays the same, but for the index type `integer`, which they know from 8.2 on.
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

    def stop_node(self, node: EmbeddedNode | str) -> None:
        """Stops a node (an `EmbeddedNode` or an id), as a crash does: its connections are closed, and its partitions
        move to the others at once. Records of partitions that no other node holds are lost (with `keep_records`, not
        there until it comes back), and so is what its replicas have not received (`set_replication_lag`). Raises
        `LookupError` for an unknown node."""
        self.stop_nodes([node])

    def stop_nodes(self, nodes: Iterable[EmbeddedNode | str]) -> None:
        """Stops several nodes at once: partitions all of whose owners are among them lose their records."""
        self._control.ask("stop_nodes", nodes=[id_of(node) for node in nodes])

    def start_node(self, node: EmbeddedNode | str) -> None:
        """Starts a stopped node on its old port. Raises `OSError` if something else has taken the port."""
        self._control.ask("start_node", node=id_of(node))

    def add_node(self) -> EmbeddedNode:
        """Adds a node, starts it and gives it."""
        return EmbeddedNode.of(self._control.ask("add_node"))

    def master(self, partition: int) -> str | None:
        """The id of the node that is master of a partition (0 to 4095); `None` if no node runs."""
        master: str | None = self._control.ask("master", partition=arguments.whole("partition", partition))
        return master

    def set_master(self, partition: int, node: EmbeddedNode | str | None) -> None:
        """Makes a node the master of a partition for as long as it lives; `None` gives the partition back."""
        whole = arguments.whole("partition", partition)
        self._control.ask("set_master", partition=whole, node=None if node is None else id_of(node))

    def hold_partitions(self, hold: bool) -> None:
        """While `hold` is true, no partition moves: those of a node that stops have no owner until it starts again, as
        in a real cluster until the other nodes have agreed that it is gone. With `False` they move, and what moves
        without a copy on a live node loses its records. `clear_faults` does the same."""
        self._control.ask("hold_partitions", hold=bool(hold))

    def set_replication_lag(self, lag: Time, node: EmbeddedNode | str | None = None) -> None:
        """Sets how late writes reach their replicas on a node, or on all nodes (default; also on those that are added
        later): a text such as `"50ms"` or a number of seconds, at most ten minutes.

        Meanwhile a read that the replica answers shows the record of before. A write is answered when all replicas have
        it, or, after the request's timeout or a second, with a timeout, although it was carried out; one with commit
        level "master" is answered at once. If the master stops before its replicas have a write, it is lost. What is on
        its way arrives by the new lag: with 0, at once.

        Raises `ValueError` for what is out of range or cannot be read, and `LookupError` for an unknown node."""
        told = arguments.time("lag", lag)
        self._control.ask("set_replication_lag", lag=told, node=None if node is None else id_of(node))

    def set_migration_rate(self, records_per_second: int | None) -> None:
        """Sets how many records a second move when nodes come or go: `None` for all at once (as from the start), 0 for
        none but those of `migrate`. Until a node that becomes the master of a partition has all of its records, the one
        of before answers for it, as in a real cluster."""
        self._control.ask("set_migration_rate", rate=arguments.whole_or_none("records_per_second", records_per_second))

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

    def set_data_limit(self, limit: int, namespace: str = "test") -> None:
        """Changes the bytes of records from which on a node takes no writes for a namespace; 0 ends the limit. Raises
        `LookupError` for an unknown namespace."""
        self._control.ask("set_data_limit", namespace=namespace, bytes=arguments.whole("limit", limit))

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

    def advance_clock(self, seconds: float) -> None:
        """Puts the cluster's clock forward by so many seconds, so that tests of TTLs need not wait: records expire,
        and what is written from now on has the new time. There is no way back, and ten years in all is the most.

        Clients tell how long a record has left by their own clock: they show records that are written later as living
        longer by as much as the clock is ahead.

        Raises `ValueError` for negative seconds and for more than ten years.
        """
        if not math.isfinite(seconds):
            raise ValueError(f"{seconds} s: a clock is put forward by 0 s to ten years")
        self._control.ask("advance_clock", seconds=seconds)

    def sweep(self) -> int:
        """Removes all records that have expired, now, whatever the `nsup_period`; gives how many those were."""
        swept: int = self._control.ask("sweep")
        return swept

    def set_conditions(
        self,
        *,
        service_time: ServiceTime | None = None,
        in_service: int = 64,
        latency: Time | None = None,
        seed: int = 0,
        node: EmbeddedNode | str | None = None,
    ) -> None:
        """Sets how long requests take, of one node or of all nodes (default; also of nodes that are added later). It
        replaces all that was set before: without arguments, nothing takes time any more. Requests that are in service
        or in line keep their times.

        * `service_time`: how long the server works on a request. It occupies the connection, whose next request is
          looked at afterwards, and uses no processor. A text such as `"80us"` or a number of seconds for all kinds of
          requests; or a mapping of kinds to them: `"read"`, `"write"`, `"batch"`, `"query"`, `"udf"`, and `"all"` for
          those not listed. `"exp:80us"` is exponentially distributed with that mean, `"99%:80us+1%:20ms"` is 80 µs for
          99 % of the requests and 20 ms for the others. Units are `us`, `ms` and `s`.
        * `in_service`: how many requests a node has in service at once, 1 to 65,536; the others wait in line, in order
          of arrival. Default 64. Without a service time it has no effect.
        * `latency`: how long bytes are on the way, each way: a text such as `"150us"`, with jitter `"150us~30us"`, or a
          number of seconds. A round trip takes twice as long. It occupies nothing.
        * `seed`: of the random numbers, together with the cluster's own. Default 0.

        Raises `ValueError` for what is out of range or cannot be read, and `LookupError` for an unknown node.
        """
        conditions = arguments.conditions(service_time, in_service, latency, seed)
        self._control.ask("set_conditions", **conditions, node=None if node is None else id_of(node))

    def conditions(self, node: EmbeddedNode | str) -> Conditions:
        """The conditions of a node, as the keyword arguments of `set_conditions` that make them: `service_time`,
        `in_service`, `latency`, `seed`. Raises `LookupError` for an unknown node."""
        conditions: Conditions = self._control.ask("conditions", node=id_of(node))
        return conditions

    def inject(
        self,
        action: Action,
        value: float | bytes | None = None,
        *,
        on: Kind | Sequence[Kind] | None = None,
        node: EmbeddedNode | str | None = None,
        set: str | None = None,
        key_prefix: str | None = None,
        digest: str | bytes | None = None,
        connection: int | None = None,
        skip: int = 0,
        times: int | None = None,
        probability: float = 1.0,
    ) -> Fault:
        """Injects a fault, gives the `Fault` by which it can be taken back (also by a `with` block).

        `action`, with its `value`:

        * `"delay"`, `"answer-delay"`: waits that many seconds before executing, or between executing and answering
        * `"stall"`: nothing more on this connection until the faults are taken back
        * `"drop-before"`, `"drop-after"`: resets the connection in place of executing, or of answering
        * `"truncate"`: sends that many bytes of the answer, then closes
        * `"split"`: the answer in pieces of one byte
        * `"result"`: answers with that result code (0 to 255), executes nothing
        * `"garbage"`: executes, and sends those bytes in place of the answer
        * `"refuse"`: resets new connections
        * `"connect-delay"`: serves nothing on new connections for that many seconds
        * `"black-hole"`: nothing arrives any more, neither way, on open and on new connections, until it is taken back;
          then it arrives late. `"black-hole-requests"`, `"black-hole-answers"`: one way only
        * `"reject-unowned"`: result 11 for partitions that the node does not own

        `on`: the kinds of requests that it strikes, one or several of `"info"`, `"admin"`, `"read"`, `"write"`,
        `"batch"`, `"query"`, `"other"` (default: all), or `"batch-row"`: single rows of batches, which only `"result"`
        strikes. `node`: where (default: all nodes that there are). `set`: only requests about records of this set.
        `key_prefix`: only requests that carry the user key (`send_key`), a str that begins like this. `digest`: only
        requests about the record with it (`key.digest`). `connection`: only the connection with this number, of each
        node, counted from 1. `skip`: requests that pass first (default 0). `times`: ends after that many (default:
        never). `probability`: 0 to 1 (default 1), from the cluster's seed.

        Raises `ValueError` or `TypeError` for what does not fit.
        """
        rule = arguments.fault(action, value, on, set, key_prefix, digest, connection, skip, times, probability)
        told = self._control.ask("inject", **rule, node=None if node is None else id_of(node))
        return Fault(self._control, told["fault"], told["rule"])

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

    def clear_faults(self) -> None:
        """Takes all faults back, and gives partitions back that `set_master` or `hold_partitions` moved or held."""
        self._control.ask("clear_faults")

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
