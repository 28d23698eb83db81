"""`switchboard sessions`: look at sessions and steer them from any shell.

A client of the process that owns the data directory when one runs; otherwise it opens the store
itself. Invariant: stop and cancel act at once and do not ask; cancel is the one that ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

import click

from console.commands.manner import Speech, manner_of, manner_options
from console.exits import ExitCode, end, say

if TYPE_CHECKING:
    from agent.core import Core
    from agent.protocol import Event, Op
    from agent.records import Question, Session
    from console.host import Host
    from console.stopping import StopRequest
    from console.stored import Records

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
SESSION_ID = click.argument("session_id", metavar="SESSION")


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="SESSION is an id or the unique beginning of one.",
)
def sessions() -> None:
    """List, show, answer, stop, cancel and resume sessions."""


@sessions.command(
    "list",
    epilog="""\b
Examples:
  switchboard sessions list
  switchboard sessions list --json | jq -r '.data[] | select(.state=="FAILED") | .session_id'
""",
)
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@JSON_OPTION
@click.pass_context
def list_sessions(ctx: click.Context, limit: int, as_json: bool) -> None:
    """List sessions, newest first."""
    from console import plain
    from console.host import run_with_records

    async def work(core: Records) -> ExitCode:
        found = await core.sessions(limit=limit)
        if as_json:
            plain.print_json({"data": [plain.as_builtins(session) for session in found]})
        elif not found:
            say("No sessions yet. Start one with: switchboard run GOAL")
        else:
            rows = [_row(session) for session in found]
            plain.print_text(plain.columns(("ID", "STATE", "DEVICE", "STEPS", "AGE", "GOAL"), rows))
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _row(session: Session) -> tuple[str, ...]:
    from console.plain import age

    flags = "".join(f" {name}" for name in ("paused", "held", "lost") if getattr(session, name))
    mark = "└ " if session.parent_id else ""
    return (
        session.session_id,
        session.state.value + flags,
        session.serial or "-",
        f"{session.steps}/{session.max_steps}",
        age(session.created_ms),
        mark + (session.title or session.goal),
    )


@sessions.command(
    epilog="""\b
Examples:
  switchboard sessions show 3f2a
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

    async def work(core: Records) -> ExitCode:
        session = await core.session(session_id)
        history = await core.history(session.session_id)
        if events:
            _print_events(history)
            return ExitCode.DONE
        asked = [q for q in (await core.overview()).questions if q.session_id == session.session_id]
        if as_json:
            _print_session_json(session, history, asked)
        else:
            _print_session(session, history, asked)
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _print_events(history: tuple[Event, ...]) -> None:
    from agent.protocol import encode
    from console.plain import print_text

    for event in history:
        print_text(encode(event).decode())


def _print_session_json(
    session: Session, history: tuple[Event, ...], asked: list[Question]
) -> None:
    from console import plain
    from console.narration import narrate

    plain.print_json(
        {
            **plain.as_builtins(session),
            "questions": [plain.as_builtins(question) for question in asked],
            "timeline": [line for line in map(narrate, history) if line][-12:],
        }
    )


def _print_session(session: Session, history: tuple[Event, ...], asked: list[Question]) -> None:
    from agent.text import one_line
    from console.narration import narrate
    from console.plain import age, print_text

    lines = [
        f"{session.session_id}  {session.state.value}  {session.kind.value}",
        f"goal      {one_line(session.goal, 1000)}",
        f"device    {session.serial or '-'}",
        f"model     {session.model or '-'}",
        f"steps     {session.steps}/{session.max_steps}, begun {age(session.created_ms)} ago",
    ]
    for name in ("result", "error"):
        text = getattr(session, f"latest_{name}")
        if text:
            lines.append(f"{name:9} {one_line(text, 2000)}")
    lines += [f"plan      {item.status.value:11} {one_line(item.step)}" for item in session.plan]
    for question in asked:
        lines.append(f"asks      {one_line(question.text, 2000)}")
        lines += [f"            - {one_line(option.label)}" for option in question.options]
    said = [line for line in map(narrate, history) if line]
    lines += ["", *said[-12:]]
    print_text("\n".join(lines))


