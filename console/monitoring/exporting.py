"""What metrics and traces are handed to: an endpoint to scrape, a collector over OTLP.

The protocols, their retries and their bounds are OpenTelemetry's SDK's. Invariant: nothing is sent
to anywhere but the collector that the operator named.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import Meter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import NoOpTracer, Tracer
from prometheus_client import CollectorRegistry

from agent.safety.redacting.redaction import redact_secrets
from agent.text import clean

INTERVAL_S = 15.0  # How often a collector gets the metrics; Prometheus asks when it likes.
SEND_S = 10.0  # How long one delivery to a collector may take.
FLUSH_S = 5.0  # How long the end waits for the last delivery.
_LINE_CHARS = 300


@dataclass(frozen=True)
class Exporting:
    """Where events go as measurements."""

    meter: Meter
    tracer: Tracer
    registry: CollectorRegistry  # What Prometheus is shown.


@contextmanager
def exporting(*, version: str, instance: str, otlp: str = "") -> Iterator[Exporting]:
    """Export for the length of a `with` block.

    Args:
        version: of Switchboard.
        instance: what tells this core from others, as a host's name.
        otlp: the collector's address, as http://127.0.0.1:4318; empty: there is none, and no
            traces are made.
    """
    resource = Resource.create(
        {"service.name": "switchboard", "service.version": version, "service.instance.id": instance}
    )
    registry = CollectorRegistry()
    readers: list[MetricReader] = [
        PrometheusMetricReader(scope_info_enabled=False, registry=registry)
    ]
    base = otlp.rstrip("/")
    tracing: TracerProvider | None = None
    if otlp:
        metrics_to = OTLPMetricExporter(endpoint=f"{base}/v1/metrics", timeout=SEND_S)
        readers.append(
            PeriodicExportingMetricReader(
                metrics_to,
                export_interval_millis=INTERVAL_S * 1000,
                export_timeout_millis=SEND_S * 1000,
            )
        )
        tracing = TracerProvider(resource=resource, shutdown_on_exit=False)
        spans_to = OTLPSpanExporter(endpoint=f"{base}/v1/traces", timeout=SEND_S)
        tracing.add_span_processor(BatchSpanProcessor(spans_to))
    measuring = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
    name = "switchboard"
    try:
        yield Exporting(
            measuring.get_meter(name, version),
            NoOpTracer() if tracing is None else tracing.get_tracer(name, version),
            registry,
        )
    finally:
        if tracing is not None:
            tracing.force_flush(int(FLUSH_S * 1000))
            tracing.shutdown()
        measuring.shutdown(FLUSH_S * 1000)


class OneLine(logging.Handler):
    """Print what the SDK complains of in one line, and the same only once.

    An unreachable collector is told of at every delivery, with a traceback.

    Args:
        say: shows a line to the operator.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._say = say
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[1] if record.exc_info else None
        key = f"{record.name}:{record.lineno}:{type(cause).__name__}"
        if key in self._said:
            return
        self._said.add(key)
        told = clean(record.getMessage()) + (f" ({type(cause).__name__})" if cause else "")
        if record.name.startswith("opentelemetry.exporter"):
            told = f"The collector did not take what was sent; it is tried again. {told}"
        self._say(redact_secrets(told[:_LINE_CHARS]))


@contextmanager
def complaining(say: Callable[[str], None]) -> Iterator[None]:
    """Show the SDK's complaints as lines for the length of a `with` block."""
    log, handler = logging.getLogger("opentelemetry"), OneLine(say)
    propagates, log.propagate = log.propagate, False
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = propagates
