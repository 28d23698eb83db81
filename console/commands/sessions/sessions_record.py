"""What is done with the record: keep, fork, roll back, export, import, delete, clear."""

from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import click

from agent import protocol
from agent.core import Core
from agent.errors import UsageError
from agent.records import GoalVerdict, Session, VerifiedBy
from agent.text import counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.commands.sessions.sessions_shared import (
    SESSION_ID,
    YES,
    CommandResult,
    act_on,
    act_on_core,
    confirm,
)
from console.core.host import run_with_core, run_with_records
from console.terminal.signals import StopRequest

if TYPE_CHECKING:
    from console.core.stored_core import Records


@click.command()
@SESSION_ID
@click.option("--not", "release", is_flag=True, help="Apply retention to it again.")
@JSON_OPTION
@click.pass_context
def keep(ctx: click.Context, session_id: str, release: bool, as_json: bool) -> None:
    """Keep a tree's frames and caches for ever; --not reverses it."""

    async def act(core: Core, session: Session) -> CommandResult:
        await core.request(protocol.SessionKeep(session_id=session.session_id, kept=not release))
        done = "No longer keeps" if release else "Keeps"
        return f"{done} {session.session_id}.", {"ok": True, "kept": not release}

    act_on(ctx, session_id, act, as_json=as_json)


@click.command("tag")
@SESSION_ID
@click.argument("tags", nargs=-1)
@JSON_OPTION
@click.pass_context
def tag_session(ctx: click.Context, session_id: str, tags: tuple[str, ...], as_json: bool) -> None:
    """Replace the tags of a session; without TAGS it has none."""

    async def act(core: Core, session: Session) -> CommandResult:
        await core.request(protocol.SessionTag(session_id=session.session_id, tags=tags))
        said = f"Tagged {session.session_id}: {' '.join(tags) or 'no tags'}."
        return said, {"ok": True, "tags": list(tags)}

    act_on(ctx, session_id, act, as_json=as_json)


@click.command("rename")
@SESSION_ID
@click.argument("title", nargs=-1)
@JSON_OPTION
@click.pass_context
def rename(ctx: click.Context, session_id: str, title: tuple[str, ...], as_json: bool) -> None:
    """Set a session's title; without TITLE, reset it to the goal."""

    async def act(core: Core, session: Session) -> CommandResult:
        await core.request(
            protocol.SessionRename(session_id=session.session_id, title=" ".join(title))
        )
        renamed = await core.session(session.session_id)
        told = {"ok": True, "title": renamed.title}
        return f"Renamed {session.session_id}: {renamed.title}", told

    act_on(ctx, session_id, act, as_json=as_json)


@click.command("dismiss")
@SESSION_ID
@click.option("--undo", is_flag=True, help="Show it on the Deck again.")
@JSON_OPTION
@click.pass_context
def dismiss(ctx: click.Context, session_id: str, undo: bool, as_json: bool) -> None:
    """Remove an ended session from every Deck; the history keeps it."""

    async def act(core: Core, session: Session) -> CommandResult:
        await core.request(
            protocol.SessionDismiss(session_id=session.session_id, dismissed=not undo)
        )
        done = "Back on the Deck:" if undo else "Dismissed"
        return f"{done} {session.session_id}.", {"ok": True, "dismissed": not undo}

    act_on(ctx, session_id, act, as_json=as_json)


@click.command(
    "confirm",
    epilog="""\b
Examples:
  switchboard sessions confirm 3f2a
  switchboard sessions confirm 3f2a --wrong --reason "it booked the wrong day"
""",
)
@SESSION_ID
@click.option("--wrong", is_flag=True, help="The goal is not met.")
@click.option("--reason", default="", metavar="TEXT", help="Why; stored with the verdict.")
@click.option(
    "--checker",
    is_flag=True,
    help="The verdict comes from a program that read the phone's true state.",
)
@JSON_OPTION
@click.pass_context
def confirm_result(
    ctx: click.Context, session_id: str, wrong: bool, reason: str, checker: bool, as_json: bool
) -> None:
    """Record that a completed session met its goal, or --wrong; the newest verdict counts."""
    by = VerifiedBy.CHECKER if checker else VerifiedBy.OPERATOR
    verdict = GoalVerdict.NOT_MET if wrong else GoalVerdict.MET

    async def act(core: Core, session: Session) -> CommandResult:
        await core.request(
            protocol.SessionVerify(
                session_id=session.session_id, verdict=verdict, verified_by=by, reason=reason
            )
        )
        said = "Called wrong" if wrong else "Confirmed"
        told = {"ok": True, "verifiedBy": by.value, "verdict": verdict.value}
        return f"{said}: {session.session_id}.", told

    act_on(ctx, session_id, act, as_json=as_json)


