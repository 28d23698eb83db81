"""What is said to sessions: answer, hint, say, pause, stop, resume, cancel, attach."""

import sys
from typing import Unpack

import click
from msgspec.structs import replace

from agent import protocol
from agent.core import Core
from agent.errors import UsageError, WrongStateError
from agent.records import Question, Session, SessionState
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.commands.output_options import Speech, follow_flags, follow_options
from console.commands.session_options import LET_THROUGH
from console.commands.sessions.sessions_shared import SESSION_ID, CommandResult, act_on
from console.core.command_settings import settings_for, to_run
from console.core.device_setup import EVERYTHING
from console.core.host import Host, run_with_host, run_with_session
from console.runs.prompts import ask_on_terminal
from console.runs.unlocking import request
from console.terminal.line_input import agree, can_ask
from console.terminal.signals import StopRequest


@click.command(
    epilog="""\b
Examples:
  switchboard sessions answer 3f2a "the second one"
  switchboard sessions answer 3f2a --answer yes
  switchboard sessions answer 3f2a --for q1 Blue --for q2 large      # several questions at once
  pass show bank/pin | switchboard sessions answer 3f2a -            # a secret, not in your history
"""
)
@click.argument("session_id", metavar="SESSION")
@click.argument("text", metavar="[ANSWER]", required=False)
@click.option(
    "--answer",
    "texts",
    multiple=True,
    metavar="TEXT",
    help="The answer, instead of ANSWER; repeat it for later questions.",
)
@click.option(
    "--for",
    "by_part",
    nargs=2,
    multiple=True,
    metavar="ID TEXT",
    help="The answer to one of several questions asked together.",
)
@LET_THROUGH
@JSON_OPTION
@click.pass_context
def answer(
    ctx: click.Context,
    *,
    session_id: str,
    text: str | None,
    texts: tuple[str, ...],
    by_part: tuple[tuple[str, str], ...],
    let_through: bool,
    as_json: bool,
) -> None:
    """Answer a question of a session.

    The question may be a child's; SESSION may also be a question's id. Separate answers to several
    questions by a blank line, or use --for. '-' reads the answer from stdin; without one the
    terminal asks, hiding secrets. If no other process runs the session, this one does.
    """
    from agent.codex_bridge.question_search import find_question
    from console.runs.run import pursue_stored
    from console.runs.run_follower import FollowOptions

    given = texts if text is None else (text, *texts)
    _check_given(given, by_part)
    first = sys.stdin.read().rstrip("\n") if given[:1] == ("-",) else None
    settings = settings_for(ctx)
    options = FollowOptions(
        answers=given[1:],
        answer_timeout_s=settings.run.answer_timeout_s,
        quiet=as_json,
        silent=as_json,
    )
    grouped: dict[str, tuple[str, ...]] = {}
    for part_id, said in by_part:
        grouped[part_id] = (*grouped.get(part_id, ()), said)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        question = await find_question(host.core, session_id)
        op = protocol.UserInputAnswer(
            question_id=question.question_id, answers=grouped, let_through=let_through
        )
        if not grouped:
            words = first if first is not None else given[0] if given else None
            op = replace(op, answer=await ask_on_terminal(question) if words is None else words)
        code = ExitCode.DONE
        goes_on = host.owned and not _ends_a_run(question, op.answer)
        if goes_on:
            code = await pursue_stored(settings, host, question.session_id, op, stop, options)
        else:
            await request(host, op)
        if as_json:
            plain.print_json({"ok": True})
        elif not goes_on:
            say(f"Answered {question.session_id}.")
        return code

    end(run_with_session(settings, session_id, work))


def _ends_a_run(question: Question, said: str) -> bool:
    """Return whether an answer refuses a job's action: that ends its run, and nothing goes on."""
    from agent.safety.approval import is_yes

    return question.review is not None and not is_yes(said)


def _check_given(given: tuple[str, ...], by_part: tuple[tuple[str, str], ...]) -> None:
    if given and by_part:
        raise UsageError("An answer and --for were both given.", "Use one of them.")
    is_blank = bool(given) and not given[0].strip()
    if is_blank or not (given or by_part or can_ask()):
        raise UsageError("The answer is empty.", "Write it after the session's id.")


