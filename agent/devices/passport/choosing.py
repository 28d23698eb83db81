"""Pick the best way for each capability from what was seen to work.

Pure: rows in, choices out. Invariants: a way is chosen only when it was seen to work; of two that
work the quicker one is, except that an exact picture comes before video unless it is slow.
"""

from collections.abc import Iterable

from agent.devices.passport.passport import (
    Area,
    CaptureWay,
    Choices,
    InputWay,
    Outcome,
    Row,
    TreeWay,
)
from agent.devices.passport.scripts import SAMPLES
from agent.devices.protocols import TextWay

SLOW_CAPTURE_MS = 250
"""The bound of `agent.devices.frames.fast_capture`: beyond it a picture of the video is quicker."""
TEXT_ORDER = (TextWay.KEYS, TextWay.INPUT_METHOD, TextWay.ACCESSIBILITY, TextWay.CLIPBOARD)
"""What disturbs the phone least comes first."""


def choose(rows: Iterable[Row]) -> Choices:
    """Return the best way for each capability."""
    told = tuple(rows)
    working = {(row.area, row.name): row for row in told if row.outcome is Outcome.WORKS}
    failing = {(row.area, row.name) for row in told if row.outcome is Outcome.FAILS}
    screencap = working.get((Area.CAPTURE, CaptureWay.SCREENCAP))
    has_video = (Area.CAPTURE, CaptureWay.VIDEO) in working
    capture = None
    if screencap is not None and (screencap.took_ms < SLOW_CAPTURE_MS or not has_video):
        capture = CaptureWay.SCREENCAP
    elif has_video:
        capture = CaptureWay.VIDEO
    return Choices(
        capture=capture,
        capture_ms=screencap.took_ms if screencap is not None else 0,
        tree=next((way for way in TreeWay if (Area.TREE, way) in working), None),
        trees_failing=tuple(way for way in TreeWay if (Area.TREE, way) in failing),
        input=next((way for way in InputWay if _touches(way) & working.keys()), None),
        inputs_failing=tuple(
            way
            for way in InputWay
            if _touches(way) & failing and not _touches(way) & working.keys()
        ),
        text={
            script: ways
            for script in SAMPLES
            if (
                ways := tuple(
                    way for way in TEXT_ORDER if (Area.TEXT, text_row(way, script)) in working
                )
            )
        },
    )


def text_row(way: TextWay, script: str) -> str:
    """Return the name of the row of one script typed in one way."""
    return f"{way.value}: {script}"


def input_row(way: InputWay, act: str) -> str:
    """Return the name of the row of an act done in one way."""
    return f"{way.value}: {act}"


def _touches(way: InputWay) -> set[tuple[str, str]]:
    """Return the rows by which a way is judged: keys alone are no way to drive a phone."""
    return {(Area.INPUT, input_row(way, act)) for act in ("tap", "swipe")}
