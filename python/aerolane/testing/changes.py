"""What can be done to an embedded cluster: now, or in a step of a schedule."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from aerolane.testing import arguments
from aerolane.testing.arguments import Action, Kind, ServiceTime, Time
from aerolane.testing.node import EmbeddedNode, id_of

Done = TypeVar("Done", covariant=True)
Injected = TypeVar("Injected", covariant=True)


class Changes(Generic[Done, Injected]):
    """What `EmbeddedCluster` does at once, and a step of a schedule does when it is its turn."""

    @abstractmethod
    def _do(self, do: str, **given: object) -> Done:
        """Has a request carried out; arguments that are `None` are left out."""

    @abstractmethod
    def _inject(self, **rule: object) -> Injected:
        """Has a fault injected."""

    def stop_node(self, node: EmbeddedNode | str) -> Done:
        """Stops a node (an `EmbeddedNode` or an id), as a crash does: its connections are closed, and its partitions
        move to the others at once. Records of partitions that no other node holds are lost (with `keep_records`, not
        there until it comes back), and so is what its replicas have not received (`set_replication_lag`). Raises
        `LookupError` for an unknown node."""
        return self.stop_nodes([node])

    def stop_nodes(self, nodes: Iterable[EmbeddedNode | str]) -> Done:
        """Stops several nodes at once: partitions all of whose owners are among them lose their records."""
        return self._do("stop_nodes", nodes=[id_of(node) for node in nodes])

    def start_node(self, node: EmbeddedNode | str) -> Done:
        """Starts a stopped node on its old port. Raises `OSError` if something else has taken the port."""
        return self._do("start_node", node=id_of(node))

    def set_master(self, partition: int, node: EmbeddedNode | str | None) -> Done:
        """Makes a node the master of a partition for as long as it lives; `None` gives the partition back."""
        whole = arguments.whole("partition", partition)
        return self._do("set_master", partition=whole, node=None if node is None else id_of(node))

    def hold_partitions(self, hold: bool) -> Done:
        """While `hold` is true, no partition moves: those of a node that stops have no owner until it starts again, as
        in a real cluster until the other nodes have agreed that it is gone. With `False` they move, and what moves
        without a copy on a live node loses its records. `clear_faults` does the same."""
        return self._do("hold_partitions", hold=bool(hold))

    def split(self, *groups: Iterable[EmbeddedNode | str]) -> Done:
        """Splits the cluster into groups of nodes that do not see each other: `cluster.split([a], [b, c])`. Each is a
        cluster of its own, with masters for all partitions, and takes writes. Nodes that are in no group are one more
        group; a node that is added meanwhile joins the first one. Clients still reach all nodes.

        A group that has no copy of a partition begins it without records. With `strong_consistency` and `roster`, a
        partition is available in one group at most. Users, UDFs, indexes and truncations stay common to all nodes.
        `heal` ends it, and so does `clear_faults`.

        Raises `LookupError` for an unknown node, and `ValueError` for a node in two groups, a group without nodes, a
        single group, and if the cluster is split already."""
        return self._do("split", groups=arguments.groups(groups))

    def heal(self) -> Done:
        """Lets all nodes see each other again after `split`: records that the groups have written differently are
        resolved as `conflict_resolution` says; with `strong_consistency` nothing is merged, and what the group has
        stays that the partition was available in last. Does nothing to a cluster that is not split."""
        return self._do("heal")

    def set_replication_lag(self, lag: Time, node: EmbeddedNode | str | None = None) -> Done:
        """Sets how late writes reach their replicas on a node, or on all nodes (default; also on those that are added
        later): a text such as `"50ms"` or a number of seconds, at most ten minutes.

        Meanwhile a read that the replica answers shows the record of before. A write is answered when all replicas have
        it, or, after the request's timeout or a second, with a timeout, although it was carried out; one with commit
        level "master" is answered at once. If the master stops before its replicas have a write, it is lost. What is on
        its way arrives by the new lag: with 0, at once.

        Raises `ValueError` for what is out of range or cannot be read, and `LookupError` for an unknown node."""
        told = arguments.time("lag", lag)
        return self._do("set_replication_lag", lag=told, node=None if node is None else id_of(node))

    def set_migration_rate(self, records_per_second: int | None) -> Done:
        """Sets how many records a second move when nodes come or go: `None` for all at once (as from the start), 0 for
        none but those of `migrate`. Until a node that becomes the master of a partition has all of its records, the one
        of before answers for it, as in a real cluster."""
        return self._do("set_migration_rate", rate=arguments.whole_or_none("records_per_second", records_per_second))

    def set_data_limit(self, limit: int, namespace: str = "test") -> Done:
        """Changes the bytes of records from which on a node takes no writes for a namespace; 0 ends the limit. Raises
        `LookupError` for an unknown namespace."""
        return self._do("set_data_limit", namespace=namespace, bytes=arguments.whole("limit", limit))

    def set_device_limit(
        self, write_cache: int | None, flush_rate: int = 0, *, node: EmbeddedNode | str | None = None
    ) -> Done:
        """Limits what the storage of a node takes, or of all nodes that there are (default). Records that are written
        wait in a queue of their master and of each replica until they are flushed, `flush_rate` bytes a second (0: the
        device stands still). While more than `write_cache` bytes wait, the node as master refuses writes and UDFs with
        result 18, "device overload". `None` ends it. Raises `LookupError` for an unknown node."""
        limit = arguments.whole_or_none("write_cache", write_cache)
        rate = arguments.whole("flush_rate", flush_rate)
        told = None if node is None else id_of(node)
        return self._do("set_device_limit", write_cache=limit, flush_rate=rate, node=told)

    def advance_clock(self, seconds: float, *, node: EmbeddedNode | str | None = None) -> Done:
        """Puts the cluster's clock forward by so many seconds, so that tests of TTLs need not wait: records expire,
        and what is written from now on has the new time. Negative seconds put it back. Ten years in all is the most.

        With `node`, only the clock of this node jumps. Records get their times from their master's clock, and each node
        removes what has expired by its own. Where clocks of nodes are more than 40 seconds apart, writes are refused
        with result 22 ("forbidden") and nothing is removed, as in the server, unless `nsup_period` is 0.

        Clients tell how long a record has left by their own clock: they show records that are written later as living
        longer by as much as the clock is ahead.

        Raises `ValueError` for more than ten years, and `LookupError` for an unknown node.
        """
        told = None if node is None else id_of(node)
        return self._do("advance_clock", seconds=arguments.shift("seconds", seconds), node=told)

    def reset_clocks(self) -> Done:
        """Sets all clocks to the system's time again."""
        return self._do("reset_clocks")

    def set_conditions(
        self,
        *,
        service_time: ServiceTime | None = None,
        in_service: int = 64,
        latency: Time | None = None,
        seed: int = 0,
        node: EmbeddedNode | str | None = None,
    ) -> Done:
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
        return self._do("set_conditions", **conditions, node=None if node is None else id_of(node))

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
    ) -> Injected:
        """Injects a fault. The `Fault` that it returns can be taken back; a `with` block does this at its end.

        `action`, with its `value`:

        * `"delay"`, `"answer-delay"`: waits that many seconds before executing, or between executing and answering
        * `"stall"`: does nothing more on this connection until the fault is taken back
        * `"drop-before"`, `"drop-after"`: resets the connection instead of executing, or instead of answering
        * `"truncate"`: sends that many bytes of the answer, then closes
        * `"split"`: sends the answer in pieces of one byte
        * `"result"`: answers with that result code (0 to 255) and executes nothing
        * `"garbage"`: executes, and sends those bytes instead of the answer
        * `"refuse"`: resets new connections
        * `"connect-delay"`: serves nothing on new connections for that many seconds
        * `"black-hole"`: nothing arrives any more, in either direction, on open and on new connections, until the fault
          is taken back; then it arrives late. `"black-hole-requests"`, `"black-hole-answers"`: one direction only
        * `"black-hole-connects"`: new connections hang, open ones are served (on Linux only)
        * `"reject-unowned"`: result 11 for partitions that the node does not own

        Which requests it affects:

        * `on`: one or several of `"info"`, `"admin"`, `"read"`, `"write"`, `"batch"`, `"query"` and `"other"` (default:
          all), or `"batch-row"`: single rows of batches, for `"result"` only
        * `node`: a node (default: all that exist now)
        * `set`: requests about records of this set
        * `key_prefix`: requests that carry the user key (`send_key`), a str with this prefix
        * `digest`: requests about the record with this digest (`key.digest`)
        * `connection`: the connection with this number on each node, counted from 1
        * `skip`: that many requests pass first (default 0)
        * `times`: ends after that many requests (default: never)
        * `probability`: 0 to 1 (default 1), from the cluster's seed

        Raises `ValueError` or `TypeError` for wrong arguments.
        """
        rule = arguments.fault(action, value, on, set, key_prefix, digest, connection, skip, times, probability)
        return self._inject(**rule, node=None if node is None else id_of(node))

    def clear_faults(self) -> Done:
        """Takes back all faults, heals a `split`, and returns partitions that `set_master` or `hold_partitions` moved
        or held."""
        return self._do("clear_faults")
