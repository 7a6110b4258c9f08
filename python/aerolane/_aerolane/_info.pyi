"""What nodes say about themselves: info commands, and dicts with typed properties."""

import builtins
from typing import final

from ._awaitable import Awaitable

class NamespaceDetail(dict[str, str]):
    """A node's details of a namespace: a dict of everything that the node reports, with properties for some of it."""

    @property
    def exists(self) -> bool:
        """Whether the node has the namespace."""
    @property
    def objects(self) -> int:
        """The number of records on the node, replicas included."""
    @property
    def storage_engine(self) -> StorageEngine:
        """How records are stored, as a `StorageEngine`."""
    @property
    def allow_ttl_without_nsup(self) -> bool:
        """Whether records may have a TTL although `nsup` does not remove expired records."""
    @property
    def cache_read_pct(self) -> int:
        """The percentage of reads that the cache answers."""
    @property
    def current_time(self) -> int:
        """The node's clock: seconds since 2010."""
    @property
    def data_total_bytes(self) -> int:
        """The size in bytes of the storage for records."""
    @property
    def data_used_bytes(self) -> int:
        """The bytes that records use."""
    @property
    def dead_partitions(self) -> int:
        """The number of partitions whose records are lost."""
    @property
    def default_ttl(self) -> int:
        """The default time to live in seconds; 0: records do not expire."""
    @property
    def disallow_expunge(self) -> bool:
        """Whether deletes must leave a tombstone."""
    @property
    def effective_replication_factor(self) -> int:
        """The number of copies of each record."""
    @property
    def evicted_objects(self) -> int:
        """The number of records evicted since the node started."""
    @property
    def expired_objects(self) -> int:
        """The number of records expired since the node started."""
    @staticmethod
    def from_body(body: str) -> NamespaceDetail:
        """Parses the answer to `namespace/<name>`."""
    @staticmethod
    def from_response(response: dict[str, str] | None, namespace: str) -> NamespaceDetail | None:
        """Takes the details from a node's answers by command; `None` if the node does not have the namespace."""
    @property
    def index_used_bytes(self) -> int:
        """The size of the primary index in bytes."""
    @property
    def master_objects(self) -> int:
        """The number of records whose master is this node."""
    @property
    def non_replica_objects(self) -> int:
        """The number of records that the node has as neither master nor replica."""
    @property
    def nsup_period(self) -> int:
        """The interval in seconds at which expired records are removed; 0: never."""
    @property
    def prole_objects(self) -> int:
        """The number of records of which the node has a replica."""
    @property
    def set_index_used_bytes(self) -> int:
        """The size of the set indexes in bytes."""
    @property
    def sindex_used_bytes(self) -> int:
        """The size of the secondary indexes in bytes."""
    @property
    def stop_writes(self) -> bool:
        """Whether the node refuses writes."""
    @property
    def strong_consistency(self) -> bool:
        """Whether the namespace is in strong-consistency mode."""
    @property
    def strong_consistency_allow_expunge(self) -> bool:
        """Whether deletes without a tombstone are allowed in strong-consistency mode."""
    @property
    def strong_consistency_reported(self) -> bool:
        """Whether the node reports the mode at all."""
    @property
    def unavailable_partitions(self) -> int:
        """The number of partitions that are unavailable."""
    @property
    def unreplicated_records(self) -> int:
        """The number of records whose replicas are not written yet."""

class SetDetail(dict[str, str]):
    """A node's details of a set: a dict of everything that the node reports, with properties for some of it."""

    @property
    def namespace(self) -> str:
        """The namespace."""
    @property
    def name(self) -> str:
        """The name."""
    @property
    def objects(self) -> int:
        """The number of records on the node, replicas included."""
    @property
    def data_used_bytes(self) -> int:
        """The bytes that records use."""
    @property
    def default_ttl(self) -> int:
        """The default time to live in seconds; 0: that of the namespace."""
    @property
    def disable_eviction(self) -> bool:
        """Whether records are never evicted."""
    @staticmethod
    def from_body(body: str) -> list[SetDetail]:
        """Parses the answer to `sets`: a list of `SetDetail`."""
    @property
    def index_populating(self) -> bool:
        """Whether an index of the set is being built."""
    @property
    def sindexes(self) -> int:
        """The number of secondary indexes of the set."""
    @property
    def stop_writes_count(self) -> int:
        """The number of records above which writes are refused; 0: no limit."""
    @property
    def stop_writes_size(self) -> int:
        """The size in bytes above which writes are refused; 0: no limit."""
    @property
    def tombstones(self) -> int:
        """The number of tombstones on the node."""
    @property
    def truncating(self) -> bool:
        """Whether a truncate is in progress."""

