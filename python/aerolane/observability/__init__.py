"""Shows what clients and clusters measure to Prometheus and OpenTelemetry.

    client.enable_metrics(MetricsPolicy(latency_unit=LatencyUnit.MICROSECONDS, latency_columns=24, operational=True))
    PrometheusCollector(client)  # an HTTP server of prometheus_client shows the metrics

Both classes take a snapshot when somebody asks for metrics, so there is no interval to set, and nothing runs in
between. `trace_session(session)` returns a session that records an OpenTelemetry span for each operation; other
sessions record nothing and pay nothing.

They need `prometheus-client` or `opentelemetry-api`, and raise an `ImportError` that says so if the package is missing.
For writers, see `aerolane.exporters`.
"""

from aerolane.observability.otel import OpenTelemetryInstruments
from aerolane.observability.prometheus import PrometheusCollector
from aerolane.observability.source import MetricsSource
from aerolane.observability.tracing import trace_session

__all__ = ["MetricsSource", "OpenTelemetryInstruments", "PrometheusCollector", "trace_session"]
