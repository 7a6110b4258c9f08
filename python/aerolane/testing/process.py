"""An embedded cluster in a process of its own."""

import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

# How long a process gets to end after it was told to, in seconds.
_END_TIMEOUT = 10.0


def _time(value: str | float) -> str:
    """A time as the command line has it; numbers are seconds."""
    return value if isinstance(value, str) else f"{value:.9f}s"


def _service_times(value: str | float | Mapping[str, str | float]) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{kind}={_time(time)}" for kind, time in value.items())
    return _time(value)


class EmbeddedProcess:
    """`EmbeddedProcess(nodes=3, replication_factor=2, namespace="test", ...)`: a cluster in a process of its own.

    It shares neither the GIL nor the CPU accounting of this process, so it is what benchmarks want. It runs as soon as
    it is made, until `close()`, the end of its `with` block or the end of this process, however that comes about.

    * `nodes`, `replication_factor`, `namespace` (a name or several): as `EmbeddedCluster`.
    * `port`: of the first node, the next ones on the ports above. Default 0: any free ports.
    * `threads`: threads that serve all nodes. Default: as many as cores, at most 4.
    * `strong_consistency`: as `EmbeddedCluster`.
    * `service_time`, `in_service`, `latency`, `seed`: how long requests take, as `EmbeddedCluster.set_conditions`.
    * `options`: further options of `python -m aerolane.testing`.
    * `start_timeout`: seconds that the start may take. Default 30.

    Raises `RuntimeError`, with what the process said, if it does not start.
    """

    def __init__(
        self,
        nodes: int = 3,
        replication_factor: int = 2,
        namespace: str | Sequence[str] = "test",
        *,
        port: int = 0,
        threads: int | None = None,
        strong_consistency: bool = False,
        service_time: str | float | Mapping[str, str | float] | None = None,
        in_service: int = 64,
        latency: str | float | None = None,
        seed: int = 0,
        options: Sequence[str] = (),
        start_timeout: float = 30.0,
    ) -> None:
        command = [sys.executable, "-m", "aerolane.testing", "--json", "--stdin"]
        command += ["--nodes", str(nodes), "--replication-factor", str(replication_factor), "--port", str(port)]
        for name in [namespace] if isinstance(namespace, str) else namespace:
            command += ["--namespace", name]
        if threads is not None:
            command += ["--threads", str(threads)]
        if strong_consistency:
            command.append("--strong-consistency")
        if service_time is not None:
            command += ["--service-time", _service_times(service_time)]
        if latency is not None:
            command += ["--latency", _time(latency)]
        command += ["--in-service", str(in_service), "--seed", str(seed)]
        command += options
        # A group of its own: Ctrl-C in a terminal is for the benchmark, which then closes the cluster.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, process_group=0
        )
        try:
            announced = self._announced(start_timeout)
            self._seeds = str(announced["seeds"])
            self._tls_seeds = str(announced["tls_seeds"])
        except BaseException:
            self._process.kill()
            self.close()
            raise

    def _announced(self, timeout: float) -> dict[str, object]:
        """What the process says of itself; until then it may only complain."""
        assert self._process.stdout is not None
        killer = threading.Timer(timeout, self._process.kill)
        killer.start()
        said = b""
        try:
            for line in self._process.stdout:
                if line.startswith(b"{"):
                    announced: dict[str, object] = json.loads(line)
                    return announced
                said += line
        finally:
            killer.cancel()
        reason = said.decode(errors="replace").strip() or f"it said nothing within {timeout} s"
        raise RuntimeError(f"the embedded cluster did not start: {reason}")

    @property
    def seeds(self) -> str:
        """Seeds of all nodes, as clients take them: `"127.0.0.1:40001,127.0.0.1:40002"`."""
        return self._seeds

    @property
    def tls_seeds(self) -> str:
        """The seeds for TLS; empty without the option `--tls-name`."""
        return self._tls_seeds

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_closed(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Ends the process and waits for its end. Closing twice does nothing."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(_END_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<EmbeddedProcess {self.pid}{', closed' if self.is_closed else f' at {self.seeds}'}>"
