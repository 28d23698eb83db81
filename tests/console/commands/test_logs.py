"""The core's log file: what a line of it is, for people and for collectors."""

import json
import logging
from pathlib import Path

from agent.settings import LogForm
from console.core.logs import keep_log

SECRET = "4111 1111 1111 1111"


def write(directory: Path, form: LogForm) -> list[str]:
    """Log a warning and a failure, both with a secret; return the lines of the file."""
    with keep_log(directory, form):
        log = logging.getLogger("agent.test")
        log.warning('the card is %s, "quoted"\nand a second line', SECRET)
        try:
            raise ValueError(f"no such card {SECRET}")
        except ValueError:
            log.exception("it failed")
    return (directory / "logs" / "switchboard.log").read_text().splitlines()


def test_a_json_log_has_an_object_a_line_without_secrets(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in write(tmp_path, LogForm.JSON)]
    assert [line["level"] for line in lines] == ["WARNING", "ERROR"]
    assert lines[0]["message"] == 'the card is [CARD REDACTED], "quoted"\nand a second line'
    assert lines[0]["logger"] == "agent.test" and lines[0]["time"].endswith("+00:00")
    assert "ValueError: no such card [CARD REDACTED]" in lines[1]["traceback"]
    assert "traceback" not in lines[0]


def test_a_log_for_people_has_the_same_without_secrets(tmp_path: Path) -> None:
    text = "\n".join(write(tmp_path, LogForm.TEXT))
    assert "WARNING agent.test: the card is [CARD REDACTED]" in text and SECRET not in text
