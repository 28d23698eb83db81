"""The queries of the dashboard, asked of a real Prometheus that scrapes a session which fails."""

import asyncio
import json
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from agent import protocol, records
from agent.errors import ErrorKind
from console.monitoring.endpoint import serving_metrics
from console.monitoring.exporting import exporting
from console.monitoring.metrics import Metrics
from support.adb import free_port
from tests.monitoring.facts import BEGAN_MS, Facts, a_session

TOKEN = "a-token-that-is-long-enough"
PROMETHEUS = shutil.which("prometheus")
_EVER = 60.0


def queries() -> dict[str, list[str]]:
    """Return what each panel asks, for every instance."""
    board = json.loads((files("console.monitoring") / "dashboard.json").read_text())
    return {
        panel["title"]: [
            target["expr"].replace("$instance", ".*") for target in panel.get("targets", [])
        ]
        for panel in board["panels"]
    }


async def test_the_page_is_where_a_scraper_without_redirects_asks() -> None:
    async with serving_metrics(CollectorRegistry(), TOKEN, port=0) as address:
        for path in (address, f"{address}/"):
            asked = urllib.request.Request(path, headers={"Authorization": f"Bearer {TOKEN}"})
            opener = urllib.request.build_opener(_NoRedirects())
            answer = await asyncio.to_thread(opener.open, asked, timeout=30)
            assert (answer.status, answer.url) == (200, path)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@contextmanager
def prometheus(folder: Path, address: str) -> Iterator[str]:
    """Run one that scrapes an address every second; yields where it is asked."""
    (folder / "token").write_text(TOKEN)
    where = urllib.parse.urlsplit(address)
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s}\n"
        "scrape_configs:\n"
        "  - job_name: switchboard\n"
        f"    authorization: {{credentials_file: {folder / 'token'}}}\n"
        f"    metrics_path: {where.path}\n"
        "    follow_redirects: false\n"
        f"    static_configs: [{{targets: ['{where.netloc}']}}]\n"
    )
    port = free_port()
    assert PROMETHEUS is not None
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                PROMETHEUS,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(_EVER)


def ask(url: str, query: str) -> list[Any]:
    words = urllib.parse.urlencode({"query": query})
    with urllib.request.urlopen(f"{url}/api/v1/query?{words}", timeout=30) as answer:
        said = json.load(answer)
    assert said["status"] == "success", said
    return list(said["data"]["result"])


async def until_scraped(url: str, query: str, value: float) -> None:
    until = time.monotonic() + _EVER
    while time.monotonic() < until:
        try:
            found = await asyncio.to_thread(ask, url, query)
        except OSError:
            found = []
        if found and float(found[0]["value"][1]) == value:
            return
        await asyncio.sleep(0.2)
    raise AssertionError(f"{query} did not become {value}")


@pytest.mark.slow
@pytest.mark.skipif(PROMETHEUS is None, reason="Prometheus is not installed")
async def test_one_failure_is_one_on_every_panel_that_counts_it(tmp_path: Path) -> None:
    ended = 'switchboard_sessions_ended_total{state="FAILED"}'
    with exporting(version="1", instance="here") as export:
        metrics = Metrics(export.meter, lambda: (BEGAN_MS + 2000) / 1000)
        metrics.is_up = True
        async with serving_metrics(export.registry, TOKEN, port=0) as address:
            with prometheus(tmp_path, address) as url:
                await until_scraped(url, f"count_over_time({ended}[1m])", 3)
                facts = Facts(session_id="s1-failed")
                phone = records.DeviceInfo(serial="p1", state=records.DeviceState.ONLINE)
                facts.add(
                    protocol.DeviceChanged(device=phone),
                    protocol.ErrorEvent(message="x", kind=ErrorKind.MODEL),
                    protocol.SessionStateChanged(state=records.SessionState.FAILED),
                )
                for event in (*a_session().events[:-1], *facts.events):
                    metrics.take(event, is_live=True)
                await until_scraped(url, ended, 1)
                await until_scraped(url, f"count_over_time({ended}[1m])", 8)
                asked = queries()
                found = {
                    title: [await asyncio.to_thread(ask, url, one) for one in exprs]
                    for title, exprs in asked.items()
                }
    [[failed]] = found["Failed, last 24 h"]
    assert failed["value"][1] == "1"
    [[up]] = found["Core"]
    assert up["value"][1] == "1"
    trouble = {row["metric"]["kind"]: float(row["value"][1]) for row in found["Trouble"][0]}
    assert round(trouble["model"]) == 1
    assert {one for kind, one in trouble.items() if kind != "model"} == {0.0}
    empty = [title for title, results in found.items() if not any(results)]
    assert empty == [], "a panel asks for what is not there"
