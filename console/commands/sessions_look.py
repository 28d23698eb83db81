"""`switchboard sessions list`, `show` and `search`: what is stored, read and left as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from console.commands.sessions_shared import JSON_OPTION, SESSION_ID
from console.exits import ExitCode, end, say

if TYPE_CHECKING:
    from agent.core import Overview
    from agent.protocol import Event
    from agent.records import Question, Session
    from console.stored import Records


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
    """List sessions, newest first; COUNTED is the steps that count against the limit."""
    from agent.bridge.asked import question_in
    from console import plain
    from console.host import run_with_records
    from console.stored import LEFT_BEHIND, is_left_behind

    async def work(core: Records) -> ExitCode:
        found = await core.sessions(limit=limit)
        if as_json:
            overview = await core.overview()
            data = [_object(core, one, question_in(one, overview)) for one in found]
            plain.print_json({"data": data})
        elif not found:
            say("No sessions yet. Start one with: switchboard run GOAL")
        else:
            rows = [_row(session, left=is_left_behind(core, session)) for session in found]
            heads = ("ID", "STATE", "DEVICE", "COUNTED", "AGE", "GOAL")
            plain.print_text(plain.columns(heads, rows))
            if any(is_left_behind(core, session) for session in found):
                say(f"interrupted = {LEFT_BEHIND}")
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _object(records: Records, session: Session, question: Question | None) -> dict[str, Any]:
    """Give a session for JSON, and whether its process died under it."""
    from agent.bridge.session_object import session_object
    from console.stored import is_left_behind

    return {**session_object(session, question), "interrupted": is_left_behind(records, session)}


def _row(session: Session, *, left: bool) -> tuple[str, ...]:
    from console.plain import age

    flags = "".join(
        f" {name}" for name in ("paused", "held", "lost", "kept") if getattr(session, name)
    )
    mark = "└ " if session.parent_id else ""
    return (
        session.session_id,
        ("interrupted" if left else session.state.value) + flags,
        session.serial or "-",
        f"{session.steps} of {session.max_steps}",
        age(session.created_ms),
        mark + (session.title or session.goal or "(a draft without a goal)"),
    )


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
@click.pass_context
def show(ctx: click.Context, session_id: str, as_json: bool, events: bool) -> None:
    """Show a session: its state, plan, open questions and what happened last."""
    from console.host import run_with_records
    from console.stored import LEFT_BEHIND, is_left_behind

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
            _print_session(session, history, overview, state)
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _print_events(history: tuple[Event, ...]) -> None:
    from agent.protocol import encode
    from console.plain import print_text

    for event in history:
        print_text(encode(event).decode())


def _print_session_json(
    records: Records, session: Session, history: tuple[Event, ...], overview: Overview
) -> None:
    from agent.bridge.asked import question_in
    from agent.bridge.session_object import timeline
    from console import plain

    children = _children(session, overview)
    asked = _asked(session, children, overview)
    plain.print_json(
        {
            **_object(records, session, question_in(session, overview)),
            "children": [child.session_id for child in children],
            "timeline": timeline(history),
            "plan": [plain.as_builtins(item) for item in session.plan],
            "questions": [plain.as_builtins(question) for question in asked],
        }
    )


def _children(session: Session, overview: Overview) -> list[Session]:
    """List the children of a session, oldest first."""
    # The overview has the newest first, and children of one plan are of one millisecond.
    return [one for one in reversed(overview.sessions) if one.parent_id == session.session_id]


def _asked(session: Session, children: list[Session], overview: Overview) -> list[Question]:
    """List what a session and its children ask."""
    tree = {session.session_id, *(child.session_id for child in children)}
    return [question for question in overview.questions if question.session_id in tree]


def _print_session(
    session: Session, history: tuple[Event, ...], overview: Overview, state: str
) -> None:
    from agent.text import clean, one_line
    from console.narration import narrate
    from console.plain import age, print_text

    lines = [
        f"{session.session_id}  {state or session.state.value}  {session.kind.value}",
        f"goal      {one_line(session.goal, 1000) or '(none yet)'}",
        f"device    {session.serial or '-'}",
        f"model     {session.model or '-'}",
        f"steps     {session.steps} of {session.max_steps} counted",
        f"begun     {age(session.created_ms)} ago",
    ]
    if session.target_package:
        lines.append(f"app       {session.target_package}, {session.target_runtime.value}")
    if session.driver:
        lines.append(f"driver    {one_line(session.driver)}")
    for name in ("result", "error"):
        text = getattr(session, f"latest_{name}")
        if text:
            lines.append(f"{name:9} {one_line(text, 2000)}")
    lines += [f"plan      {item.status.value:11} {one_line(item.step)}" for item in session.plan]
    children = _children(session, overview)
    for child in children:
        goal = one_line(child.goal, 200)
        lines.append(
            f"child     {child.session_id}  {child.state.value}  {child.serial or '-'}  {goal}"
        )
    for question in _asked(session, children, overview):
        said = clean(question.text, 2000).strip().splitlines()
        if question.session_id != session.session_id:
            lines.append(f"          {question.session_id} asks:")
        lines += [f"asks      {said[0] if said else ''}", *(f"          {one}" for one in said[1:])]
        lines += [f"            - {one_line(option.label)}" for option in question.options]
    told = [line for line in map(narrate, history) if line]
    lines += ["", *told[-12:]]
    print_text("\n".join(lines))


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
    """Search all that was said and done in any session, the newest first."""
    from agent.text import one_line
    from console import plain
    from console.host import run_with_records

    async def work(core: Records) -> ExitCode:
        hits = await core.search(" ".join(words), limit=limit)
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
