"""What an exporter is, and the figures that it gets."""

from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from aerolane._aerolane import writer_figures

Snapshot: TypeAlias = dict[str, Any]
"""What `writer.metrics()` gives."""


@runtime_checkable
class WriterExporter(Protocol):
    """What `add_exporter` of a writer takes. `export` runs in a thread of its own, so it may block."""

    def export(self, snapshot: Snapshot, /) -> object:
        """Takes a snapshot. An exception is logged; after three failures in a row the exporter is suspended."""
        ...


class Figure(NamedTuple):
    """A figure of a snapshot: its name there, whether it only grows, and what it is."""

    name: str
    is_counter: bool
    help: str


def _figures(listed: list[tuple[str, str, str]]) -> list[Figure]:
    return [Figure(name, kind == "counter", text) for name, kind, text in listed]


FIGURES, NODE_FIGURES = map(_figures, writer_figures())


def missing(package: str, install: str) -> ImportError:
    """The error of an exporter whose package is not installed."""
    return ImportError(f"this exporter needs {package}: pip install {install}", name=package)