@click.command("let-through")
@SESSION_ID
@JSON_OPTION
@click.pass_context
def let_through(ctx: click.Context, session_id: str, as_json: bool) -> None:
    """Send your redacted texts to a session again, unredacted.

    Works only while the core that redacted them runs: the console, the daemon, or a 'run'.
    """

    async def act(core: Core, session: Session) -> CommandResult:
        await core.request(protocol.SessionLetThrough(session_id=session.session_id))
        return f"Session {session.session_id} got it unredacted.", {"ok": True}

    act_on(ctx, session_id, act, as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  switchboard sessions hint 3f2a "use the work account"
  cat steps.txt | switchboard sessions hint 3f2a -
"""
)
@SESSION_ID
@click.argument("text", metavar="HINT")
@LET_THROUGH
@JSON_OPTION
@click.pass_context
def hint(
    ctx: click.Context, *, session_id: str, text: str, let_through: bool, as_json: bool
) -> None:
    """Give a running session a hint, which its next step applies; '-' reads it from stdin.

    A session with children passes it to those that are running. An idle session takes its next
    prompt from 'start'.
    """
    said = sys.stdin.read().strip() if text == "-" else text

    async def act(core: Core, session: Session) -> CommandResult:
        waits = session.state is SessionState.WAITING_FOR_USER and not session.turn_id
        if waits and not session.paused:
            start = to_run(f"sessions start {session.session_id} --prompt TEXT")
            raise WrongStateError(
                f"Session {session.session_id} is idle: no step would apply a hint.",
                f"Give it its next prompt: {start}",
            )
        await core.request(
            protocol.UserInput(session_id=session.session_id, text=said, let_through=let_through)
        )
        return f"Session {session.session_id} has the hint.", {"ok": True}

    act_on(ctx, session_id, act, as_json=as_json)


@click.command(
    "say",
    epilog="""\b
Examples:
  switchboard sessions say 3f2a "Now do the same for Ben"
  cat next.txt | switchboard sessions say 3f2a -
""",
)
@SESSION_ID
@click.argument("text", metavar="TEXT")
@LET_THROUGH
@follow_flags
@click.pass_context
def say_to_session(
    ctx: click.Context, session_id: str, *, text: str, let_through: bool, **speech: Unpack[Speech]
) -> None:
    """Tell a session what to do next: a hint while it works, else a new turn with these words.

    A session that has ended is resumed with them, on the same phone, and knows what it did before;
    'resume' without words pursues its goal again. '-' reads the words from stdin. If no other
    process owns the data directory, this one runs the session to its end. Exit codes are those of
    'run'.
    """
    from console.runs.run import pursue_stored

    words = sys.stdin.read().strip() if text == "-" else text
    settings = settings_for(ctx)
    options = follow_options(settings, speech)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        session = await host.core.session(session_id)
        act = protocol.UserInput(
            session_id=session.session_id, text=words, let_through=let_through, resumes=True
        )
        if host.owned or options.json_lines:
            return await pursue_stored(settings, host, session.session_id, act, stop, options)
        await host.core.request(act)
        began = "a hint" if session.turn_id else "a new turn"
        say(f"Told {session.session_id}: {began}.")
        return ExitCode.DONE

    end(run_with_session(settings, session_id, work))


@click.command()
@SESSION_ID
@JSON_OPTION
@click.pass_context
def pause(ctx: click.Context, session_id: str, as_json: bool) -> None:
    """Pause a session before its next step; 'resume' continues it."""

    async def act(core: Core, session: Session) -> CommandResult:
        await core.request(protocol.SessionPause(session_id=session.session_id))
        return f"Paused {session.session_id}.", {"ok": True}

    act_on(ctx, session_id, act, as_json=as_json)


@click.command()
@SESSION_ID
@JSON_OPTION
@click.pass_context
def stop(ctx: click.Context, session_id: str, as_json: bool) -> None:
    """Stop a session now; it can be resumed."""

    async def act(core: Core, session: Session) -> CommandResult:
        if session.state.is_terminal:
            raise WrongStateError(
                f"Session {session.session_id} is already {session.state.lower()}; nothing to stop."
            )
        await core.request(protocol.Interrupt(session_id=session.session_id))
        return f"Stopped {session.session_id}.", {"ok": True}

    act_on(ctx, session_id, act, as_json=as_json)


@click.command()
@SESSION_ID
@JSON_OPTION
@click.pass_context
def cancel(ctx: click.Context, session_id: str, as_json: bool) -> None:
    """End a session for good, and the whole tree of an agent session."""

    async def act(core: Core, session: Session) -> CommandResult:
        await core.request(protocol.SessionCancel(session_id=session.session_id))
        line = f"Cancelled {session.session_id}."
        if session.state.is_terminal:
            line = f"Session {session.session_id} is already {session.state.lower()}."
        return line, {"ok": True}

    act_on(ctx, session_id, act, as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  switchboard sessions resume 3f2a
  switchboard sessions resume 3f2a --json
  switchboard sessions resume 3f2a --again
  switchboard sessions resume 3f2a --base-url http://127.0.0.1:8000/v1
"""
)
@SESSION_ID
@click.option("--again", is_flag=True, help="Pursue the goal again even if it was met.")
@click.option(
    "--base-url",
    metavar="URL",
    help="Use the model at this address from now on; default: the session's own.",
)
@follow_flags
@click.pass_context
def resume(
    ctx: click.Context,
    session_id: str,
    *,
    again: bool,
    base_url: str | None,
    **speech: Unpack[Speech],
) -> None:
    """Resume a session after a pause, a stop, a crash or its end.

    If no other process owns the data directory, this one runs the session to its end on the same
    phone, restarting a virtual one. Exit codes are those of 'run'; --json prints the events.
    """
    from console.runs.run import pursue_stored

    settings = settings_for(ctx, {"model.base_url": base_url})
    options = follow_options(settings, speech)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        session = await host.core.session(session_id)
        if session.state is SessionState.COMPLETED and not again:
            await _confirm_again(session)
        act = protocol.SessionResume(session_id=session.session_id, endpoint=base_url or "")
        if host.owned or options.json_lines:
            return await pursue_stored(settings, host, session.session_id, act, stop, options)
        await host.core.request(act)
        say(f"Resumed {session.session_id}.")
        return ExitCode.DONE

    end(run_with_session(settings, session_id, work))


