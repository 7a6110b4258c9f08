"""Exporters for the metrics of a writer: `writer.add_exporter(exporter, interval)`.

* `InMemory`: keeps the last snapshots
* `Logging`: logs a line for each snapshot
* `JsonLines`: writes a line of JSON for each snapshot, also in CloudWatch's embedded metric format
* `Prometheus`: shows metrics to `prometheus_client`
* `OpenTelemetry`: shows instruments to `opentelemetry`

The last two need their packages, and raise an `ImportError` that says so. Each exporter runs in a thread of its own:
if it fails or blocks, the writer goes on. Any object with a method `export(snapshot)` is an exporter.
"""

from aerolane.exporters.exporter import Snapshot, WriterExporter
from aerolane.exporters.json_lines import JsonLines
from aerolane.exporters.log import Logging
from aerolane.exporters.memory import InMemory
from aerolane.exporters.otel import OpenTelemetry
from aerolane.exporters.prometheus import Prometheus

__all__ = ["InMemory", "JsonLines", "Logging", "OpenTelemetry", "Prometheus", "Snapshot", "WriterExporter"]
