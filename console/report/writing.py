"""The kinds of files that a session can be written as, and the writing of each."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from agent.sessions.rollout.rollout_write import export_rollout
from console.report.movie import Film, write_movie
from console.report.page import write_report
from console.report.recorded import Source


class Kind(StrEnum):
    """What a session can be written as."""

    PAGE = "an HTML page"
    MP4 = "an MP4"
    GIF = "a GIF"
    ROLLOUT = "a rollout"

    @property
    def suffix(self) -> str:
        """What its files end in."""
        return {Kind.PAGE: "html", Kind.MP4: "mp4", Kind.GIF: "gif", Kind.ROLLOUT: "jsonl"}[self]

    @property
    def mime_type(self) -> str:
        """What a browser calls it."""
        return {
            Kind.PAGE: "text/html",
            Kind.MP4: "video/mp4",
            Kind.GIF: "image/gif",
            Kind.ROLLOUT: "application/jsonl",
        }[self]


async def write(
    source: Source, session_id: str, place: Path, kind: Kind, told: Callable[[int, int], None]
) -> None:
    """Write a session to a file that is not there yet.

    Raises:
        UsageError: it has nothing for this kind of file.
        StoreError: the file cannot be written.
    """
    match kind:
        case Kind.PAGE:
            await write_report(source, session_id, place, told=told)
        case Kind.MP4:
            await write_movie(source, session_id, place, film=Film.MP4, told=told)
        case Kind.GIF:
            await write_movie(source, session_id, place, film=Film.GIF, told=told)
        case Kind.ROLLOUT:
            await export_rollout(source, session_id, place)
        case _:
            assert_never(kind)
