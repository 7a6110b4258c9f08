"""What nodes say about themselves: info commands, and dicts with typed properties."""

import builtins
from typing import final

from ._awaitable import Awaitable

class NamespaceDetail(dict[str, str]):
    """What a node says about a namespace: a dict of all that it says, with properties for some of it."""

    __slots__ = ()
    @property
    def exists(self) -> bool:
        """Whether the node has the namespace."""
    @property
    def storage_engine(self) -> StorageEngine:
        """How records are stored: a `StorageEngine`."""
    @property
    def strong_consistency(self) -> bool:
        """Whether it is in strong-consistency mode."""
    @property
    def strong_consistency_reported(self) -> bool:
        """Whether the node says which mode it is in."""
    @property
    def strong_consistency_allow_expunge(self) -> bool:
        """Whether deletes may be without a tombstone there."""
    @property
    def disallow_expunge(self) -> bool:
        """Whether deletes must leave a tombstone."""
    @property
    def nsup_period(self) -> int:
        """Seconds between the searches for expired records; 0: there are none."""
    @property
    def default_ttl(self) -> int:
        """Seconds until records expire; 0: they do not."""
    @property
    def allow_ttl_without_nsup(self) -> bool:
        """Whether records may expire though nothing searches for them."""
    @property
    def effective_replication_factor(self) -> int:
        """Copies of each record."""
    @property
    def objects(self) -> int:
        """Records of the node, copies included."""
    @property
    def master_objects(self) -> int:
        """Records that the node is the master of."""
    @property
    def prole_objects(self) -> int:
        """Records that the node has copies of."""
    @property
    def non_replica_objects(self) -> int:
        """Records that the node has beside these."""
    @property
    def unreplicated_records(self) -> int:
        """Records whose copies are not written yet."""
    @property
    def dead_partitions(self) -> int:
        """Partitions whose records are lost."""
    @property
    def unavailable_partitions(self) -> int:
        """Partitions that cannot be read."""
    @property
    def stop_writes(self) -> bool:
        """Whether the node refuses writes."""
    @property
    def current_time(self) -> int:
        """The node's clock: seconds since 2010."""
    @property
    def expired_objects(self) -> int:
        """Records that expired since the node started."""
    @property
    def evicted_objects(self) -> int:
        """Records that were evicted since the node started."""
    @property
    def index_used_bytes(self) -> int:
        """Bytes of the primary index."""
    @property
    def set_index_used_bytes(self) -> int:
        """Bytes of indexes of sets."""
    @property
    def sindex_used_bytes(self) -> int:
        """Bytes of secondary indexes."""
    @property
    def data_total_bytes(self) -> int:
        """Bytes that there are for records."""
    @property
    def data_used_bytes(self) -> int:
        """Bytes of records."""
    @property
    def cache_read_pct(self) -> int:
        """Percent of reads that the cache answers."""
    @staticmethod
    def from_body(body: str) -> NamespaceDetail:
        """The `NamespaceDetail` of an answer to `namespace/<name>`."""
    @staticmethod
    def from_response(response: dict[str, str] | None, namespace: str) -> NamespaceDetail | None:
        """The `NamespaceDetail` in the answers by command of a node; `None`: the node does not have the namespace."""

class SetDetail(dict[str, str]):
    """What a node says about a set: a dict of all that it says, with properties."""

    __slots__ = ()
    @property
    def name(self) -> str:
        """The name."""
    @property
    def namespace(self) -> str:
        """The namespace."""
    @property
    def objects(self) -> int:
        """Records of the node, copies included."""
    @property
    def tombstones(self) -> int:
        """Tombstones of the node."""
    @property
    def data_used_bytes(self) -> int:
        """Bytes of records."""
    @property
    def truncating(self) -> bool:
        """Whether a truncate goes on."""
    @property
    def sindexes(self) -> int:
        """Secondary indexes of the set."""
    @property
    def index_populating(self) -> bool:
        """Whether an index of the set is being built."""
    @property
    def default_ttl(self) -> int:
        """Seconds until records expire; 0: as the namespace says."""
    @property
    def disable_eviction(self) -> bool:
        """Whether records are never evicted."""
    @property
    def stop_writes_count(self) -> int:
        """Records beyond which writes are refused; 0: no limit."""
    @property
    def stop_writes_size(self) -> int:
        """Bytes beyond which writes are refused; 0: no limit."""
    @staticmethod
    def from_body(body: str) -> list[SetDetail]:
        """The `SetDetail`s of an answer to `sets`, a list."""