@click.command(
    "require",
    epilog="""\b
Examples:
  switchboard sessions require 3f2a                      # list them
  switchboard sessions require 3f2a "no other alarm is changed"
  switchboard sessions require 3f2a --withdraw 2
  switchboard sessions require 3f2a --person "the tone is friendly"
""",
)
@SESSION_ID
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option(
    "--withdraw", type=click.IntRange(min=1), multiple=True, metavar="N", help="Withdraw number N."
)
@click.option("--person", is_flag=True, help="Only you can judge it: you are asked at the end.")
@JSON_OPTION
@click.pass_context
def require(
    ctx: click.Context,
    *,
    session_id: str,
    texts: tuple[str, ...],
    withdraw: tuple[int, ...],
    person: bool,
    as_json: bool,
) -> None:
    """List what a session's goal requires; add TEXTs, or withdraw some."""
    from agent.state.event_text import requirement_line

    async def act(core: Core, session: Session) -> CommandResult:
        if texts or withdraw:
            await core.request(
                protocol.EditRequirements(
                    session_id=session.session_id, add=texts, withdraw=withdraw, person=person
                )
            )
            session = await core.session(session.session_id)
        lines = [requirement_line(one) for one in session.requirements]
        told = {"ok": True, "requirements": [plain.as_builtins(r) for r in session.requirements]}
        return "\n".join(lines) or "No requirements yet: the first step lists them.", told

    act_on(ctx, session_id, act, as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  switchboard sessions fork 3f2a
  switchboard sessions fork 3f2a --before 1     # as it was before the second message
"""
)
@SESSION_ID
@click.option(
    "--before",
    type=click.IntRange(min=0),
    default=None,
    metavar="N",
    help="Copy everything before the operator's message N; the goal is 0.",
)
@click.option(
    "--after-step",
    type=click.IntRange(min=1),
    default=None,
    metavar="N",
    help="Copy up to the end of step N instead.",
)
@JSON_OPTION
@click.pass_context
def fork(
    ctx: click.Context,
    *,
    session_id: str,
    before: int | None,
    after_step: int | None,
    as_json: bool,
) -> None:
    """Copy a session's past into a new one that waits for its next prompt."""
    from agent.codex_bridge.session_object import session_object

    request_id = token_hex(8)

    async def act(core: Core, session: Session) -> CommandResult:
        op = protocol.SessionFork(
            session_id=session.session_id,
            before_message=-1 if before is None else before,
            after_step=after_step or 0,
            request_id=request_id,
        )
        made = await core.session((await core.request(op)).session_id)
        line = f"Forked {session.session_id} as {made.session_id}."
        return line, session_object(made)

    act_on(ctx, session_id, act, as_json=as_json, is_repeatable=True)


@click.command()
@SESSION_ID
@click.argument("turns", type=click.IntRange(1, 10_000), default=1, metavar="[TURNS]")
@JSON_OPTION
@click.pass_context
def rollback(ctx: click.Context, session_id: str, turns: int, as_json: bool) -> None:
    """Hide the newest TURNS (1) of a session from its model; undoes nothing on a phone."""

    async def act(core: Core, session: Session) -> CommandResult:
        await core.request(protocol.SessionRollback(session_id=session.session_id, turns=turns))
        return f"Rolled back {turns} of {session.session_id}.", {"ok": True, "turns": turns}

    act_on(ctx, session_id, act, as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  switchboard sessions export 3f2a              # into this directory, under its own name
  switchboard sessions export 3f2a run.jsonl --blobs beside
"""
)
@SESSION_ID
@click.argument("file", type=click.Path(path_type=Path), default=Path(), metavar="[FILE]")
@click.option(
    "--blobs",
    type=click.Choice(["inline", "beside", "none"]),
    default="inline",
    show_default=True,
    help="Where its frames and trees go.",
)
@click.option("--overwrite", is_flag=True, help="Overwrite an existing file.")
@JSON_OPTION
@click.pass_context
def export(
    ctx: click.Context, *, session_id: str, file: Path, blobs: str, overwrite: bool, as_json: bool
) -> None:
    """Write a session as a rollout: JSON lines that 'import' reads on any machine."""
    from agent.sessions.rollout.rollout_write import Blobs, export_rollout

    place = file.absolute()

    async def work(core: "Records") -> ExitCode:
        from console.commands.sessions.sessions_show import tell_missing

        if blobs != "none":
            await tell_missing(core, session_id)
        done = await export_rollout(
            core, session_id, place, blobs=Blobs(blobs), overwrite=overwrite
        )
        if as_json:
            plain.print_json({"ok": True, **plain.as_builtins(done)})
        else:
            plain.print_text(str(done.path))
        return ExitCode.DONE

    end(run_with_records(ctx, work))


@click.command("import")
@click.argument(
    "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE"
)
@click.option("--as-new", is_flag=True, help="Give it a new id.")
@JSON_OPTION
@click.pass_context
def import_rollout(ctx: click.Context, file: Path, as_new: bool, as_json: bool) -> None:
    """Read a rollout written by 'export'; broken lines are skipped and counted."""
    from agent.codex_bridge.session_object import session_object

    op = protocol.SessionImport(path=str(file.resolve()), as_new=as_new)

    async def act(core: Core) -> CommandResult:
        reply = await core.request(op)
        made = await core.session(reply.session_id)
        skipped = f" Broken lines left out: {reply.skipped_lines}." * bool(reply.skipped_lines)
        told = {**session_object(made), "skippedLines": reply.skipped_lines}
        return f"Imported {made.session_id}.{skipped}", told

    act_on_core(ctx, act, as_json=as_json)


@click.command()
@SESSION_ID
@YES
@JSON_OPTION
@click.pass_context
def delete(ctx: click.Context, session_id: str, yes: bool, as_json: bool) -> None:
    """Delete a settled session, its children and their data."""

    async def act(core: Core, session: Session) -> CommandResult:
        await confirm(f"Delete {session.session_id} for ever?", yes=yes)
        reply = await core.request(protocol.SessionDelete(session_id=session.session_id))
        deleted = list(reply.session_ids or (session.session_id,))
        return f"Deleted {', '.join(deleted)}.", {"ok": True, "deletedSessionIds": deleted}

    act_on(ctx, session_id, act, as_json=as_json)


@click.command()
@click.option("--all", "all_sessions", is_flag=True, help="Confirm deleting all of them.")
@JSON_OPTION
@click.pass_context
def clear(ctx: click.Context, all_sessions: bool, as_json: bool) -> None:
    """Cancel and delete every session that is not kept; refused without --all."""
    from agent.codex_bridge.calls import Bridge

    if not all_sessions:
        # Word for word what the desktop bridge of Codex Android says.
        raise UsageError("sessions clear requires --all")

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        told = await Bridge(core, core.request).clear(all_sessions=True)
        if as_json:
            plain.print_json(told)
        else:
            say(f"Cleared {counted(len(told['clearedSessionIds']), 'session')}.")
            for session_id, why in told["failedSessionIds"].items():
                say(f"{session_id} was not cleared: {why}")
            if told["remainingSessionIds"]:
                say(f"Left: {', '.join(told['remainingSessionIds'])}")
        return ExitCode.DONE if told["ok"] else ExitCode.FAILED

    end(run_with_core(ctx, work))


COMMANDS = (
    *(tag_session, rename, require, dismiss, keep, fork),
    *(rollback, export, import_rollout, delete, clear),
)
"""In the order of the help page."""
