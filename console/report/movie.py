"""Make a film of a stored session: a frame for each step, with what was done below it.

Not the encoding (`console.report.pictures`). Invariant: steps whose frame is gone are left out and
counted, never drawn blank.
"""

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from agent.errors import StoreError, UsageError
from agent.records import Session
from agent.state.reducer import StepItem
from agent.text import one_line
from console.report.captions import Caption
from console.report.gestures import gestures_of
from console.report.pictures import Progress, Still, write_gif, write_mp4
from console.report.recorded import Source, read_recorded
from widgets.base.formatting import action_object, action_verb, clock

MOVIE_WIDTH_PX = 360
_LEAST_MS, _MOST_MS = 400, 3_000
MOST_FRAMES = 2_000


class Film(StrEnum):
    """How a film is written."""

    GIF = "gif"
    MP4 = "mp4"


class Filmed(NamedTuple):
    """What was written."""

    path: Path
    frames: int
    missing: int


async def write_movie(
    source: Source, session_id: str, path: Path, *, film: Film, told: Progress, speed: float = 1.0
) -> Filmed:
    """Write a session as a film.

    Args:
        told: hears how far it is, from a thread.
        speed: how many times faster than it happened; a frame stays 0.4 to 3 s.

    Raises:
        UsageError: no such session, or it has no frames.
        StoreError: the file cannot be written.
    """
    session = await read_recorded(source, session_id)
    stills: list[Still] = []
    missing = 0
    steps = [step for step in session.steps if step.frame is not None][:MOST_FRAMES]
    for at, step in enumerate(steps):
        assert step.frame is not None
        until = steps[at + 1].at_ms if at + 1 < len(steps) else step.at_ms + _MOST_MS
        stays = (until - step.at_ms) / max(0.1, speed)
        try:
            png = await source.blob(step.frame.digest)
        except StoreError:
            missing += 1
            continue
        stays_ms = round(min(_MOST_MS, max(_LEAST_MS, stays)))
        said = caption(step, began_ms=steps[0].at_ms, last=session.steps[-1].number)
        stills.append(Still(png, stays_ms, said, gestures_of(step)))
    if not stills:
        called = one_line(session.session.title or session.session.goal, 80) or session_id
        raise UsageError(
            f"Session “{called}” has no frames to make a film of.",
            "They may have been pruned; the HTML report has its words.",
        )
    if ended := one_line(session.session.latest_result or session.session.latest_error, 300):
        # The last frame once more, with what came of it all.
        stills.append(Still(stills[-1].png, _MOST_MS, Caption(_how(session.session), ended)))
    write = write_gif if film is Film.GIF else write_mp4
    try:
        await asyncio.to_thread(write, path, stills, MOVIE_WIDTH_PX, told)
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror or error}.",
            "Name a file in a writable directory with free space.",
        ) from error
    return Filmed(path, len(steps) - missing, missing)


def _how(session: Session) -> str:
    return one_line(f"{session.state.value.capitalize()} · {session.title or session.goal}", 120)


def caption(step: StepItem, *, began_ms: int, last: int) -> Caption:
    """Return which step it is and what it does, or what was thought where it does nothing.

    Args:
        step: which.
        began_ms: when the film begins, since the epoch.
        last: the number of the last step.
    """
    acts = [f"{action_verb(action)} {action_object(action)}".strip() for action in step.actions]
    head = f"Step {step.number} of {last} · {clock(step.at_ms - began_ms)}"
    return Caption(head, one_line(" · ".join(acts) or step.thought or "Looks", 300))
