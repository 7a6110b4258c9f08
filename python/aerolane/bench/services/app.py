"""The service: FastAPI on uvicorn, one process, one client.

A request names a user; the service reads the records of candidates in nine sets, and answers with sums over their
features (`/features`) or with the best candidates that a model finds (`/predict`). The time of each stage is a
Prometheus histogram at `/metrics`.
"""

import asyncio
import contextlib
import importlib
import os
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

from aerolane.bench.process import Usage, peak_rss_bytes, raise_file_limit
from aerolane.bench.services.features import SETS, numbers, records
from aerolane.bench.services.model import Model
from aerolane.bench.services.readers import Reader, Row
from aerolane.bench.spec import RunSpec

# Stages of a request, and what is measured for the whole of it.
STAGES = ("keys", "read", "features", "inference", "request")
STAGE_METRIC = "stage_duration_seconds"
# From 10 µs to 10 s in steps of a tenth part: what is read from them is right to 5 %.
BUCKETS = tuple(1e-5 * 1.1**step for step in range(146))
BEST = 10


class Stages:
    """The histograms of the stages, and what the process has used."""

    def __init__(self) -> None:
        import prometheus_client

        self._as_text = prometheus_client.generate_latest
        self._registry = prometheus_client.CollectorRegistry()
        histogram = prometheus_client.Histogram(
            STAGE_METRIC, "Time of a stage of a request.", ["stage"], buckets=BUCKETS, registry=self._registry
        )
        self._stages = {name: histogram.labels(stage=name) for name in STAGES}
        self.failures = prometheus_client.Counter(
            "failures", "Requests that could not be answered.", ["error"], registry=self._registry
        )
        gauges: dict[str, Any] = {
            "service_cpu_seconds": lambda: Usage.now().total,
            "service_voluntary_switches": lambda: Usage.now().voluntary_switches,
            "service_involuntary_switches": lambda: Usage.now().involuntary_switches,
            "service_peak_rss_bytes": peak_rss_bytes,
        }
        for name, value in gauges.items():
            prometheus_client.Gauge(name, "Of this process.", registry=self._registry).set_function(value)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Times what is done in it."""
        began = time.perf_counter()
        yield
        self._stages[name].observe(time.perf_counter() - began)

    def text(self) -> bytes:
        """All metrics, for Prometheus."""
        text: bytes = self._as_text(self._registry)
        return text


class Service:
    """What the endpoints do."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.stages = Stages()
        self._reader = Reader(spec.mode)
        self._among = records(spec)
        self._model = Model() if spec.program.startswith("predict-") else None

    async def open(self) -> None:
        """Connects the client."""
        await self._reader.connect(self.spec)

    async def close(self) -> None:
        """Ends it."""
        await self._reader.close()

    async def answer(self, user: int) -> dict[str, Any]:
        """What a user gets."""
        stage = self.stages.stage
        with stage("request"):
            with stage("keys"):
                asked = numbers(user, self.spec.batch, self._among)
                keys = [self._reader.keys(self.spec.namespace, name, asked) for name in SETS]
            with stage("read"):
                sets = await self._read(keys)
            if self._model is None:
                with stage("features"):
                    found = [sum(row["d0"] for row in rows if row) for rows in sets]
                return {"user": user, "sets": found}
            with stage("features"):
                dense, categories = self._model.features(sets)
            with stage("inference"):
                scores = self._model.scores(dense, categories)
                best = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)[:BEST]
        return {"user": user, "best": [{"candidate": asked[place], "score": scores[place]} for place in best]}

    async def _read(self, keys: list[list[Any]]) -> list[list[Row]]:
        """The rows of all sets."""
        reader, size = self._reader, self.spec.batch
        if self.spec.program.endswith("single"):
            # The keys of all sets in one batch.
            rows = reader.rows(await reader.read([key for part in keys for key in part]))
            return [rows[begin : begin + size] for begin in range(0, len(rows), size)]
        if self.spec.program.endswith("merge"):
            # A batch for each set; bins are made of the answers once all are there.
            return [reader.rows(answer) for answer in await asyncio.gather(*map(reader.read, keys))]

        async def one(part: list[Any]) -> list[Row]:
            return reader.rows(await reader.read(part))

        # A batch for each set, each looked at as it comes.
        return list(await asyncio.gather(*map(one, keys)))


def make(service: Service) -> Any:
    """The application."""
    import fastapi

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        await service.open()
        yield
        await service.close()

    app = fastapi.FastAPI(lifespan=lifespan, openapi_url=None)

    @app.get("/predict" if service.spec.program.startswith("predict-") else "/features")
    async def answer(user: int) -> Any:
        try:
            return await service.answer(user)
        except Exception as error:
            # The database is slow or away: callers may come again.
            service.stages.failures.labels(error=type(error).__name__).inc()
            return fastapi.responses.JSONResponse({"detail": str(error)}, 503)

    @app.get("/metrics")
    async def metrics() -> Any:
        return fastapi.responses.Response(service.stages.text(), media_type="text/plain")

    return app


def main() -> None:
    """Serves what the line on stdin asks for. Says the port on stdout; ends when stdin is closed."""
    uvicorn: Any = importlib.import_module("uvicorn")
    raise_file_limit()
    spec = RunSpec.from_json(sys.stdin.readline())
    listener = socket.create_server(("127.0.0.1", 0), backlog=2_048)
    loop = "asyncio" if spec.loop == "asyncio" else "auto"
    config = uvicorn.Config(
        make(Service(spec)), log_level="warning", access_log=False, loop=loop, timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)

    def ends_with_stdin() -> None:
        # Not through the buffer of `sys.stdin`: its lock would hold up the end of the program.
        while os.read(0, 1):
            pass
        server.should_exit = True

    threading.Thread(target=ends_with_stdin, name="stdin", daemon=True).start()
    print(listener.getsockname()[1], flush=True)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(server.serve(sockets=[listener]))
    sys.exit(0 if server.started else 1)


if __name__ == "__main__":
    main()
