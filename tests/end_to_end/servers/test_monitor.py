"""`switchboard monitor` beside a daemon: what Prometheus and a collector get of a session."""

import gzip
import signal
import threading
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.end_to_end.harness import Workshop, serving, wait_until
from tests.end_to_end.test_daemon import daemon

pytestmark = pytest.mark.slow

GOAL = "open Settings"


@contextmanager
def collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """Serve what takes OTLP; yields its address and what came, by path."""
    came: list[tuple[str, bytes]] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            match self.headers.get("Content-Encoding", ""):
                case "gzip":
                    body = gzip.decompress(body)
                case "deflate":
                    body = zlib.decompress(body)
            came.append((self.path, body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", came
        finally:
            server.shutdown()
            thread.join()


def scrape(address: str, token: str) -> str:
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.read().decode())


@contextmanager
def monitoring(workshop: Workshop, *words: str) -> Iterator[str]:
    """Run the command, and end it with ctrl+c; yields the address that it prints."""
    with serving(workshop, "monitor", "--port", "0", *words) as (address, process):
        assert address.endswith("/metrics")
        yield address
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0 and "Following the core." in said, said


def test_a_session_is_seen_by_prometheus_and_by_a_collector(workshop: Workshop) -> None:
    with collector() as (otlp, came), daemon(workshop, "--phones", "1"):
        with monitoring(workshop, "--otlp", otlp) as address:
            token = (workshop.data / "metrics-token").read_text().strip()
            wait_until(lambda: "switchboard_core_up 1.0" in scrape(address, token), "it follows")
            for wrong in ("", "x" * 20):
                with pytest.raises(urllib.error.HTTPError) as refused:
                    scrape(address, wrong)
                assert refused.value.code == 401
            done = workshop.call("run", GOAL, "--trust-model")
            assert done.code == 0, done
            wait_until(
                lambda: 'ended_total{state="COMPLETED"} 1.0' in scrape(address, token), "counted"
            )
            page = scrape(address, token)
        assert 'switchboard_phones{state="device"} 1.0' in page
    traces = [ExportTraceServiceRequest.FromString(body) for path, body in came if "traces" in path]
    spans = [
        span
        for request in traces
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    names = {span.name.split()[0] for span in spans}
    assert {"invoke_agent", "step", "execute_tool"} <= names
    metrics = [
        ExportMetricsServiceRequest.FromString(body) for path, body in came if "metrics" in path
    ]
    assert "switchboard.steps" in str(metrics)
    assert GOAL not in f"{page}{traces}{metrics}"
