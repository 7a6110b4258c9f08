"""What one run is to do. Sent to the child process that does it, as JSON."""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from aerolane.bench.payload import MOST_BYTES, Payload
from aerolane.bench.workload import Workload


@dataclass(frozen=True)
class Security:
    """How to log in, and TLS. Empty texts mean: not asked for."""

    user: str = ""
    password: str = ""
    auth_mode: str = "internal"
    tls_ca_file: str = ""
    tls_cert_file: str = ""
    tls_key_file: str = ""
    tls_name: str = ""

    @property
    def tls(self) -> bool:
        """Whether connections are to use TLS."""
        return bool(self.tls_ca_file or self.tls_cert_file or self.tls_name)


@dataclass(frozen=True)
class Conditions:
    """How slow the embedded cluster is to be; its program understands the texts. Empty texts mean: not asked for."""

    service_time: str = ""
    in_service: str = ""
    latency: str = ""
    own_core: bool = False
    """It has a core of its own, and clients have the others."""

    def options(self) -> dict[str, str]:
        """The options that were given."""
        given = {"--service-time": self.service_time, "--in-service": self.in_service, "--latency": self.latency}
        return {name: value for name, value in given.items() if value}

    def describe(self) -> str:
        """For people."""
        parts = [f"{name[2:].replace('-', ' ')} {value}" for name, value in self.options().items()]
        return ", ".join([*parts, *["a core of its own"] * self.own_core])


# Large records per task: enough that each task reads another one every time.
LARGE_PER_TASK = 4


@dataclass(frozen=True)
class BackgroundLarge:
    """Tasks that read large records beside the workload: how many on each loop, and the size of a record."""

    tasks: int
    size: int

    @classmethod
    def parse(cls, text: str) -> "BackgroundLarge":
        """Raises `ValueError` that says what is wrong."""
        tasks, _, size = text.partition(":")
        if all(part.isascii() and part.isdigit() for part in (tasks, size)):
            found = cls(int(tasks), int(size))
            if 1 <= found.tasks <= 1000 and 1 <= found.size <= MOST_BYTES:
                return found
        raise ValueError(f"{text!r}: expected TASKS:BYTES, 1 to 1000 tasks and 1 to {MOST_BYTES} bytes, as 4:900000")


@dataclass(frozen=True)
class RunSpec:
    """One run of one mode. Times are seconds."""

    mode: str
    seeds: str
    workload: str = "RU,50"
    namespace: str = "test"
    set_name: str = "test"
    keys: int = 100_000
    bins: str = "I8"
    duration: float = 10.0
    warmup: float = 4.0
    cooldown: float = 0.0
    max_ops: int = 0
    threads: int = 32
    tasks: int = 32
    pool_loops: int = 0
    loop: str = "auto"
    fast_path: bool = True
    batch: int = 1
    current_thread_runtime: bool = False
    services_alternate: bool = False
    sample_every: int = 100
    telemetry: bool = False
    latency: str = ""
    prebuilt_keys: int = 0
    touch_bins: bool = False
    as_numpy: bool = False
    rate: float = 0.0
    arrivals: str = "poisson"
    background_large: str = ""
    max_conns_per_node: int = 0
    """Connections to a node, at most, where a client of the Rust harness is measured. 0: the client's own."""
    busy_ms: float = 0.0
    print_loop: bool = False
    seed: int = 1
    ticker: bool = True
    program: str = ""
    """What runs in place of the loop of single calls; see `aerolane.bench.study.programs`."""
    security: Security = field(default_factory=Security)
    conditions: Conditions = field(default_factory=Conditions)

    def hosts(self) -> list[tuple[str, int]]:
        """The seeds as pairs of host and port."""
        return [split_host(seed) for seed in self.seeds.split(",")]

    def parsed_workload(self) -> Workload:
        """The workload, parsed."""
        return Workload.parse(self.workload)

    def payload(self) -> Payload:
        """The bins of a record, parsed."""
        return Payload.parse(self.bins)

    def large(self) -> "RunSpec | None":
        """The run of the tasks that read large records, which have a set of their own."""
        if not self.background_large:
            return None
        background = BackgroundLarge.parse(self.background_large)
        return replace(
            self,
            workload="RU,100",
            set_name=f"{self.set_name}_large",
            keys=background.tasks * LARGE_PER_TASK,
            bins=f"B{background.size}",
            tasks=background.tasks,
            batch=1,
            sample_every=1,
            prebuilt_keys=0,
            as_numpy=False,
            rate=0.0,
            background_large="",
            seed=self.seed + 1,
        )

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "RunSpec":
        """The inverse of `to_json`."""
        values: dict[str, Any] = json.loads(text)
        parts = {"security": Security(**values["security"]), "conditions": Conditions(**values["conditions"])}
        return cls(**{**values, **parts})


def split_host(seed: str) -> tuple[str, int]:
    """`host:port` or `host` (port 3000), IPv6 in brackets. Raises `ValueError` for anything else."""
    host, colon, port = seed.strip().rpartition(":")
    if not colon or seed.strip().endswith("]"):
        host, port = seed.strip(), "3000"
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f"{seed!r}: host:port expected")
    return host, int(port)
