"""`switchboard sessions list`, `show` and `search`: what is stored, read and left as it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from agent.core import Overview
from agent.protocol import Event, ResultPublished, SearchEvents, VerificationRecorded, encode
from agent.records import Question, Session
from agent.state.terms import term
from agent.text import clean, one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.plain import age, moment, print_text
from console.commands.sessions.sessions_shared import SESSION_ID
from console.core.host import run_with_records

_EFFECT_CHARS = 4_000

if TYPE_CHECKING:
    from console.core.stored_core import Records


@click.command(
    "list",
    epilog="""\b
Examples:
  switchboard sessions list
  switchboard sessions list --json | jq -r '.data[] | select(.stateLabel=="FAILED") | .sessionId'
""",
)
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@JSON_OPTION
@click.pass_context
def list_sessions(ctx: click.Context, limit: int, as_json: bool) -> None:
    """List sessions, newest first; STEPS are those that count against the limit."""
    from agent.state.device_names import device_names
    from console.core.stored_core import LEFT_BEHIND, is_left_behind

    async def work(core: Records) -> ExitCode:
        found = await core.sessions(limit=limit)
        overview = await core.overview()
        if as_json:
            data = [_object(core, one, overview) for one in found]
            plain.print_json({"data": data})
        elif not found:
            say("No sessions yet. Start one with: switchboard run GOAL")
        else:
            asking = {question.session_id for question in overview.questions}
            names = device_names({one.serial: one for one in overview.devices})
            rows = [
                _row(
                    session,
                    left=is_left_behind(core, session),
                    asks=session.session_id in asking,
                    phone=names.get(session.serial, session.serial),
                )
                for session in found
            ]
            heads = ("ID", "STATE", "DEVICE", "STEPS", "AGE", "GOAL")
            plain.print_text(plain.columns(heads, rows))
            if any(is_left_behind(core, session) for session in found):
                say(f"interrupted = {LEFT_BEHIND}")
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _object(records: Records, session: Session, overview: Overview) -> dict[str, Any]:
    """Return a session for JSON, and whether its process died under it."""
    from agent.codex_bridge.question_search import question_in
    from agent.codex_bridge.session_object import session_object
    from agent.state.device_names import device_names
    from console.core.stored_core import is_left_behind

    question = question_in(session, overview)
    told = session_object(session, question, overview.devices)
    names = device_names({one.serial: one for one in overview.devices})
    called = names.get(session.serial) or session.serial or None
    return {**told, "deviceName": called, "interrupted": is_left_behind(records, session)}


def _row(session: Session, *, left: bool, asks: bool, phone: str) -> tuple[str, ...]:
    from agent.state.event_text import verified_mark
    from widgets.base.status import state_word
    from widgets.lists.session_rows import session_title

    flags = "".join(
        f" {name}" for name in ("paused", "held", "lost", "kept") if getattr(session, name)
    )
    branch = "└ " if session.parent_id else ""
    mark = verified_mark(session)
    return (
        session.session_id,
        ("interrupted" if left else state_word(session, asks=asks))
        + flags
        + (f" ({mark})" if mark else ""),
        phone or one_line(session.waits_for, 60) or "-",
        f"{session.steps} of {session.max_steps}",
        age(session.created_ms),
        branch + (session_title(session) if session.goal or session.title else _NO_GOAL),
    )


_NO_GOAL = "(a draft without a goal)"


@click.command(
    epilog="""\b
Examples:
  switchboard sessions show 3f2a
  switchboard sessions show 3f2a --json | jq .timeline
  switchboard sessions show 3f2a --events > transcript.jsonl
