"""Examine the virtual phone by programs that others wrote: `python scripts/exam.py [PROGRAM …]`.

Each program is installed from its registry into a separate environment below a temporary directory,
and runs against phones that this script starts, through a separate adb server.
The table goes into docs/virtual-phone.md, between its markers, and all results into a JSON file.
Invariant: nothing is installed outside of the temporary directory, and all that was started ends.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "virtual-phone.md"
BEGIN, END = "<!-- exam: begin -->", "<!-- exam: end -->"

sys.path.insert(0, str(ROOT))

from scripts.exams import agents, stock_adb  # noqa: E402
from scripts.exams.environments import (  # noqa: E402
    INSTALL_LIMIT_S,
    PROGRAMS,
    RUN_LIMIT_S,
    CannotSitError,
    Hall,
    Report,
    call,
    node_rows,
    python_environment,
    rows_of,
    version_of,
)

# -- programs


def bundled_adb(hall: Hall, serial: str) -> Report:
    """Examine the adb binary that adbutils carries."""
    return stock(hall, serial, hall.adb, None, "adb, as adbutils carries it")


def debian_adb(hall: Hall, serial: str) -> Report:
    """Examine Debian's adb, unpacked from its packages."""
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise CannotSitError("Debian's packages need apt and dpkg")
    folder = hall.folder / "debian"
    folder.mkdir()
    wanted, seen = ["adb"], set[str]()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        found = call(["apt-cache", "depends", "--no-recommends", "--no-suggests", name], 60).stdout
        needs = re.findall(r"Depends: ([a-z][a-z0-9.+-]+)", found)
        wanted += [one for one in needs if one.startswith("android-lib") or one == "libusb-1.0-0"]
    call(["apt-get", "download", *sorted(seen)], INSTALL_LIMIT_S, cwd=folder)
    for package in folder.glob("*.deb"):
        call(["dpkg", "-x", str(package), str(folder / "root")], 60)
    binary = next(iter(sorted((folder / "root").rglob("bin/adb"))))
    libraries = {path.parent for path in (folder / "root").rglob("*.so*")}
    joined = Path(":".join(str(path) for path in sorted(libraries)))
    return stock(hall, serial, binary.resolve(), joined, "adb, Debian's package")


def stock(hall: Hall, serial: str, binary: Path, libraries: Path | None, name: str) -> Report:
    """Examine an adb binary by a server of its own."""
    home = hall.folder / f"home-{len(list(hall.folder.glob('home-*')))}"
    try:
        with stock_adb.server(binary, libraries, home) as adb:
            adb.serial = ""
            version = adb.version()
            adb.run("connect", serial)
            adb.serial = serial
            return Report(name, version, rows=stock_adb.examine(adb))
    except RuntimeError as error:
        raise CannotSitError(str(error)) from error


def adb_shell(hall: Hall, serial: str) -> Report:
    """Examine adb-shell, which needs no server."""
    python = python_environment(hall, "adb-shell", ["adb-shell[async]"])
    rows = rows_of(
        [str(python), str(PROGRAMS / "adb_shell_client.py")], hall.environment(serial), hall.folder
    )
    return Report("adb-shell", version_of(python, "adb-shell"), rows=rows)


NO_SUCH_PART = {
    "test_device_wait_for": "waits for the device on USB; a virtual phone is on TCP",
    "test_wait_for": "waits for the device on USB; a virtual phone is on TCP",
}


