"""Draw a step's touches over its frame on a page, as SVG: rings, ways, boxes, typed text.

Pure. Invariant: every foreign text is cleaned and escaped; every number is within the picture.
"""

from collections.abc import Sequence
from html import escape

from agent.records import Point
from agent.text import clean
from console.report.gestures import Gesture

_WIDE = 100.0


def overlay(gestures: Sequence[Gesture], size_px: tuple[int, int]) -> str:
    """Return an SVG that covers a frame of a size; empty where nothing was touched.

    Its lengths are hundredths of the frame's width.
    """
    if not gestures or not all(size_px):
        return ""
    high = _WIDE * size_px[1] / size_px[0]
    drawn = "".join(_drawn(gesture, high) for gesture in gestures)
    return (
        f'<svg class=touch viewBox="0 0 {_WIDE:g} {high:.1f}" aria-hidden="true"><defs>'
        '<marker id="tip" viewBox="0 0 10 10" refX="6" refY="5" markerWidth="4" markerHeight="4"'
        ' orient="auto"><path d="M0 0L10 5L0 10z" fill="#d6335c"/></marker></defs>'
        f"{drawn}</svg>"
    )


def _drawn(gesture: Gesture, high: float) -> str:
    parts: list[str] = []
    if (box := gesture.box) is not None:
        left, top = _at(Point(x=box.left, y=box.top), high)
        right, bottom = _at(Point(x=box.right, y=box.bottom), high)
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(0.0, right - left):.1f}"'
            f' height="{max(0.0, bottom - top):.1f}" rx="2"/>'
        )
    places = [_at(at, high) for at in gesture.way]
    if gesture.is_way and len(places) > 1:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{points}" marker-end="url(#tip)"/>')
    elif gesture.typed:
        x, y = places[0]
        said = escape(clean(gesture.typed, 60))
        parts.append(f'<text x="{min(96.0, max(4.0, x)):.1f}" y="{y:.1f}">“{said}”</text>')
    else:
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>' for x, y in places]
    return "".join(parts)


def _at(at: Point, high: float) -> tuple[float, float]:
    x, y = (min(1.0, max(0.0, share)) if share == share else 0.0 for share in (at.x, at.y))
    return x * _WIDE, y * high
