"""Of the system's adb and ours the newer is taken; what cannot be compared is the operator's."""

from pathlib import Path

import pytest

from agent.devices.adb.newest_adb import newest, version_of, what_it_lacks


def an_adb(folder: Path, said: str, *, code: int = 0) -> Path:
    folder.mkdir()
    path = folder / "adb"
    path.write_text(f"#!/bin/sh\nprintf '{said}'\nexit {code}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("theirs", "ours", "is_ours"),
    [
        ("Version 29.0.6-debian\\n", "Version 36.0.0-13206524\\n", True),
        ("Version 36.0.0-1\\n", "Version 36.0.0-2\\n", False),
        ("Version 37.0.1-1\\n", "Version 36.0.0-2\\n", False),
        ("Version 9.0.6\\n", "Version 10.0.0\\n", True),
        ("something else\\n", "Version 36.0.0\\n", False),
        ("Version 29.0.6\\n", "", False),
    ],
)
def test_the_newer_one_is_taken_and_the_systems_where_that_cannot_be_known(
    tmp_path: Path, theirs: str, ours: str, is_ours: bool
) -> None:
    header = "Android Debug Bridge version 1.0.41\\n"
    system = an_adb(tmp_path / "system", header + theirs)
    bundled = an_adb(tmp_path / "bundled", header + ours)
    assert newest(system, bundled) == (bundled if is_ours else system)


def test_one_that_is_not_there_or_does_not_run_has_no_version(tmp_path: Path) -> None:
    assert version_of(tmp_path / "absent") is None
    no_program = tmp_path / "adb"
    no_program.write_text("no program")
    assert version_of(no_program) is None
    assert newest(no_program, None) == no_program


@pytest.mark.parametrize(
    ("said", "lacks"),
    [(b"Version 29.0.6-debian\n", True), (b"Version 36.0.0-13206524\n", False), (b"adb\n", False)],
)
def test_an_old_adb_is_told_of_with_what_it_lacks(said: bytes, lacks: bool) -> None:
    assert ("pair" in what_it_lacks(said)) is lacks
