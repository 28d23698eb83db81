"""The log file of the process that owns a data directory: warnings of the core, never a screen.

Invariants: no card number, password or key stands in it; nothing of `logging` reaches stdout or
stderr, where events and speech are; the file is bounded; a log that cannot be written is nobody's
failure.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

import msgspec

from agent.safety.redacting.let_through import letting_nothing_through
from agent.safety.redacting.redaction import redact_secrets
from agent.settings import LogForm
from console.cli_support.exits import debugging

MOST_BYTES = 1_000_000
KEPT_FILES = 3


class _Redacted(logging.Formatter):
    """A formatter that takes secrets out of the whole line, a traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        # A log is of no one session: what one lets through is taken out of it too.
        with letting_nothing_through():
            return redact_secrets(super().format(record))


class _RedactedJson(logging.Formatter):
    """A formatter that writes an object a line, without secrets in any of its texts."""

    def format(self, record: logging.LogRecord) -> str:
        failed = self.formatException(record.exc_info) if record.exc_info else ""
        at = datetime.fromtimestamp(record.created, UTC)
        with letting_nothing_through():
            # Each text by itself: in JSON's quotes a secret would not look like one.
            line = {
                "time": at.isoformat(timespec="milliseconds"),
                "level": record.levelname,
                "logger": record.name,
                "message": redact_secrets(record.getMessage()),
                **({"traceback": redact_secrets(failed)} if failed else {}),
            }
        return msgspec.json.encode(line).decode()


@contextmanager
def keep_log(data_dir: Path, form: LogForm = LogForm.TEXT) -> Iterator[None]:
    """Write the core's log to `<data_dir>/logs/switchboard.log` for the length of a block."""
    root = logging.getLogger()
    handler: logging.Handler
    try:
        folder = data_dir / "logs"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            folder / "switchboard.log",
            maxBytes=MOST_BYTES,
            backupCount=KEPT_FILES,
            encoding="utf-8",
            delay=True,
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(
        _RedactedJson()
        if form is LogForm.JSON
        else _Redacted("%(asctime)s %(levelname)s %(name)s: %(message)s")
    )
    handler.setLevel(logging.DEBUG if debugging() else logging.INFO)
    before, complains = root.level, logging.raiseExceptions
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.raiseExceptions = debugging()
    # Its clients' own talk at this level is one line for every call.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        logging.raiseExceptions = complains
        handler.close()
