"""Exporters of what a writer counts, for `writer.add_exporter(exporter, interval)`. Five that ship:

* `InMemory`: the last snapshots, to be looked at
* `Logging`: a line of `logging` for each
* `JsonLines`: a line of JSON for each, on request in CloudWatch's embedded metric format
* `Prometheus`: metrics of `prometheus_client`
* `OpenTelemetry`: instruments of `opentelemetry`

The last two need their packages, and say so if they are missing. Each exporter is called on a thread of its own: one
that fails or blocks costs no record. Any object with a method `export(snapshot)` is one, too.
"""

from aerolane.exporters.exporter import Snapshot, WriterExporter
from aerolane.exporters.json_lines import JsonLines
from aerolane.exporters.log import Logging
from aerolane.exporters.memory import InMemory
from aerolane.exporters.otel import OpenTelemetry
from aerolane.exporters.prometheus import Prometheus

__all__ = ["InMemory", "JsonLines", "Logging", "OpenTelemetry", "Prometheus", "Snapshot", "WriterExporter"]