class Sindex(dict[str, str]):
    """A secondary index: a dict of what nodes say about it, with properties."""

    __slots__ = ()
    @property
    def name(self) -> str:
        """The name."""
    @property
    def namespace(self) -> str:
        """The namespace."""
    @property
    def set_name(self) -> str:
        """The set."""
    @property
    def bin_name(self) -> str:
        """The bin; empty for an index of a set."""
    @property
    def index_type(self) -> str:
        """What kind of values it holds: `integer`, `string`, `blob` or `geo2dsphere`."""
    @property
    def collection_type(self) -> str:
        """What of a bin it covers: `default`, `list`, `mapkeys`, `mapvalues`, or `set`."""
    @property
    def state(self) -> str:
        """`RW` when it is built, `WO` before."""
    @property
    def is_set_index(self) -> bool:
        """Whether it is an index of a set."""
    @property
    def is_ready(self) -> bool:
        """Whether it is built."""

class SindexDetail(dict[str, str]):
    """What a node counts for a secondary index: a dict of all that it says, with properties."""

    __slots__ = ()
    @property
    def entries(self) -> int:
        """Entries of the node."""
    @property
    def used_bytes(self) -> int:
        """Bytes of the node."""
    @property
    def entries_per_bval(self) -> int:
        """Entries for each value, on average."""
    @property
    def entries_per_rec(self) -> int:
        """Entries for each record, on average."""
    @property
    def load_pct(self) -> int:
        """Percent of the records that it was built from; 100: it is built."""
    @property
    def is_ready(self) -> bool:
        """Whether it is built."""
    @staticmethod
    def from_response(response: dict[str, str] | None, namespace: str, index_name: str) -> SindexDetail | None:
        """The `SindexDetail` in the answers by command of a node; `None`: the node does not have the index."""

class StorageEngine(dict[str, str]):
    """How a namespace stores records: a dict of all that a node says about it, with properties."""

    __slots__ = ()
    @property
    def engine(self) -> str:
        """Where records are: `memory`, `device` or `pmem`."""
    @property
    def is_memory(self) -> bool:
        """Whether they are in memory."""
    @property
    def is_device(self) -> bool:
        """Whether they are on devices or in files."""
    @property
    def compression(self) -> str:
        """How records are compressed."""
    @property
    def commit_to_device(self) -> bool:
        """Whether a write waits for the device."""
    @property
    def defrag_lwm_pct(self) -> int:
        """Blocks that are filled to less than this many percent are rewritten."""
    @property
    def files(self) -> list[StorageFileDetail]:
        """Its devices and files: a list of `StorageFileDetail`."""
    @staticmethod
    def from_namespace(detail: dict[str, str]) -> StorageEngine:
        """The `StorageEngine` of a `NamespaceDetail`."""

class StorageFileDetail(dict[str, str]):
    """A device or a file that records are stored on: a dict of what a node says, with properties."""

    __slots__ = ()
    @property
    def path(self) -> str:
        """Where it is."""
    @property
    def age(self) -> int:
        """Percent of its life that it has behind it; -1: unknown."""
    @property
    def used_bytes(self) -> int:
        """Bytes of records."""
    @property
    def free_wblocks(self) -> int:
        """Free blocks."""
    @property
    def write_q(self) -> int:
        """Blocks that wait to be written."""
    @property
    def writes(self) -> int:
        """Blocks that were written."""
    @property
    def partial_writes(self) -> int:
        """Blocks that were written before they were full."""
    @property
    def defrag_q(self) -> int:
        """Blocks that wait to be rewritten."""
    @property
    def defrag_reads(self) -> int:
        """Blocks that were read to be rewritten."""
    @property
    def defrag_writes(self) -> int:
        """Blocks that were rewritten."""
    @property
    def defrag_partial_writes(self) -> int:
        """Blocks that were rewritten before they were full."""
    @property
    def read_errors(self) -> int:
        """Reads that failed."""