@sessions.command(
    epilog="""\b
Examples:
  switchboard sessions answer 3f2a "the second one"
  switchboard sessions answer 3f2a --answer yes
"""
)
@click.argument("session_id", metavar="SESSION")
@click.argument("text", metavar="[ANSWER]", required=False)
@click.option(
    "--answer",
    "texts",
    multiple=True,
    metavar="TEXT",
    help="The answer, if not an argument; repeated, those to the questions after it.",
)
@click.pass_context
def answer(ctx: click.Context, session_id: str, text: str | None, texts: tuple[str, ...]) -> None:
    """Answer what a session, or a child of it, asks; SESSION may be a question's id.

    When no other process is at work on the session, this one goes on with it to its end.
    """
    from agent.errors import UsageError
    from agent.protocol import UserInputAnswer
    from console.headless import Manner
    from console.host import run_with_session
    from console.pursuit import find_question, pursue_stored
    from console.setup import settings_for

    answers = texts if text is None else (text, *texts)
    if not answers or not answers[0].strip():
        raise UsageError("The answer is empty.", "Write it after the session's id.")
    settings = settings_for(ctx)
    manner = Manner(answers=answers[1:], answer_timeout_s=settings.run.answer_timeout_s)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        question = await find_question(host.core, session_id)
        act = UserInputAnswer(question_id=question.question_id, answer=answers[0])
        if host.owned:
            return await pursue_stored(settings, host, question.session_id, act, stop, manner)
        await host.core.request(act)
        say(f"Answered {question.session_id}.")
        return ExitCode.DONE

    end(run_with_session(settings, session_id, work))


@sessions.command()
@SESSION_ID
@click.pass_context
def stop(ctx: click.Context, session_id: str) -> None:
    """Stop a session's turn; 'sessions resume' goes on with it."""
    from agent.protocol import Interrupt

    _act(ctx, session_id, lambda found: Interrupt(session_id=found), "Stopped {}.")


@sessions.command()
@SESSION_ID
@click.pass_context
def cancel(ctx: click.Context, session_id: str) -> None:
    """End a session for good, and the whole tree of an agent session."""
    from agent.protocol import SessionCancel

    _act(ctx, session_id, lambda found: SessionCancel(session_id=found), "Cancelled {}.")


def _act(ctx: click.Context, session_id: str, op: Callable[[str], Op], done: str) -> None:
    from console.host import run_with_core

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        session = await core.session(session_id)
        await core.request(op(session.session_id))
        say(done.format(session.session_id))
        return ExitCode.DONE

    end(run_with_core(ctx, work))


@sessions.command(
    epilog="""\b
Examples:
  switchboard sessions resume 3f2a
  switchboard sessions resume 3f2a --json
"""
)
@SESSION_ID
@manner_options
@click.pass_context
def resume(ctx: click.Context, session_id: str, **speech: Unpack[Speech]) -> None:
    """Go on with a session after a pause, a stop, a crash or its end.

    When no other process owns the data directory, this one works on the session to its end, on the
    same phone; a virtual phone is started again. Exit codes are those of 'run'.
    """
    from agent.protocol import SessionResume
    from console.host import run_with_session
    from console.pursuit import pursue_stored
    from console.setup import settings_for

    settings = settings_for(ctx)
    manner = manner_of(settings, speech)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        session = await host.core.session(session_id)
        act = SessionResume(session_id=session.session_id)
        if host.owned or manner.json_lines:
            return await pursue_stored(settings, host, session.session_id, act, stop, manner)
        await host.core.request(act)
        say(f"Resumed {session.session_id}.")
        return ExitCode.DONE

    end(run_with_session(settings, session_id, work))
