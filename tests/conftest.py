"""For every test: an environment that is nobody's, and random data judged by what it shows."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

_PROXIES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
_LOOKS = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"}
# `.ci/run` says it to the tests themselves: to fail where a program that they drive is absent.
_KEPT = {"SWITCHBOARD_NEEDS_ALL"}
_OWNERS = ("SWITCHBOARD_", "OPENAI_", "AZURE_OPENAI_", "ADB_", "ANDROID_", "TEXTUAL_")

# Before anything reads them: what the machine, its network and the person at it have set would
# decide what a test finds, and so would it for every process that a test starts.
for _name in os.environ.keys() - _KEPT:
    if _name in _LOOKS or _name.lower() in _PROXIES or _name.startswith(_OWNERS):
        del os.environ[_name]

# On a machine that is busy, one example may take any time, and so may drawing its data.
settings.register_profile(
    "switchboard",
    parent=settings(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("switchboard")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why a test failed that passed at another try: its name alone leaves nothing to mend."""
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"failed once: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
