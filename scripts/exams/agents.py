"""Examiners of programs that let an agent drive a phone: libraries, command lines, MCP servers.

Versions are pinned: what is examined is what was read when the cases were written.
Invariant: what a program starts ends with its cases.
"""

import subprocess
import sys

from scripts.exams.environments import (
    PROGRAMS,
    Hall,
    Report,
    node_environment,
    python_environment,
    rows_of,
    sdk,
)

EMU_AGENT, NEXUS, MYSC = "0.2.1", "0.16.2", "1.0.1"
MOBILERUN_CORE, MOBILERUN_LOCAL = "1.10.1", "0.7.1"
PHONE_HARNESS, MOBILE_MCP = "0.3.2", "1.0.4"


def _path(hall: Hall) -> str:
    """Return a PATH on which adb is the exam's."""
    return f"{sdk(hall) / 'platform-tools'}:{hall.environment('')['PATH']}"


def _rows(hall: Hall, serial: str, words: list[str], **more: str) -> list[dict[str, str]]:
    environment = hall.environment(serial) | {
        "PATH": _path(hall),
        "ANDROID_HOME": str(sdk(hall)),
        **more,
    }
    return rows_of(words, environment, hall.folder)


def mysc(hall: Hall, serial: str) -> Report:
    """Examine mysc-core, a client of scrcpy's server."""
    python = python_environment(hall, "mysc", [f"mysc-core=={MYSC}", "numpy"], (3, 12))
    rows = _rows(hall, serial, [str(python), str(PROGRAMS / "mysc_client.py")])
    return Report("mysc-core", MYSC, rows=rows)


def mobilerun(hall: Hall, serial: str) -> Report:
    """Examine the adb driver of mobilerun, which is a package of its own."""
    python = python_environment(hall, "mobilerun", [f"mobilerun-core-local=={MOBILERUN_LOCAL}"])
    rows = _rows(hall, serial, [str(python), str(PROGRAMS / "mobilerun_client.py")])
    name = "mobilerun's adb driver (mobilerun-core-local)"
    return Report(name, MOBILERUN_LOCAL, rows=rows)


def android_emu_agent(hall: Hall, serial: str) -> Report:
    """Examine android-emu-agent: its daemon, driven by its command line."""
    python = python_environment(hall, "emu-agent", [f"android-emu-agent=={EMU_AGENT}"])
    try:
        rows = _rows(hall, serial, [str(python), str(PROGRAMS / "android_emu_agent_client.py")])
    finally:  # Its daemon outlives its cases where they take too long.
        stop = [str(python.with_name("android-emu-agent")), "daemon", "stop"]
        subprocess.run(stop, env=hall.environment(serial), capture_output=True, check=False)
    return Report("android-emu-agent", EMU_AGENT, rows=rows)


def mobilerun_core(hall: Hall, serial: str) -> Report:
    """Examine mobilerun-core, the facade over mobilerun's drivers."""
    packages = [
        f"mobilerun-core[local]=={MOBILERUN_CORE}",
        f"mobilerun-core-local=={MOBILERUN_LOCAL}",
    ]
    python = python_environment(hall, "mobilerun-core", packages)
    rows = _rows(hall, serial, [str(python), str(PROGRAMS / "mobilerun_core_client.py")])
    return Report("mobilerun-core, over adb without its Portal app", MOBILERUN_CORE, rows=rows)


def phone_harness(hall: Hall, serial: str) -> Report:
    """Examine the helpers of phone-harness; its telemetry and its update check are off."""
    python = python_environment(hall, "phone-harness", [f"phone-harness=={PHONE_HARNESS}"])
    rows = _rows(
        hall,
        serial,
        [str(python), str(PROGRAMS / "phone_harness_client.py")],
        PHONE_HARNESS_PLATFORM="android",
        PHONE_HARNESS_ADB=str(hall.adb),
        PHONE_HARNESS_HOME=str(hall.folder / "phone-harness"),
        PHONE_HARNESS_TELEMETRY="0",
        PHONE_HARNESS_NO_UPDATE_CHECK="1",
    )
    return Report("phone-harness", PHONE_HARNESS, rows=rows)


def nexus_android(hall: Hall, serial: str) -> Report:
    """Examine nexus-android's MCP server."""
    python = python_environment(hall, "nexus", [f"nexus-android=={NEXUS}"], (3, 12))
    server = str(python.with_name("nexus-android"))
    rows = _rows(hall, serial, [sys.executable, str(PROGRAMS / "nexus_client.py"), server])
    return Report("nexus-android, its MCP server", NEXUS, rows=rows)


def mobile_mcp(hall: Hall, serial: str) -> Report:
    """Examine mobile-mcp in its usual way, by the program mobilecli."""
    return _mobile_mcp(hall, serial, "mobilecli", "@mobilenext/mobile-mcp, by mobilecli")


def mobile_mcp_legacy(hall: Hall, serial: str) -> Report:
    """Examine mobile-mcp with MOBILEMCP_LEGACY_ROBOT=1: only adb commands."""
    return _mobile_mcp(hall, serial, "legacy", "@mobilenext/mobile-mcp, by adb commands alone")


def _mobile_mcp(hall: Hall, serial: str, robot: str, name: str) -> Report:
    package = "@mobilenext/mobile-mcp"
    folder = node_environment(hall, f"mobile-mcp-{robot}", [f"{package}@{MOBILE_MCP}"])
    for binary in folder.glob("node_modules/@mobilenext/mobilecli-*/mobilecli-*"):
        binary.chmod(0o755)  # The package's own install script does it, and none is run here.
    script = str(folder / "node_modules" / package / "lib" / "index.js")
    program = str(PROGRAMS / "mobile_mcp_client.py")
    rows = _rows(hall, serial, [sys.executable, program, robot, "node", script])
    return Report(name, MOBILE_MCP, rows=rows)
