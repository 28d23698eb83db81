"""A run as an HTML page: figures, every trial, and films of those that failed beside it.

Invariants: the page fetches nothing and runs nothing; what models and phones wrote is escaped; a
film that cannot be made is said, and the page is written all the same.
"""

import asyncio
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import msgspec

from agent.errors import StoreError, SwitchboardError
from agent.text import clean, counted
from console.evaluation.run_folder import Run
from console.evaluation.summary import HEADS, Compared, arms, interval, row, within
from console.evaluation.trial import Outcome
from console.report.movie import Film, write_movie
from console.report.recorded import Source

PAGE = "report.html"
FILMS = "films"
_POLICY = "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'"
_STYLE = """
body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;
background:#fff;color:#1c1f24}
table{border-collapse:collapse;width:100%;margin:1em 0}
th,td{text-align:left;padding:4px 10px 4px 0;border-bottom:1px solid #dde1e6;vertical-align:top}
th{color:#5b6472;font-weight:600}
.ok{color:#0a7a3d}.bad{color:#b3261e}.dim{color:#5b6472}
figure{display:inline-block;margin:1em 1.5em 1em 0;max-width:380px;vertical-align:top}
figure img{width:360px;border:1px solid #dde1e6;border-radius:8px}
@media (prefers-color-scheme:dark){body{background:#14171c;color:#e4e7ec}
th,td{border-color:#2a2f38}.ok{color:#5fd38d}.bad{color:#ff8a80}}
"""


class Paged(msgspec.Struct, frozen=True, kw_only=True):
    """What was written."""

    path: Path
    films: int
    missing: int  # Failures that no film could be made of.


async def write_page(
    run: Run, source: Source, *, most_films: int, told: Callable[[int, int], None]
) -> Paged:
    """Write a run's page and its films into its folder.

    Args:
        run: which.
        source: its store.
        most_films: at most so many; the first failures of the plan.
        told: hears how many films are made, of how many.

    Raises:
        StoreError: the page cannot be written.
    """
    failed = [one for one in run.outcomes if not one.ok and one.session_id][:most_films]
    films: dict[str, str] = {}
    folder = run.folder / FILMS
    try:
        await asyncio.to_thread(folder.mkdir, mode=0o700, exist_ok=True)
        for at, one in enumerate(failed):
            name = f"{_file_name(one)}.gif"
            if await asyncio.to_thread((folder / name).exists) or await _filmed(
                source, one, folder / name
            ):
                films[one.session_id] = f"{FILMS}/{name}"
            told(at + 1, len(failed))
        page = render(run, films)
        part = run.folder / f".{PAGE}.part"
        await asyncio.to_thread(part.write_text, page, "utf-8")
        await asyncio.to_thread(part.replace, run.folder / PAGE)
    except OSError as error:
        raise StoreError(
            f"{run.folder / PAGE} could not be written: {error.strerror}.",
            "Free some space, or correct the permissions of the folder.",
        ) from error
    return Paged(path=run.folder / PAGE, films=len(films), missing=len(failed) - len(films))


async def _filmed(source: Source, one: Outcome, path: Path) -> bool:
    part = path.with_name(f".{path.name}.part")
    try:
        await write_movie(source, one.session_id, part, film=Film.GIF, told=lambda _done, _of: None)
    except SwitchboardError:
        # No frame was kept, or it is gone: the page names the trial without a film.
        return False
    await asyncio.to_thread(part.replace, path)
    return True


def _file_name(one: Outcome) -> str:
    return f"{''.join(c if c.isalnum() else '-' for c in one.exercise)}-{one.session_id}"


def render(run: Run, films: dict[str, str]) -> str:
    """Write the page.

    Args:
        run: which.
        films: by session, where they lie below the page.
    """
    plan = run.plan
    title = f"{plan.suite}: {', '.join(plan.models)}"
    state = (
        "" if run.is_whole else f" · {len(run.outcomes)} of {counted(plan.total, 'trial')} so far"
    )
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{_html(title)}</title><style>{_STYLE}</style>",
        f"<h1>{_html(title)}</h1>",
        f"<p class=dim>suite {_html(plan.digest)} · {counted(len(plan.exercises), 'exercise')} · "
        f"{counted(plan.repeats, 'time')} · seed {plan.seed} · "
        f"verifier {_html(plan.verifier)}{state}</p>",
        _table(HEADS, [row(arm) for arm in arms(run.outcomes)]),
        *_patterns(within(run)),
        "<h2>Trials</h2>",
        _table(
            ("EXERCISE", "MODEL", "", "WHY", "STEPS", "SECONDS", "COST", "SESSION"),
            [_trial(one) for one in run.outcomes],
        ),
    ]
    shown = [one for one in run.outcomes if one.session_id in films]
    if shown:
        parts.append("<h2>Failures</h2>")
        parts += [_figure(one, films[one.session_id]) for one in shown]
    return "\n".join([*parts, "</html>"])


def _patterns(compared: Sequence[Compared]) -> list[str]:
    if not compared:
        return []
    rows = [
        (
            ", ".join(one.b.without),
            one.a.model,
            f"{one.a.passed}/{one.a.trials}",
            f"{one.b.passed}/{one.b.trials}",
            f"{one.difference:+.0%}",
            interval(one.low, one.high),
            f"{one.p:.3f}",
            ", ".join(change.exercise for change in one.worse),
        )
        for one in compared
    ]
    heads = ("WITHOUT", "MODEL", "WITH IT", "WITHOUT IT", "DIFFERENCE", "95 %", "P", "WORSE")
    return ["<h2>Patterns</h2>", _table(heads, rows)]


def _trial(one: Outcome) -> tuple[str, ...]:
    without = f" without {', '.join(one.without)}" if one.without else ""
    return (
        f"{one.exercise} #{one.repeat}" if one.repeat > 1 else one.exercise,
        one.model + without,
        "passed" if one.ok else "failed",
        one.why,
        str(one.steps),
        f"{one.seconds:.1f}",
        f"${one.usage.cost_usd:.3f}",
        one.session_id,
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"<tr>{''.join(f'<th>{_html(head)}</th>' for head in heads)}</tr>"]
    for cells in rows:
        lines.append(f"<tr>{''.join(_cell(cell) for cell in cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _cell(text: str) -> str:
    mark = {"passed": " class=ok", "failed": " class=bad"}.get(text, "")
    return f"<td{mark}>{_html(text)}</td>"


def _figure(one: Outcome, film: str) -> str:
    said = f"<b>{_html(one.exercise)}</b><br>{_html(one.why)}"
    return (
        f'<figure><img src="{escape(film)}" loading=lazy alt="">'
        f"<figcaption>{said}</figcaption></figure>"
    )


def _html(text: str) -> str:
    return escape(clean(text, 2_000))