class Sindex(dict[str, str]):
    """A secondary index: a dict of what the nodes report, with properties for some of it."""

    @property
    def namespace(self) -> str:
        """The namespace."""
    @property
    def set_name(self) -> str:
        """The set."""
    @property
    def name(self) -> str:
        """The name."""
    @property
    def state(self) -> str:
        """`RW` once it is built, `WO` before."""
    @property
    def bin_name(self) -> str:
        """The bin; empty for an index of a set."""
    @property
    def index_type(self) -> str:
        """The type of its values: `integer`, `string`, `blob` or `geo2dsphere`."""
    @property
    def collection_type(self) -> str:
        """Which part of the bin it covers: `default`, `list`, `mapkeys`, `mapvalues`, or `set`."""
    @property
    def is_ready(self) -> bool:
        """Whether it is built."""
    @property
    def is_set_index(self) -> bool:
        """Whether it is a set index."""

class SindexDetail(dict[str, str]):
    """A node's statistics of a secondary index: a dict of everything that the node reports, with properties for some
    of it.
    """

    @property
    def entries(self) -> int:
        """The number of entries on the node."""
    @property
    def entries_per_bval(self) -> int:
        """The average number of entries per value."""
    @property
    def entries_per_rec(self) -> int:
        """The average number of entries per record."""
    @staticmethod
    def from_response(response: dict[str, str] | None, namespace: str, index_name: str) -> SindexDetail | None:
        """Takes the statistics from a node's answers by command; `None` if the node does not have the index."""
    @property
    def is_ready(self) -> bool:
        """Whether it is built."""
    @property
    def load_pct(self) -> int:
        """The percentage of records that have been indexed; 100: the index is built."""
    @property
    def used_bytes(self) -> int:
        """The bytes that the index uses on the node."""

class StorageEngine(dict[str, str]):
    """How a namespace stores records: a dict of everything that the node reports, with properties for some of it."""

    @property
    def files(self) -> list[StorageFileDetail]:
        """The devices and files: a list of `StorageFileDetail`."""
    @property
    def commit_to_device(self) -> bool:
        """Whether a write waits for the device."""
    @property
    def compression(self) -> str:
        """How records are compressed."""
    @property
    def defrag_lwm_pct(self) -> int:
        """Blocks that are less full than this percentage are defragmented."""
    @property
    def engine(self) -> str:
        """Where records are stored: `memory`, `device` or `pmem`."""
    @staticmethod
    def from_namespace(detail: dict[str, str]) -> StorageEngine:
        """Takes the storage engine from a `NamespaceDetail`."""
    @property
    def is_device(self) -> bool:
        """Whether records are stored on devices or in files."""
    @property
    def is_memory(self) -> bool:
        """Whether records are stored in memory."""

class StorageFileDetail(dict[str, str]):
    """A device or file that stores records: a dict of what the node reports, with properties for some of it."""

    @property
    def writes(self) -> int:
        """The number of blocks written."""
    @property
    def path(self) -> str:
        """The path of the device or file."""
    @property
    def age(self) -> int:
        """The percentage of the device's lifetime that is used up; -1: unknown."""
    @property
    def defrag_partial_writes(self) -> int:
        """The number of blocks that defragmentation wrote before they were full."""
    @property
    def defrag_q(self) -> int:
        """The number of blocks waiting to be defragmented."""
    @property
    def defrag_reads(self) -> int:
        """The number of blocks read by defragmentation."""
    @property
    def defrag_writes(self) -> int:
        """The number of blocks written by defragmentation."""
    @property
    def free_wblocks(self) -> int:
        """The number of free blocks."""
    @property
    def partial_writes(self) -> int:
        """The number of blocks written before they were full."""
    @property
    def read_errors(self) -> int:
        """The number of failed reads."""
    @property
    def used_bytes(self) -> int:
        """The bytes that records use."""
    @property
    def write_q(self) -> int:
        """The number of blocks waiting to be written."""

