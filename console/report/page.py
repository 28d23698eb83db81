"""Write a stored session as one HTML file that stands by itself: frames, steps, plots, sums.

Needs no network and no script, and forbids both. Invariants: every foreign text is cleaned and
escaped; a frame that is gone is said to be gone; the file appears whole or not at all.
"""

import asyncio
import base64
import os
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import NamedTuple, assert_never

from agent import records
from agent.errors import StoreError
from agent.state.effect_text import effect_line, ledger_lines
from agent.state.event_text import verified_mark
from agent.state.reducer import Item, MessageItem, NoticeItem, QuestionItem, StepItem
from agent.text import clean, one_line
from console.report.gestures import gestures_of
from console.report.overlay import overlay
from console.report.pictures import small_jpeg
from console.report.plots import LEAST_IDLE_MS, money_plot, time_plot
from console.report.recorded import RecordedSession, Source, read_recorded
from widgets.base.formatting import action_object, action_verb, answer_word, cost, duration, tokens

FRAME_WIDTH_PX = 440
_EFFECT_CHARS = 20_000
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root{color-scheme:light dark;--ink:#1f2428;--dim:#626b74;--line:#d9d6cf;--paper:#fbfaf7;
--card:#fff;--bad:#b3332d;--good:#2c7a3f;--ask:#a35a00}
@media(prefers-color-scheme:dark){:root{--ink:#d5dbe2;--dim:#8b96a3;--line:#28303a;
--paper:#0e1115;--card:#151a20;--bad:#e07a74;--good:#7cc08a;--ask:#ffc65c}}
body{margin:0 auto;max-width:980px;padding:24px;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:24px;margin:0 0 4px}h2{font-size:16px;margin:28px 0 8px}
.dim{color:var(--dim)}.bad{color:var(--bad)}.good{color:var(--good)}.ask{color:var(--ask)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px}dt{color:var(--dim)}dd{margin:0}
.item{border:1px solid var(--line);border-radius:8px;background:var(--card);padding:12px;
margin:10px 0;overflow:hidden}
.step{display:grid;grid-template-columns:1fr auto;gap:16px}
.item img{width:220px;border-radius:6px;border:1px solid var(--line);display:block}
.shot{position:relative}.shot svg.touch{position:absolute;inset:0;width:100%;height:100%;margin:0}
.touch rect{fill:none;stroke:#ffc65c;stroke-width:1.2}
.touch circle{fill:#d6335c;fill-opacity:.85;stroke:#fff;stroke-width:1.2}
.touch polyline{fill:none;stroke:#d6335c;stroke-width:2.4;stroke-linecap:round}
.touch text{font:600 6px system-ui,sans-serif;text-anchor:middle;fill:#d6335c;stroke:#fff;
stroke-width:1.6;paint-order:stroke}
@media(max-width:560px){.step{grid-template-columns:1fr}.item img{width:100%}}
pre,p{margin:4px 0;white-space:pre-wrap;overflow-wrap:anywhere;font-family:inherit}
.num{font-weight:600;margin-right:8px}svg{width:100%;height:auto;margin:6px 0}
.key{margin-right:14px;color:var(--dim)}.key i{display:inline-block;width:10px;height:10px;
margin-right:5px;border-radius:2px}
"""


class Reported(NamedTuple):
    """What was written."""

    path: Path
    steps: int
    frames: int
    missing: int


async def write_report(
    source: Source, session_id: str, path: Path, *, told: Callable[[int, int], None]
) -> Reported:
    """Write a session's page.

    Args:
        told: hears how many steps are done, of how many.

    Raises:
        UsageError: no such session.
        StoreError: the file cannot be written.
    """
    session = await read_recorded(source, session_id)
    frames: dict[str, str] = {}
    missing = 0
    for at, step in enumerate(session.steps):
        if step.frame is not None and step.frame.digest not in frames:
            picture = await _picture(source, step.frame.digest)
            frames[step.frame.digest] = picture
            missing += not picture
        told(at + 1, len(session.steps))
    page = render(session, frames)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        await asyncio.to_thread(part.write_text, page, "utf-8")
        await asyncio.to_thread(part.replace, path)
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror or error}.",
            "Name a file in a writable directory with free space.",
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return Reported(path, len(session.steps), len(frames) - missing, missing)


async def _picture(source: Source, digest: str) -> str:
    """Return a frame as a data address; empty when it is gone."""
    try:
        png = await source.blob(digest)
        jpeg = await asyncio.to_thread(small_jpeg, png, FRAME_WIDTH_PX)
    except StoreError:
        return ""
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"


def render(told: RecordedSession, frames: dict[str, str]) -> str:
    """Write the page, with frames as data addresses by their digest."""
    session = told.session
    title, goal = _safe(session.title or session.goal, 160), _safe(session.goal, 2_000)
    items = "\n".join(_item(item, frames) for item in told.transcript.items)
    plots = time_plot(told.steps) + money_plot(told.steps)
    effects = "".join(
        f"<li>{_safe(line, 400)}</li>"
        for line in ledger_lines(told.transcript.ledger, chars=_EFFECT_CHARS)
    )
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body><h1>{title}</h1>\n"
        f"{f'<p class=dim>{goal}</p>' if goal != title else ''}\n{_facts(session, told)}\n"
        f"{f'<h2>Where time and money went</h2>{plots}' if plots else ''}\n"
        f"{f'<h2>Effects</h2><ul>{effects}</ul>' if effects else ''}\n"
        f"<h2>What happened</h2>\n{items}\n</body></html>\n"
    )


def _facts(session: records.Session, told: RecordedSession) -> str:
    idle_ms = sum(step.time.idle_ms for step in told.steps)
    worked_ms = sum(_total_ms(step.time) for step in told.steps) - idle_ms
    used = session.usage.input_tokens + session.usage.output_tokens
    facts = (
        ("state", session.state.value.lower().replace("_", " ")),
        ("verified", verified_mark(session)),
        ("result", session.latest_result),
        ("data", session.result_json),
        ("error", session.latest_error),
        ("phone", session.serial),
        ("app", session.target_package),
        ("model", session.model),
        ("began", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(session.created_ms / 1000))),
        ("steps", f"{len(told.steps)}, {session.steps} of {session.max_steps} counted"),
        ("worked", duration(worked_ms) if worked_ms else ""),
        ("waited", duration(idle_ms) if idle_ms >= LEAST_IDLE_MS else ""),
        ("tokens", tokens(used) if used else ""),
        ("cost", cost(session.usage) if session.usage.cost_usd else ""),
        ("id", session.session_id),
    )
    rows = "".join(
        f"<dt>{name}</dt><dd>{_safe(value, 2_000)}</dd>" for name, value in facts if value
    )
    return f"<dl>{rows}</dl>"


def _total_ms(split: records.TimeSplit) -> int:
    return split.observe_ms + split.model_ms + split.act_ms + split.settle_ms + split.idle_ms


def _item(item: Item, frames: dict[str, str]) -> str:
    match item:
        case StepItem():
            return _step(item, frames)
        case MessageItem(text=text, steer=steer):
            what = "hint" if steer else "prompt"
            return f'<div class=item><span class="num ask">{what}</span>{_text(text)}</div>'
        case QuestionItem(question=question, answer=answer, closed=closed):
            said = answer_word(question, answer) if answer else closed or "no answer"
            return (
                f'<div class=item><span class="num ask">{question.kind.value}</span>'
                f"{_text(question.shown)}<p><b>{_safe(said, 2_000)}</b></p></div>"
            )
        case NoticeItem(remedy=remedy, tone=tone):
            text = records.attributed(item.text, item.speaker)
            style = {"error": "bad", "warning": "ask", "result": "good"}.get(tone.value, "dim")
            more = f"<p class=dim>{_safe(remedy, 500)}</p>" if remedy else ""
            return f'<div class="item {style}">{_text(text)}{more}</div>'
        case _:
            assert_never(item)


def _step(step: StepItem, frames: dict[str, str]) -> str:
    acts = "".join(
        f"<p><b>{_safe(action_verb(action), 40)}</b> {_safe(action_object(action), 300)}"
        f" <span class={'bad' if action.outcome and action.outcome.value != 'done' else 'dim'}>"
        f"{_safe(action.result, 600)}</span></p>"
        for action in step.actions
    )
    effects = "".join(f"<p class=dim>Δ {_safe(effect_line(e), 400)}</p>" for e in step.effects)
    took = f"{duration(_total_ms(step.time))} " if _total_ms(step.time) else ""
    about = " · ".join(filter(None, (took.strip(), one_line(step.package, 80), cost(step.usage))))
    picture = ""
    if step.frame is not None:
        address = frames.get(step.frame.digest, "")
        alt = f"screen at step {step.number}"
        drawn = overlay(gestures_of(step), (step.frame.width_px, step.frame.height_px))
        picture = (
            f'<div class=shot><img src="{address}" alt="{alt}">{drawn}</div>'
            if address
            else "<span class=dim>frame gone</span>"
        )
    return (
        f'<div class="item step"><div><span class=num>{step.number}</span>'
        f"<span class=dim>{_safe(about, 200)}</span>{_text(step.thought)}{acts}{effects}</div>"
        f"<div>{picture}</div></div>"
    )


def _text(text: str) -> str:
    return f"<pre>{_safe(text, 8_000)}</pre>" if text else ""


def _safe(text: str, limit: int) -> str:
    return escape(clean(text, limit))
