"""`switchboard sessions`: look at sessions and steer them from any shell.

A client of the process that owns the data directory when one runs; otherwise it opens the store
itself. Invariant: stop and cancel act at once and do not ask; cancel is the one that ends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Unpack

import click

from console.commands.manner import Speech, manner_of, manner_options
from console.exits import ExitCode, end, say

if TYPE_CHECKING:
    from agent.core import Core
    from agent.protocol import Event
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
    """List sessions, newest first; COUNTED is the steps that count against the limit."""
    from console import plain
    from console.host import run_with_records
    from console.stored import LEFT_BEHIND, is_left_behind

    async def work(core: Records) -> ExitCode:
        found = await core.sessions(limit=limit)
        if as_json:
            plain.print_json({"data": [_plain(core, session) for session in found]})
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


def _plain(records: Records, session: Session) -> dict[str, Any]:
    """Give a session for JSON, and whether its process died under it."""
    from console import plain
    from console.stored import is_left_behind

    return {**plain.as_builtins(session), "interrupted": is_left_behind(records, session)}


def _row(session: Session, *, left: bool) -> tuple[str, ...]:
    from console.plain import age

    flags = "".join(f" {name}" for name in ("paused", "held", "lost") if getattr(session, name))
    mark = "└ " if session.parent_id else ""
    return (
        session.session_id,
        ("interrupted" if left else session.state.value) + flags,
        session.serial or "-",
        f"{session.steps} of {session.max_steps}",
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
    from console.stored import LEFT_BEHIND, is_left_behind

    async def work(core: Records) -> ExitCode:
        session = await core.session(session_id)
        history = await core.history(session.session_id)
        if events:
            _print_events(history)
            return ExitCode.DONE
        asked = [q for q in (await core.overview()).questions if q.session_id == session.session_id]
        if as_json:
            _print_session_json(core, session, history, asked)
        else:
            left = is_left_behind(core, session)
            _print_session(session, history, asked, f"interrupted ({LEFT_BEHIND})" if left else "")
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _print_events(history: tuple[Event, ...]) -> None:
    from agent.protocol import encode
    from console.plain import print_text

    for event in history:
        print_text(encode(event).decode())


def _print_session_json(
    records: Records, session: Session, history: tuple[Event, ...], asked: list[Question]
) -> None:
    from console import plain
    from console.narration import narrate

    plain.print_json(
        {
            **_plain(records, session),
            "questions": [plain.as_builtins(question) for question in asked],
            "timeline": [line for line in map(narrate, history) if line][-12:],
        }
    )


def _print_session(
    session: Session, history: tuple[Event, ...], asked: list[Question], state: str
) -> None:
    from agent.text import one_line
    from console.narration import narrate
    from console.plain import age, print_text

    lines = [
        f"{session.session_id}  {state or session.state.value}  {session.kind.value}",
        f"goal      {one_line(session.goal, 1000)}",
        f"device    {session.serial or '-'}",
        f"model     {session.model or '-'}",
        f"steps     {session.steps} of {session.max_steps} counted",
        f"begun     {age(session.created_ms)} ago",
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
    from agent.errors import UsageError
    from agent.protocol import Interrupt

    async def act(core: Core, session: Session) -> str:
        if session.state.is_terminal:
            raise UsageError(
                f"Session {session.session_id} is already {session.state.lower()}; nothing to stop."
            )
        await core.request(Interrupt(session_id=session.session_id))
        return f"Stopped {session.session_id}."

    _act(ctx, session_id, act)


@sessions.command()
@SESSION_ID
@click.pass_context
def cancel(ctx: click.Context, session_id: str) -> None:
    """End a session for good, and the whole tree of an agent session."""
    from agent.protocol import SessionCancel

    async def act(core: Core, session: Session) -> str:
        await core.request(SessionCancel(session_id=session.session_id))
        if session.state.is_terminal:
            return f"Session {session.session_id} is already {session.state.lower()}."
        return f"Cancelled {session.session_id}."

    _act(ctx, session_id, act)


def _act(
    ctx: click.Context, session_id: str, act: Callable[[Core, Session], Awaitable[str]]
) -> None:
    from console.host import run_with_core

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        session = await core.session(session_id)
        say(await act(core, session))
        return ExitCode.DONE

    end(run_with_core(ctx, work))


@sessions.command(
    epilog="""\b
Examples:
  switchboard sessions resume 3f2a
  switchboard sessions resume 3f2a --json
  switchboard sessions resume 3f2a --again
"""
)
@SESSION_ID
@click.option("--again", is_flag=True, help="Pursue the goal anew though it was met.")
@manner_options
@click.pass_context
def resume(ctx: click.Context, session_id: str, *, again: bool, **speech: Unpack[Speech]) -> None:
    """Go on with a session after a pause, a stop, a crash or its end.

    When no other process owns the data directory, this one works on the session to its end, on the
    same phone; a virtual phone is started again. Exit codes are those of 'run'.
    """
    from agent.protocol import SessionResume
    from agent.records import SessionState
    from console.host import run_with_session
    from console.pursuit import pursue_stored
    from console.setup import settings_for

    settings = settings_for(ctx)
    manner = manner_of(settings, speech)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        session = await host.core.session(session_id)
        if session.state is SessionState.COMPLETED and not again:
            _confirm_again(session)
        act = SessionResume(session_id=session.session_id)
        if host.owned or manner.json_lines:
            return await pursue_stored(settings, host, session.session_id, act, stop, manner)
        await host.core.request(act)
        say(f"Resumed {session.session_id}.")
        return ExitCode.DONE

    end(run_with_session(settings, session_id, work))


def _confirm_again(session: Session) -> None:
    """Have somebody say that a goal that was met is to be pursued anew. Raises UsageError."""
    from agent.errors import UsageError
    from console.asking import can_ask

    said = f"Session {session.session_id} is already completed"
    if not can_ask():
        raise UsageError(
            f"{said}; nothing is left to go on with.",
            f"To pursue its goal anew: switchboard sessions resume {session.session_id} --again",
        )
    click.confirm(f"{said}. Pursue its goal anew?", abort=True, err=True)