"""
)
@SESSION_ID
@JSON_OPTION
@click.option("--events", is_flag=True, help="Print every stored event as a JSON line.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=12,
    show_default=True,
    help="Number of newest transcript lines.",
)
@click.pass_context
def show(ctx: click.Context, session_id: str, as_json: bool, events: bool, limit: int) -> None:
    """Show a session: state, plan, open questions and latest events with times."""
    from console.core.stored_core import LEFT_BEHIND, is_left_behind

    async def work(core: Records) -> ExitCode:
        session = await core.session(session_id)
        history = await core.history(session.session_id)
        if events:
            _print_events(history)
            return ExitCode.DONE
        overview = await core.overview()
        if as_json:
            _print_session_json(core, session, history, overview)
        else:
            left = is_left_behind(core, session)
            state = f"interrupted ({LEFT_BEHIND})" if left else ""
            _print_session(session, history, overview, state, limit)
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _print_events(history: tuple[Event, ...]) -> None:
    for event in history:
        print_text(encode(event).decode())


def _print_session_json(
    records: Records, session: Session, history: tuple[Event, ...], overview: Overview
) -> None:
    from agent.codex_bridge.session_object import timeline
    from agent.state.transcript import ledger_of

    children = _children(session, overview)
    asked = _open_questions(session, children, overview)
    plain.print_json(
        {
            **_object(records, session, overview),
            "children": [child.session_id for child in children],
            "verification": _as_json(history),
            "sources": _sources(history),
            "effects": [plain.as_builtins(effect) for effect in ledger_of(history)],
            "timeline": timeline(history),
            "plan": [plain.as_builtins(item) for item in session.plan],
            "questions": [plain.as_builtins(question) for question in asked],
        }
    )


def _as_json(history: tuple[Event, ...]) -> Any:
    """Return the newest verification for JSON; None where there was none."""
    found = (e.msg for e in reversed(history) if isinstance(e.msg, VerificationRecorded))
    newest = next(found, None)
    return None if newest is None else plain.as_builtins(newest.verification)


def _sources(history: tuple[Event, ...]) -> list[Any]:
    """List where each value of the newest result was read; step 0 is no stored screen."""
    found = (e.msg for e in reversed(history) if isinstance(e.msg, ResultPublished))
    newest = next(found, None)
    return [] if newest is None else [plain.as_builtins(source) for source in newest.sources]


def _children(session: Session, overview: Overview) -> list[Session]:
    """List the children of a session, oldest first."""
    # The overview has the newest first, and children of one plan are of one millisecond.
    return [one for one in reversed(overview.sessions) if one.parent_id == session.session_id]


def _open_questions(
    session: Session, children: list[Session], overview: Overview
) -> list[Question]:
    """List what a session and its children ask."""
    tree = {session.session_id, *(child.session_id for child in children)}
    return [question for question in overview.questions if question.session_id in tree]


def _print_session(
    session: Session, history: tuple[Event, ...], overview: Overview, state: str, limit: int
) -> None:
    from agent.codex_bridge.session_object import held_by
    from agent.safety.allowances.wording import allowance_words
    from agent.safety.redacting.notice import named_kinds
    from agent.sessions.rules.presentation import shown_runtime
    from agent.state.effect_text import ledger_lines
    from agent.state.event_text import verified_mark
    from agent.state.transcript import ledger_of
    from console.runs.narration import narrate
    from widgets.base.status import state_word

    asking = {question.session_id for question in overview.questions}
    word = state or state_word(session, asks=session.session_id in asking)
    at = f" at {one_line(session.endpoint, 200)}" if session.endpoint else ""
    lines = [
        f"{session.session_id}  {word}  {term(session.kind)}",
        f"goal      {one_line(session.goal, 1000) or '(none yet)'}",
        f"device    {session.serial or '-'}",
        f"model     {session.model or '-'}{at}",
        f"steps     {session.steps} of {session.max_steps}",
        f"begun     {age(session.created_ms)} ago",
    ]
    holder = held_by(session, overview.devices)
    if holder:
        lines.append(f"waits     for {session.serial}, driven by {one_line(holder)}")
    elif session.waits_for:
        waits = session.waits_for.removeprefix("waiting").removeprefix(":").strip()
        lines.append(f"waits     {one_line(waits, 400)}")
    if session.needs:
        lines.append(f"needs     {one_line(session.needs, 400)}")
    if session.account:
        lines.append(f"account   {one_line(session.account)}")
    if session.target_package:
        lines.append(f"app       {session.target_package}, {term(shown_runtime(session))}")
    if session.forked_from:
        where = f" from step {session.forked_step}" if session.forked_step else ""
        lines.append(f"branch    of {session.forked_from}{where}")
    lines += [f"allowed   {allowance_words(one)}" for one in session.allowances]
    if session.redacted:
        lines.append(f"redacted  {named_kinds(session.redacted)}, of what you wrote")
    if session.let_through:
        lines.append(f"let in    {len(session.let_through)} that look like secrets")
    if session.driver:
        lines.append(f"driver    {one_line(session.driver)}")
    if mark := verified_mark(session):
        lines.append(f"verified  {mark}")
        lines += _verification(history)
    for name in ("result", "error"):
        text = getattr(session, f"latest_{name}")
        if text:
            lines.append(f"{name:9} {one_line(text, 2000)}")
    lines += [f"plan      {term(item.status):11} {one_line(item.step)}" for item in session.plan]
    lines += [f"effect    {line}" for line in ledger_lines(ledger_of(history), chars=_EFFECT_CHARS)]
    children = _children(session, overview)
    for child in children:
        goal = one_line(child.goal, 200)
        known = verified_mark(child)
        state_of = state_word(child, asks=child.session_id in asking) + (
            f" ({known})" if known else ""
        )
        lines.append(f"child     {child.session_id}  {state_of}  {child.serial or '-'}  {goal}")
    for question in _open_questions(session, children, overview):
        until_ms = question.deadline_ms
        said = clean(question.shown, 2000).strip().splitlines()
        if question.session_id != session.session_id:
            lines.append(f"          {question.session_id} asks:")
        lines += [f"asks      {said[0] if said else ''}", *(f"          {one}" for one in said[1:])]
        lines += [f"            - {one_line(option.shown)}" for option in question.options]
        if until_ms:
            is_over = until_ms <= time.time() * 1000
            ended = ": that is over, and it closes when a core runs" if is_over else ""
            lines.append(f"          until {moment(until_ms)}{ended}")
    told = [f"{moment(e.ts_ms)}  {line}" for e in history if (line := narrate(e))]
    lines += ["", *told[-limit:]]
    if limit < len(told):
        lines.append(f"({len(told) - limit} earlier lines: --limit {len(told)})")
    print_text("\n".join(lines))


def _verification(history: tuple[Event, ...]) -> list[str]:
    """Return why, on which evidence, and where each value of a result was read."""
    from agent.state.event_text import evidence_words

    found = next(
        (e.msg.verification for e in reversed(history) if isinstance(e.msg, VerificationRecorded)),
        None,
    )
    lines = []
    if found is not None:
        said = (found.reason, evidence_words(found))
        lines += [f"          {one_line(text, 1000)}" for text in said if text]
    result = next((e.msg for e in reversed(history) if isinstance(e.msg, ResultPublished)), None)
    for source in () if result is None else result.sources:
        where = f"step {source.step}" if source.step else "not on any stored screen"
        lines.append(f"source    {one_line(source.path, 200)}: {where}")
    return lines


@click.command(
    epilog="""\b
Examples:
  switchboard sessions search bluetooth
  switchboard sessions search '"order number"' --limit 5
"""
)
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True)
@JSON_OPTION
@click.pass_context
def search(ctx: click.Context, words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Search everything said and done in all sessions, newest first."""

    async def work(core: Records) -> ExitCode:
        hits = await core.look_up(SearchEvents(query=" ".join(words), limit=limit))
        if as_json:
            plain.print_json(
                {
                    "data": [
                        {
                            "sessionId": hit.session_id,
                            "seq": hit.seq,
                            "tsMs": hit.ts_ms,
                            "kind": hit.kind,
                            "snippet": hit.snippet,
                        }
                        for hit in hits
                    ]
                }
            )
        elif not hits:
            say("Nothing was found.")
        else:
            rows = [
                (hit.session_id, plain.age(hit.ts_ms), hit.kind, one_line(hit.snippet, 200))
                for hit in hits
            ]
            plain.print_text(plain.columns(("SESSION", "AGE", "KIND", "TEXT"), rows))
        return ExitCode.DONE

    end(run_with_records(ctx, work))
