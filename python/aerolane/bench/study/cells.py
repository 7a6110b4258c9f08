"""What a study is made of: groups of clients that do the same side by side."""

from dataclasses import dataclass, field, replace

from aerolane.bench.spec import Conditions, RunSpec
from aerolane.bench.study.rust import CLIENTS
from aerolane.bench.study.statistics import USUAL

# Which clients a door of ours is compared with: those that a user would have taken in its place.
RIVALS = {
    "sync": ("peer-sdk-sync",),
    "async": ("peer-sdk-async",),
    "pac-blocking": ("peer-native-blocking", "legacy-sync", "peer-apy-sync"),
    "pac-async": ("peer-native-async", "peer-apy-async"),
    "aerolane-async": ("core-async",),
    "aerolane-local": ("core-async",),
    "aerolane-sync": ("core-sync",),
}
SYNC = ("pac-blocking", "peer-native-blocking", "legacy-sync", "peer-apy-sync")
ASYNC = ("pac-async", "peer-native-async", "peer-apy-async")
RUST_ASYNC, RUST_SYNC = ("aerolane-async", "aerolane-local", "core-async"), ("aerolane-sync", "core-sync")
SDK_SYNC, SDK_ASYNC = ("sync", "peer-sdk-sync"), ("async", "peer-sdk-async")

# What a client is called in a report.
LABELS = {
    "sync": "aerolane.sync",
    "async": "aerolane",
    "pac-blocking": "aerolane.native, blocking",
    "pac-async": "aerolane.native",
    "peer-sdk-sync": "aerospike-sdk, sync",
    "peer-sdk-async": "aerospike-sdk",
    "peer-native-blocking": "aerospike-native, blocking",
    "peer-native-async": "aerospike-native",
    "peer-apy-sync": "aerospike-py, sync",
    "peer-apy-async": "aerospike-py",
    "legacy-sync": "aerospike (C client)",
    **CLIENTS,
}

SECTIONS = {
    "single": "One record per call",
    "rust": "Rust clients",
    "interpreters": "Another Python",
    "batch": "Batches",
    "conditions": "Slower servers and networks",
    "layers": "What each layer costs",
    "patterns": "Concurrency patterns",
    "writing": "Writing in bulk",
    "services": "Batch reads of services",
    "syscalls": "System calls and context switches",
}
# What the quick study leaves out: they need more than a few seconds.
NOT_QUICK = ("services", "syscalls")

# Of a conditions' group: how a cluster that is as fast as it can be is called.
IN_MEMORY = "memory"
# Conditions that any machine can have; their texts are those of the embedded cluster.
CONDITIONS = {
    IN_MEMORY: Conditions(),
    "50 µs in service": Conditions("read=50us,write=50us", "64"),
    "200 µs in service": Conditions("read=200us,write=200us", "64"),
    "1,000 µs in service": Conditions("read=1ms,write=1ms", "64"),
    "300 µs network latency": Conditions(latency="300us"),
    "1 % take 20 ms": Conditions("read=99%:50us+1%:20ms,write=99%:50us+1%:20ms", "64"),
    "memory, a core each": Conditions(own_core=True),
    "200 µs in service, a core each": Conditions("read=200us,write=200us", "64", own_core=True),
    "1 % take 20 ms, a core each": Conditions("read=99%:50us+1%:20ms,write=99%:50us+1%:20ms", "64", own_core=True),
}


@dataclass(frozen=True)
class Cell:
    """One client doing one thing."""

    label: str
    spec: RunSpec
    python: str = ""
    """The path of another interpreter than the one that the study runs on."""
    counts_calls: bool = False
    """Whether its system calls are counted, which slows it down, in place of what else is measured."""


@dataclass(frozen=True)
class Interpreters:
    """The Python that a study runs on, and another one that ours is measured on, too."""

    name: str
    other: str
    """Its version, as `3.14.2t`."""
    path: str


@dataclass(frozen=True)
class Group:
    """Cells that are measured in turn, round by round, on one cluster."""

    section: str
    title: str
    cells: tuple[Cell, ...]
    pairs: tuple[tuple[str, str], ...]
    """Labels of what is compared: ours, then the other."""
    condition: str = IN_MEMORY
    notes: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of some labels, what figures do not show: columns and texts."""
    unit: str = "record"
    """What is counted."""
    figures: tuple[str, ...] = USUAL
    """What is compared."""
    hosts: str = ""
    """Another server than that of the study."""

    @property
    def id(self) -> str:
        """Its name in `results.json`."""
        return f"{self.section}: {self.title}, {self.condition}"

    def cell_id(self, cell: Cell) -> str:
        """The name of a cell in `results.json`."""
        return f"{self.id}: {cell.label}"


def side_by_side(section: str, title: str, modes: tuple[str, ...], spec: RunSpec, condition: str = IN_MEMORY) -> Group:
    """The same run with several modes; each of ours is compared with its rivals."""
    cells = tuple(Cell(LABELS[mode], replace(spec, mode=mode)) for mode in modes)
    pairs = tuple((LABELS[mode], LABELS[rival]) for mode in modes for rival in RIVALS.get(mode, ()) if rival in modes)
    return Group(section, title, cells, pairs, condition)


def label_tasks(tasks: int) -> str:
    """`32 tasks`."""
    return f"{tasks} task{'s' * (tasks != 1)}"


def label_threads(threads: int) -> str:
    """`32 threads`."""
    return f"{threads} thread{'s' * (threads != 1)}"
