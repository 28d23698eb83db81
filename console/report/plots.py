"""Plots of a session as inline SVG: time per step by what it went to, money and tokens summed.

Pure text. Invariants: a plot is readable without colour by its labels; nothing in it is foreign
text; it needs no script and loads nothing.
"""

from collections.abc import Sequence

from agent.state.reducer import StepItem
from widgets.base.formatting import duration

WIDTH, HEIGHT = 880, 180
_LEFT, _BOTTOM, _TOP = 56, 22, 14
LEAST_IDLE_MS = 1_000  # Less idle time than this is not worth a word.
_PARTS = (
    ("observe_ms", "observe", "#3b8fc4"),
    ("model_ms", "model", "#8a63c9"),
    ("act_ms", "act", "#3f9a57"),
    ("settle_ms", "settle", "#7f95a3"),
)


def time_plot(steps: Sequence[StepItem]) -> str:
    """Draw a stacked bar for each step, in seconds of work.

    Idle time is said beside it and not drawn: a night's wait for an answer would leave nothing else
    to be seen.
    """
    totals = [sum(getattr(step.time, name) for name, _, _ in _PARTS) for step in steps]
    most_ms = max(totals, default=0)
    if not most_ms:
        return ""
    across = (WIDTH - _LEFT) / len(steps)
    body: list[str] = []
    for at, step in enumerate(steps):
        below = HEIGHT - _BOTTOM
        for name, _, colour in _PARTS:
            tall = (HEIGHT - _BOTTOM - _TOP) * getattr(step.time, name) / most_ms
            if tall <= 0:
                continue
            below -= tall
            x, width = _LEFT + at * across, max(0.5, across - 1)
            body.append(
                f'<rect x="{x:.1f}" y="{below:.1f}" width="{width:.1f}" height="{tall:.1f}" '
                f'fill="{colour}"/>'
            )
    return _framed("Seconds a step", most_ms / 1000, "s", len(steps), "".join(body)) + _legend(
        sum(step.time.idle_ms for step in steps)
    )


def money_plot(steps: Sequence[StepItem]) -> str:
    """Draw what had been spent after each step: dollars, or tokens where nothing has a price."""
    spent, tokens = 0.0, 0
    dollars: list[float] = []
    counts: list[float] = []
    for step in steps:
        spent += step.usage.cost_usd
        tokens += step.usage.input_tokens + step.usage.output_tokens
        dollars.append(spent)
        counts.append(tokens)
    if spent:
        return _line("Dollars spent", dollars, "$")
    return _line("Tokens used", counts, "") if tokens else ""


def _line(title: str, values: Sequence[float], unit: str) -> str:
    most = max(values)
    across = (WIDTH - _LEFT) / max(1, len(values) - 1)
    tall = HEIGHT - _BOTTOM - _TOP
    points = " ".join(
        f"{_LEFT + at * across:.1f},{HEIGHT - _BOTTOM - tall * value / most:.1f}"
        for at, value in enumerate(values)
    )
    line = f'<polyline points="{points}" fill="none" stroke="#8a63c9" stroke-width="2"/>'
    return _framed(title, most, unit, len(values), line)


def _framed(title: str, most: float, unit: str, steps: int, body: str) -> str:
    floor = HEIGHT - _BOTTOM
    text = 'font-size="11" fill="currentColor" font-family="sans-serif"'
    top = f"{unit}{most:.4g}" if unit == "$" else f"{most:.4g} {unit}".strip()
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<text x="0" y="{_TOP}" {text}>{top}</text><text x="0" y="{floor}" {text}>0</text>'
        f'<line x1="{_LEFT}" y1="{floor}" x2="{WIDTH}" y2="{floor}" stroke="#8888"/>'
        f'<text x="{_LEFT}" y="{HEIGHT - 6}" {text}>step 1</text>'
        f'<text x="{WIDTH}" y="{HEIGHT - 6}" text-anchor="end" {text}>{steps}</text>{body}</svg>'
    )


def _legend(idle_ms: int) -> str:
    keys = "".join(
        f'<span class="key"><i style="background:{colour}"></i>{word}</span>'
        for _, word, colour in _PARTS
    )
    idle = f"idle {duration(idle_ms)}, not drawn" if idle_ms >= LEAST_IDLE_MS else ""
    return f"<p>{keys}{idle}</p>"