def adbutils(hall: Hall, serial: str) -> Report:
    """Examine adbutils by the end-to-end tests of its source distribution."""
    python = python_environment(hall, "adbutils", ["adbutils", "pytest", "pytest-cov"])
    version = version_of(python, "adbutils")
    folder = hall.folder / "adbutils-source"
    folder.mkdir()
    call(
        [
            str(python),
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-binary",
            "adbutils",
            "-d",
            str(folder),
            f"adbutils=={version}",
        ],
        INSTALL_LIMIT_S,
    )
    with tarfile.open(next(iter(folder.glob("*.tar.gz")))) as archive:
        archive.extractall(folder, filter="data")
    tests = next(iter(folder.glob("adbutils-*/e2etests")), None)
    if tests is None:
        raise CannotSitError("the source distribution carries no end-to-end tests")
    for path in tests.glob("*.py"):
        # One file names the default server's port; it has to be the exam's.
        path.write_text(path.read_text().replace("5037", str(hall.port)))
    output = folder / "results.xml"
    subprocess.run(
        [
            str(python),
            "-m",
            "pytest",
            str(tests),
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--rootdir",
            str(tests),
            f"--junitxml={output}",
        ],
        capture_output=True,
        timeout=RUN_LIMIT_S,
        env=hall.environment(serial),
        cwd=folder,
        check=False,
    )
    if not output.exists():
        raise CannotSitError("its tests could not be run")
    from xml.etree import ElementTree

    rows = []
    for case in ElementTree.parse(output).iter("testcase"):
        name = case.get("name", "")
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        skipped = case.find("skipped")
        outcome, reason = "passed", ""
        if skipped is not None:
            outcome, reason = "not applicable", f"skipped by itself: {skipped.get('message', '')}"
        elif bad is not None and name in NO_SUCH_PART:
            outcome, reason = "not applicable", NO_SUCH_PART[name]
        elif bad is not None:
            outcome, reason = "failed", bad.get("message", "")[:300]
        rows.append({"case": name, "outcome": outcome, "reason": reason})
    return Report("adbutils, its end-to-end tests", version, rows=rows)


def uiautomator2(hall: Hall, serial: str) -> Report:
    """Examine the library uiautomator2."""
    python = python_environment(hall, "uiautomator2", ["uiautomator2==3.7.1"])
    program = str(PROGRAMS / "uiautomator2_client.py")
    rows = rows_of([str(python), program], hall.environment(serial), hall.folder)
    return Report("uiautomator2", version_of(python, "uiautomator2"), rows=rows)


TANGO = (
    "@yume-chan/adb@2.6.4",
    "@yume-chan/scrcpy@2.3.0",
    "@yume-chan/adb-scrcpy@2.3.2",
    "@yume-chan/adb-server-node-tcp@2.5.2",
    "@yume-chan/stream-extra",
)

APPIUM = "12.13.1"  # The newest whose package can be loaded by any Node since 18.


def tango(hall: Hall, serial: str) -> Report:
    """Examine the Tango packages; their video is decoded here, as Node has no decoder."""
    rows = node_rows(hall, serial, "tango", TANGO, ("tango.mjs",))
    for row in rows:
        if row.get("video"):
            pictures = decoded(hall.folder / row["video"])
            if str(pictures) != str(row["frames"]):
                row["outcome"] = "failed"
                row["reason"] = f"{row['frames']} frames were sent, {pictures} could be decoded"
    return Report("@yume-chan/adb, adb-scrcpy, adb-server-node-tcp", "2.6.4", rows=rows)


def adbkit(hall: Hall, serial: str) -> Report:
    """Examine adbkit, which device farms use."""
    package, version = "@devicefarmer/adbkit", "3.3.9"
    programs = ("adbkit_client.cjs", "cases.cjs")
    rows = node_rows(hall, serial, "adbkit", [f"{package}@{version}"], programs)
    return Report(package, version, rows=rows)


def appium(hall: Hall, serial: str) -> Report:
    """Examine appium-adb, the part of Appium that speaks to phones."""
    package, version = "appium-adb", APPIUM
    programs = ("appium_client.cjs", "cases.cjs")
    rows = node_rows(hall, serial, "appium", [f"{package}@{version}"], programs)
    return Report(package, version, rows=rows)


def ppadb(hall: Hall, serial: str) -> Report:
    """Examine pure-python-adb."""
    python = python_environment(hall, "ppadb", ["pure-python-adb"])
    rows = rows_of(
        [str(python), str(PROGRAMS / "ppadb_client.py")], hall.environment(serial), hall.folder
    )
    return Report("pure-python-adb", version_of(python, "pure-python-adb"), rows=rows)


def decoded(path: Path) -> int:
    """Return how many pictures a file of H.264 holds."""
    import av

    with av.open(str(path), format="h264") as container:
        return sum(1 for _ in container.decode(video=0))


EXAMINERS: dict[str, Callable[[Hall, str], Report]] = {
    "adb-bundled": bundled_adb,
    "adb-debian": debian_adb,
    "adb-shell": adb_shell,
    "adbutils": adbutils,
    "uiautomator2": uiautomator2,
    "tango": tango,
    "mysc-core": agents.mysc,
    "mobilerun": agents.mobilerun,
    "appium-adb": appium,
    "adbkit": adbkit,
    "ppadb": ppadb,
    "android-emu-agent": agents.android_emu_agent,
    "mobilerun-core": agents.mobilerun_core,
    "phone-harness": agents.phone_harness,
    "nexus-android": agents.nexus_android,
    "mobile-mcp": agents.mobile_mcp,
    "mobile-mcp-legacy": agents.mobile_mcp_legacy,
}


