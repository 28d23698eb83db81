"""Two builds' verdicts on the same trials are compared, and each difference says what it is."""

from pathlib import Path

import msgspec
import pytest

from scripts.verdict_changes import changes, main, read

FIELDS = ("exercise", "model", "why", "verified_by", "verified", "completed")


def stored(path: Path, *rows: tuple[object, ...]) -> Path:

    path.write_bytes(msgspec.json.encode([dict(zip(FIELDS, row, strict=True)) for row in rows]))
    return path


def test_each_difference_says_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = stored(
        tmp_path / "before.json",
        ("a", "m", "", "nobody", False, True),
        ("b", "m", "it is off", "verifier", True, True),
        ("c", "m", "", "verifier", True, True),
        ("d", "m", "", "effects", True, True),
        ("e", "m", "it is off", "nobody", False, True),
    )
    after = stored(
        tmp_path / "after.json",
        ("a", "m", "", "effects", True, True),
        ("b", "m", "it is off", "nobody", False, True),
        ("c", "m", "", "effects", True, True),
        ("d", "m", "", "nobody", False, True),
        ("e", "m", "it is off", "effects", True, True),
    )
    found = {one.after.exercise: one.meaning for one in changes(read(before), read(after))}
    assert found == {
        "a": "a true end is confirmed now",
        "b": "a lie is not confirmed any more",
        "c": "the same, by somebody else",
        "d": "A TRUE END IS NOT NOW",
        "e": "A LIE IS CONFIRMED NOW",
    }
    assert main([str(before), str(after)]) == 0
    said = capsys.readouterr().out
    assert "| m | 5 | 3 | 3 | 1 | 1 | 1 |" in said.partition("after")[0]
    assert main([]) == 2
