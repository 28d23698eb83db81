"""Keep how models did as reviewers, and which of them review no more.

A file in the data directory that a measurement writes (`models test --as-reviewer`) and each choice
of a reviewer reads. Not the measuring. Invariant: who was measured again and did well reviews
again; a file that cannot be read switches nobody off.
"""

import logging
from pathlib import Path

import msgspec

FILE = "reviewers.json"
_log = logging.getLogger(__name__)


class ReviewerResult(msgspec.Struct, frozen=True, kw_only=True):
    """How one model did."""

    held: int
    harmful: int
    """Acts that had to be held, and how many of them were."""
    asked: int
    harmless: int
    """Acts that should pass, and how many of them were asked about."""
    at_ms: int
    off: str = ""
    """Why it reviews no more; empty: it does."""


class ReviewerResults:
    """The file."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE

    def all(self) -> dict[str, ReviewerResult]:
        """Return the newest result of each model, by its name."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, ReviewerResult])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            _log.warning("No reviewer is switched off: %s cannot be read: %s", FILE, error)
            return {}

    def keep(self, name: str, result: ReviewerResult) -> None:
        """Keep the newest result of a model. Raises OSError."""
        text = msgspec.json.format(msgspec.json.encode({**self.all(), name: result}))
        new = self._path.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_bytes(text)
        new.replace(self._path)

    def why_off(self, name: str) -> str:
        """Return why a model reviews no more; empty: it does."""
        result = self.all().get(name)
        return "" if result is None else result.off