# -- the hall


@contextlib.contextmanager
def hall_for(count: int) -> Iterator[Hall]:
    """Start phones and an adb server they are connected to."""
    import adbutils as own

    binary = Path(own.__file__).parent / "binaries" / "adb"
    if not binary.exists():
        binary = Path(own.adb_path())
    with tempfile.TemporaryDirectory(prefix="phone-exam-") as name:
        folder = Path(name)
        (folder / "home").mkdir()
        phones = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "virtual_phone",
                "--home",
                str(folder / "phones"),
                "serve",
                "--count",
                str(count),
                "--until-eof",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        try:
            assert phones.stdout is not None
            serials = [json.loads(phones.stdout.readline())["serial"] for _ in range(count)]
            with stock_adb.server(binary, None, folder / "home-server") as adb:
                for serial in serials:
                    adb.run("connect", serial)
                yield Hall(folder, serials, binary, adb.port)
        finally:
            if phones.stdin is not None:
                phones.stdin.close()
            phones.wait(20)


def examine(names: list[str]) -> list[Report]:
    """Run the programs against the phone; return the results of each."""
    reports = []
    with hall_for(len(names)) as hall:
        for name, serial in zip(names, hall.serials, strict=True):
            sys.stderr.write(f"{name} …\n")
            try:
                report = EXAMINERS[name](hall, serial)
            except CannotSitError as error:
                report = Report(name, absent=str(error))
            except subprocess.TimeoutExpired:
                report = Report(name, absent="it took too long")
            reports.append(report)
            for row in report.rows:
                if row["outcome"] != "passed":
                    sys.stderr.write(f"  {row['outcome']}: {row['case']}: {row['reason']}\n")
            if report.absent:
                sys.stderr.write(f"  not run: {report.absent}\n")
    return reports


def table(reports: list[Report]) -> str:
    lines = [
        f"Made by `make exam` on {datetime.now(UTC):%Y-%m-%d}.",
        "",
        "| program | version | passed / applicable | not applicable | remarks |",
        "|---|---|---|---|---|",
    ]
    for one in reports:
        if one.absent:
            lines.append(f"| {one.program} | – | not run | – | {_cell(one.absent)} |")
            continue
        passed, failed = one.count("passed"), one.count("failed")
        remarks = [
            f"{row['outcome']}: {row['case']}" + (f" ({row['reason']})" if row["reason"] else "")
            for row in one.rows
            if row["outcome"] != "passed"
        ]
        lines.append(
            f"| {one.program} | {one.version} | {passed} / {passed + failed} | "
            f"{one.count('not applicable')} | {_cell('; '.join(remarks)) or '–'} |"
        )
    return "\n".join(lines)


def _cell(text: str) -> str:
    text = re.sub(r"(/[\w.@-]+){2,}", lambda path: path[0].rsplit("/", 1)[1], text)
    return re.sub(r"\s+", " ", text).replace("|", "\\|")[:400]


def write_page(text: str) -> None:
    """Put the table into the page, between its markers."""
    page = PAGE.read_text()
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} has no markers {BEGIN} and {END}")
    PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}")


def main() -> int:
    """Examine, write the results, and return 1 when a case failed."""
    parser = argparse.ArgumentParser(description="Examine the virtual phone by others' programs.")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(EXAMINERS))
    parser.add_argument("--json", type=Path, help="where all results go")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    options = parser.parse_args()
    names = options.programs or list(EXAMINERS)
    if unknown := [name for name in names if name not in EXAMINERS]:
        parser.error(f"no program {', '.join(unknown)}; there are {', '.join(EXAMINERS)}")
    reports = examine(names)
    text = table(reports)
    sys.stdout.write(text + "\n")
    if options.json:
        rows = [
            {
                "program": one.program,
                "version": one.version,
                "absent": one.absent,
                "cases": one.rows,
            }
            for one in reports
        ]
        options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    if not options.no_page and not options.programs:
        write_page(text)
    return int(any(one.count("failed") for one in reports))


if __name__ == "__main__":
    raise SystemExit(main())
