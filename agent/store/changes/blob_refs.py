"""List the blobs that an event names; a blob is kept while an event names it. Pure.

Invariant: every digest in a stored record is found; a test compares this with the records' fields.
"""

import re
from typing import NamedTuple

from agent import protocol
from agent.errors import UsageError
from agent.records import Frame

NAMING = frozenset(
    {
        protocol.ObservationRecorded,
        protocol.RequestUserInput,
        protocol.ResultPublished,
        protocol.ToolCallRequested,
        protocol.VerificationRecorded,
    }
)
"""Known at once, because every event passes here before it is stored."""


_TREE = "application/xml"
DIGEST = re.compile(r"[0-9a-f]{64}")


def check_digest(digest: str) -> None:
    """Raise UsageError unless this is a sha256 in lower-case hex."""
    if not DIGEST.fullmatch(digest):
        raise UsageError(f"{digest[:80]!r} is not a blob digest (64 hexadecimal digits).")


class Use(NamedTuple):
    """A blob that an event names, and its kind."""

    digest: str
    media_type: str


def uses_of(msg: protocol.EventMsg) -> tuple[Use, ...]:
    """List the blobs that an event names."""
    uses: tuple[Use, ...] = ()
    match msg:
        case protocol.ObservationRecorded(observation=seen):
            uses = (_frame(seen.frame), Use(seen.tree_digest, _TREE))
        case protocol.ToolCallRequested():
            uses = tuple(
                Use(digest, "application/json") for digest in (msg.prompt_digest, msg.reply_digest)
            )
        case protocol.RequestUserInput(question=question) if question.subject is not None:
            uses = (_frame(question.subject.frame),)
        case protocol.VerificationRecorded(verification=verification):
            pointed = (one for each in verification.requirements for one in each.evidence)
            uses = tuple(Use(one.digest, _TREE) for one in (*verification.evidence, *pointed))
        case protocol.ResultPublished(sources=sources):
            uses = tuple(Use(one.digest, _TREE) for one in sources)
        case _:
            pass
    return tuple(use for use in uses if use.digest)


def digests_of(msg: protocol.EventMsg) -> tuple[str, ...]:
    """List the digests of the blobs that an event names."""
    if type(msg) not in NAMING:
        return ()
    return tuple(use.digest for use in uses_of(msg))


def _frame(frame: Frame | None) -> Use:
    return Use(frame.digest, frame.media_type) if frame is not None else Use("", "")