async def _confirm_again(session: Session) -> None:
    """Have somebody say that a goal that was met is to be pursued anew. Raises UsageError."""
    said = f"Session {session.session_id} is already completed"
    if not can_ask():
        raise UsageError(
            f"{said}; there is nothing left to resume.",
            f"To pursue its goal again: {to_run(f'sessions resume {session.session_id} --again')}",
        )
    await agree(f"{said}. Pursue its goal again?")


@click.command(
    epilog="""\b
Examples:
  switchboard sessions attach 3f2a            # drive it: it stays live after its turns
  switchboard sessions attach 3f2a --watch
"""
)
@SESSION_ID
@click.option("--watch", is_flag=True, help="Watch only; another client may drive.")
@click.pass_context
def attach(ctx: click.Context, session_id: str, watch: bool) -> None:
    """Open the console on a session and drive it, replacing its present driver.

    A driven session stays live after its turns; leaving the console settles it.
    """
    from console.commands.console import need_a_terminal, show

    need_a_terminal(f"Look at it: {to_run(f'sessions show {session_id}')}.")
    settings = settings_for(ctx)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        session = await host.core.session(session_id)
        await host.core.request(
            protocol.SessionAttach(session_id=session.session_id, drive=not watch)
        )
        return await show(host.core, settings, stop, focus_session=session.session_id)

    end(run_with_host(settings, EVERYTHING, work))


@click.command("attach-target")
@SESSION_ID
@JSON_OPTION
@click.pass_context
def attach_target(ctx: click.Context, session_id: str, as_json: bool) -> None:
    """Bring the app of a session to the phone's main display."""
    from agent.codex_bridge.calls import Bridge

    async def act(core: Core, session: Session) -> CommandResult:
        told = await Bridge(core, core.request).attach_target(session.session_id)
        return f"The app of {session.session_id} is on the main display.", told

    act_on(ctx, session_id, act, as_json=as_json)


COMMANDS = (
    answer,
    hint,
    say_to_session,
    let_through,
    pause,
    stop,
    resume,
    cancel,
    attach,
    attach_target,
)
"""In the order of the help page."""