@final
class InfoCommands:
    """Info commands to the nodes as methods, as returned by `session.info()`. For asyncio, all methods but
    `get_cluster_size` return an awaitable.

    Merged results have one entry for each item, with the numbers of the first node that reports it; the methods named
    `.._per_node` return the answer of each node. They raise an error if a node does not answer or refuses the command.
    """

    def set(self, namespace: str, name: str) -> Awaitable[SetDetail | None]:
        """The details of one set: a `SetDetail`, or `None` if there is no such set."""
    def info(self, command: str) -> Awaitable[dict[str, str]]:
        """Sends an info command to one of the nodes. Returns a dict of the answers by command."""
    def info_on_all_nodes(self, command: str) -> Awaitable[dict[str, dict[str, str]]]:
        """Sends an info command to each node. Returns a dict of their answers by node, each a dict by command."""
    def build(self) -> Awaitable[builtins.set[str]]:
        """The server versions of the nodes, as a set of str."""
    def namespaces(self) -> Awaitable[builtins.set[str]]:
        """The namespaces of the cluster: a set of str."""
    def namespace_details(self, namespace: str) -> Awaitable[NamespaceDetail | None]:
        """One node's details of a namespace: a `NamespaceDetail`, or `None` if the node does not have the namespace."""
    def namespace_details_per_node(self, namespace: str) -> Awaitable[dict[str, NamespaceDetail]]:
        """Each node's details of a namespace: a dict of `NamespaceDetail` by node, without nodes that do not have
        it.
        """
    def sets(self, namespace: str | None = None) -> Awaitable[list[SetDetail]]:
        """The sets of a namespace, or of all (`None`): a list of `SetDetail`, ordered by name."""
    def sets_per_node(self, namespace: str) -> Awaitable[dict[str, list[SetDetail]]]:
        """The sets of a namespace on each node: a dict of lists of `SetDetail` by node."""
    def secondary_indexes(self, namespace: str | None = None) -> Awaitable[list[Sindex]]:
        """The secondary indexes of a namespace, or of all (`None`): a list of `Sindex`."""
    def secondary_indexes_per_node(self, namespace: str | None = None) -> Awaitable[dict[str, list[Sindex]]]:
        """The secondary indexes on each node: a dict of lists of `Sindex` by node."""
    def secondary_index_details(self, namespace: str, index_name: str) -> Awaitable[SindexDetail | None]:
        """One node's statistics of a secondary index: a `SindexDetail`, or `None` if the node does not have the
        index.
        """
    def secondary_index_details_per_node(self, namespace: str, index_name: str) -> Awaitable[dict[str, SindexDetail]]:
        """Each node's statistics of a secondary index: a dict of `SindexDetail` by node, without nodes that do not
        have it. The index is built once `is_ready` is true on all of them.
        """
    def is_cluster_stable(self) -> Awaitable[bool]:
        """Whether all nodes agree on which nodes are part of the cluster."""
    def get_cluster_size(self) -> int:
        """The number of active nodes. Nothing is sent."""

@final
class SyncInfoCommands:
    """Info commands to the nodes as methods, as returned by `session.info()`. For asyncio, all methods but
    `get_cluster_size` return an awaitable.

    Merged results have one entry for each item, with the numbers of the first node that reports it; the methods named
    `.._per_node` return the answer of each node. They raise an error if a node does not answer or refuses the command.
    """

    def set(self, namespace: str, name: str) -> SetDetail | None:
        """The details of one set: a `SetDetail`, or `None` if there is no such set."""
    def info(self, command: str) -> dict[str, str]:
        """Sends an info command to one of the nodes. Returns a dict of the answers by command."""
    def info_on_all_nodes(self, command: str) -> dict[str, dict[str, str]]:
        """Sends an info command to each node. Returns a dict of their answers by node, each a dict by command."""
    def build(self) -> builtins.set[str]:
        """The server versions of the nodes, as a set of str."""
    def namespaces(self) -> builtins.set[str]:
        """The namespaces of the cluster: a set of str."""
    def namespace_details(self, namespace: str) -> NamespaceDetail | None:
        """One node's details of a namespace: a `NamespaceDetail`, or `None` if the node does not have the namespace."""
    def namespace_details_per_node(self, namespace: str) -> dict[str, NamespaceDetail]:
        """Each node's details of a namespace: a dict of `NamespaceDetail` by node, without nodes that do not have
        it.
        """
    def sets(self, namespace: str | None = None) -> list[SetDetail]:
        """The sets of a namespace, or of all (`None`): a list of `SetDetail`, ordered by name."""
    def sets_per_node(self, namespace: str) -> dict[str, list[SetDetail]]:
        """The sets of a namespace on each node: a dict of lists of `SetDetail` by node."""
    def secondary_indexes(self, namespace: str | None = None) -> list[Sindex]:
        """The secondary indexes of a namespace, or of all (`None`): a list of `Sindex`."""
    def secondary_indexes_per_node(self, namespace: str | None = None) -> dict[str, list[Sindex]]:
        """The secondary indexes on each node: a dict of lists of `Sindex` by node."""
    def secondary_index_details(self, namespace: str, index_name: str) -> SindexDetail | None:
        """One node's statistics of a secondary index: a `SindexDetail`, or `None` if the node does not have the
        index.
        """
    def secondary_index_details_per_node(self, namespace: str, index_name: str) -> dict[str, SindexDetail]:
        """Each node's statistics of a secondary index: a dict of `SindexDetail` by node, without nodes that do not
        have it. The index is built once `is_ready` is true on all of them.
        """
    def is_cluster_stable(self) -> bool:
        """Whether all nodes agree on which nodes are part of the cluster."""
    def get_cluster_size(self) -> int:
        """The number of active nodes. Nothing is sent."""
