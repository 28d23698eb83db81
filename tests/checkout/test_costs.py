"""The plugin that says where the tests' time goes counts processes and leaves out waiting."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import subprocess, sys, threading, time, pytest

def burn():
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass

BURN = [sys.executable, "-c", __import__("inspect").getsource(burn)
    .replace("def burn():", "import time\\nif True:")]

@pytest.fixture
def costly():
    burn()

@pytest.fixture(scope="module")
def server():
    with subprocess.Popen(BURN) as process:
        yield process

def test_setup(costly): pass
def test_child(): subprocess.run(BURN, check=True)
def test_waits(): threading.Event().wait(0.3)
def test_of_a_server(server): pass
"""
LAST = "def test_last(): pass\n"


def test_cpu_of_tests_fixtures_and_children_is_told_and_waiting_apart(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "test_last.py").write_text(LAST)
    words = ["-q", "-p", "tests.checkout.costs", "-p", "no:cacheprovider", "--rootdir", tmp_path]
    line = [sys.executable, "-m", "pytest", "-c", "/dev/null", *words, tmp_path]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    tables: dict[str, dict[str, float]] = {}
    for part in done.stdout.split("\n\n"):
        title, *rows = part.split("\n")
        found = re.findall(r"^ +(\d+\.\d\d)  (?:\S*::)?(\S+)", "\n".join(rows), re.MULTILINE)
        tables[title.partition(",")[0]] = {name: float(seconds) for seconds, name in found}
    cpu, waiting = tables["CPU by test"], tables["waiting by test"]
    assert cpu["test_setup"] >= 0.19 <= cpu["test_child"]
    assert cpu["test_waits"] < 0.2 and waiting["test_waits"] >= 0.29
    assert cpu["test_of_a_server"] < 0.2 and cpu["(module)"] >= 0.19, "who shares it pays together"
    assert tables["CPU by fixture"]["costly"] >= 0.19
    [everything] = re.findall(r"^all +(\d+) +(\d+\.\d) +\d+\.\d$", done.stdout, re.MULTILINE)
    assert everything[0] == "5" and float(everything[1]) >= 0.55
    assert "by workers: 1" in done.stdout