@final
class InfoCommands:
    """What the nodes say about themselves, as methods: what `session.info()` gives. For asyncio, all but
    `get_cluster_size` give an awaitable.

    What is merged over nodes has each thing once, with the numbers of the first node that names it; the methods
    `.._per_node` give what each node says. They raise the error of a node that does not answer, or that refuses the
    command.
    """

    def build(self) -> Awaitable[builtins.set[str]]:
        """The versions that the nodes run: a set of str."""
    def namespaces(self) -> Awaitable[builtins.set[str]]:
        """The namespaces of the cluster: a set of str."""
    def namespace_details(self, namespace: str) -> Awaitable[NamespaceDetail | None]:
        """What one of the nodes says about a namespace: a `NamespaceDetail`; `None`: it has no such namespace."""
    def namespace_details_per_node(self, namespace: str) -> Awaitable[dict[str, NamespaceDetail]]:
        """What each node says about a namespace: a dict of `NamespaceDetail` by node, without those that do not have
        it.
        """
    def sets(self, namespace: str | None = None) -> Awaitable[list[SetDetail]]:
        """The sets of a namespace, or of all (`None`): a list of `SetDetail`, ordered by name."""
    def set(self, namespace: str, name: str) -> Awaitable[SetDetail | None]:
        """One set: a `SetDetail`; `None`: there is no such set."""
    def sets_per_node(self, namespace: str) -> Awaitable[dict[str, list[SetDetail]]]:
        """The sets of a namespace on each node: a dict of lists of `SetDetail` by node."""
    def secondary_indexes(self, namespace: str | None = None) -> Awaitable[list[Sindex]]:
        """The secondary indexes of a namespace, or of all (`None`): a list of `Sindex`."""
    def secondary_indexes_per_node(self, namespace: str | None = None) -> Awaitable[dict[str, list[Sindex]]]:
        """The secondary indexes on each node: a dict of lists of `Sindex` by node."""
    def secondary_index_details(self, namespace: str, index_name: str) -> Awaitable[SindexDetail | None]:
        """What one of the nodes counts for a secondary index: a `SindexDetail`; `None`: it has no such index."""
    def secondary_index_details_per_node(self, namespace: str, index_name: str) -> Awaitable[dict[str, SindexDetail]]:
        """What each node counts for a secondary index: a dict of `SindexDetail` by node, without those that do not
        have it. It is built everywhere when `is_ready` of all of them is true.
        """
    def is_cluster_stable(self) -> Awaitable[bool]:
        """Whether all nodes agree on which nodes the cluster has."""
    def get_cluster_size(self) -> int:
        """The number of active nodes. Nothing is sent."""
    def info(self, command: str) -> Awaitable[dict[str, str]]:
        """Sends an info command to one of the nodes: the answers by command, a dict."""
    def info_on_all_nodes(self, command: str) -> Awaitable[dict[str, dict[str, str]]]:
        """Sends an info command to each node: a dict of their answers by command, by node."""

@final
class SyncInfoCommands:
    """What the nodes say about themselves, as methods: what `session.info()` gives. For asyncio, all but
    `get_cluster_size` give an awaitable.

    What is merged over nodes has each thing once, with the numbers of the first node that names it; the methods
    `.._per_node` give what each node says. They raise the error of a node that does not answer, or that refuses the
    command.
    """

    def build(self) -> builtins.set[str]:
        """The versions that the nodes run: a set of str."""
    def namespaces(self) -> builtins.set[str]:
        """The namespaces of the cluster: a set of str."""
    def namespace_details(self, namespace: str) -> NamespaceDetail | None:
        """What one of the nodes says about a namespace: a `NamespaceDetail`; `None`: it has no such namespace."""
    def namespace_details_per_node(self, namespace: str) -> dict[str, NamespaceDetail]:
        """What each node says about a namespace: a dict of `NamespaceDetail` by node, without those that do not have
        it.
        """
    def sets(self, namespace: str | None = None) -> list[SetDetail]:
        """The sets of a namespace, or of all (`None`): a list of `SetDetail`, ordered by name."""
    def set(self, namespace: str, name: str) -> SetDetail | None:
        """One set: a `SetDetail`; `None`: there is no such set."""
    def sets_per_node(self, namespace: str) -> dict[str, list[SetDetail]]:
        """The sets of a namespace on each node: a dict of lists of `SetDetail` by node."""
    def secondary_indexes(self, namespace: str | None = None) -> list[Sindex]:
        """The secondary indexes of a namespace, or of all (`None`): a list of `Sindex`."""
    def secondary_indexes_per_node(self, namespace: str | None = None) -> dict[str, list[Sindex]]:
        """The secondary indexes on each node: a dict of lists of `Sindex` by node."""
    def secondary_index_details(self, namespace: str, index_name: str) -> SindexDetail | None:
        """What one of the nodes counts for a secondary index: a `SindexDetail`; `None`: it has no such index."""
    def secondary_index_details_per_node(self, namespace: str, index_name: str) -> dict[str, SindexDetail]:
        """What each node counts for a secondary index: a dict of `SindexDetail` by node, without those that do not
        have it. It is built everywhere when `is_ready` of all of them is true.
        """
    def is_cluster_stable(self) -> bool:
        """Whether all nodes agree on which nodes the cluster has."""
    def get_cluster_size(self) -> int:
        """The number of active nodes. Nothing is sent."""
    def info(self, command: str) -> dict[str, str]:
        """Sends an info command to one of the nodes: the answers by command, a dict."""
    def info_on_all_nodes(self, command: str) -> dict[str, dict[str, str]]:
        """Sends an info command to each node: a dict of their answers by command, by node."""
