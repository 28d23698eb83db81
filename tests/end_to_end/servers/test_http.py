"""The lines of docs/http.md, as a shell runs them, against the server as a person starts it."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.adb import free_port
from tests.end_to_end.harness import Workshop, base_environment, end_all_of, serving
from tests.end_to_end.test_daemon import daemon

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[3] / "docs" / "http.md"
EXAMPLES = re.findall(
    r"^([^\n]+):\n\n```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.M | re.S
)


@contextmanager
def served(workshop: Workshop) -> Iterator[str]:
    """Run the command; yields the address that it prints."""
    with serving(workshop, "serve", "--http", "--port", "0") as (address, _):
        yield address


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workshop, str]]:
    folder = tmp_path_factory.mktemp("http")
    environment = base_environment(folder)
    environment["ADB_SERVER_SOCKET"] = f"tcp:127.0.0.1:{free_port()}"
    workshop = Workshop(folder / "data", environment)
    try:
        with daemon(workshop, "--phones", "2"), served(workshop) as address:
            yield workshop, address
    finally:
        end_all_of(folder / "data")


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl")
@pytest.mark.parametrize(("title", "lines"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_an_example_does_what_it_says(
    door: tuple[Workshop, str], tmp_path: Path, title: str, lines: str
) -> None:
    workshop, address = door
    token = (workshop.data / "http-token").read_text().strip()
    run = subprocess.run(
        ["bash", "-eu", "-c", lines],
        cwd=tmp_path,
        env={
            **workshop.environment,
            "AUTH": f"Authorization: Bearer {token}",
            "URL": f"{address}/v1",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0 and run.stdout.strip(), f"{title}\n{run.stdout}\n{run.stderr}"


def test_the_server_keeps_to_its_document(door: tuple[Workshop, str], tmp_path: Path) -> None:
    workshop, address = door
    token = (workshop.data / "http-token").read_text().strip()
    left_out = ["shutdown", "events", "deltas", "leave"]
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "run"),
        f"{address}/v1/openapi.json",
        *("-H", f"Authorization: Bearer {token}", "--max-examples", "3", "--seed", "1"),
        *("--checks", "not_a_server_error,status_code_conformance,content_type_conformance"),
        *("--checks", "response_schema_conformance"),
        *("--phases", "examples,coverage,fuzzing", "--workers", "1"),
        *(f"--exclude-operation-id={one}" for one in left_out),
    ]
    run = subprocess.run(
        command,
        cwd=tmp_path,
        env={**workshop.environment},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert run.returncode == 0, f"{shlex.join(command)}\n{run.stdout[-6000:]}\n{run.stderr[-2000:]}"
