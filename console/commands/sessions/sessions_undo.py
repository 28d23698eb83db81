"""`sessions undo`: what of a session's effects can be taken back on the phone, and doing it."""

import time

import click

from agent import protocol
from agent.core import Core
from agent.errors import SwitchboardError
from agent.records import Session, UndoOffer
from agent.state.event_text import UNDO_UNSEEN, undo_words
from agent.text import counted
from console.cli_support import plain
from console.cli_support.options import JSON_OPTION
from console.commands.sessions.sessions_shared import SESSION_ID, CommandResult, act_on_core

_NO_END = (1 << 62) - 1
_NEWEST = 50  # Of a session that waits, nothing else is stored meanwhile.


@click.command(
    epilog="""\b
Examples:
  switchboard sessions undo 3f2a                 # the newest that can be taken back
  switchboard sessions undo 3f2a --step 4
  switchboard sessions undo 3f2a --list
"""
)
@SESSION_ID
@click.option(
    "--step", type=click.IntRange(min=1), default=None, metavar="N", help="What step N did."
)
@click.option("--list", "lists", is_flag=True, help="Only list what can be taken back.")
@click.option("--yes", is_flag=True, help="Approve the act, where it needs approval.")
@JSON_OPTION
@click.pass_context
def undo(
    ctx: click.Context, *, session_id: str, step: int | None, lists: bool, yes: bool, as_json: bool
) -> None:
    """Take back on the phone what a session did; its session has to wait or be over."""

    async def act(core: Core) -> CommandResult:
        session = await core.session(session_id)
        if lists:
            return await _listed(core, session)
        await core.request(
            protocol.UndoEffect(session_id=session.session_id, step=step or 0, approved=yes)
        )
        done = await _newest(core, session)
        said = undo_words(done)
        line = f"{said[:1].upper()}{said[1:]}"
        if not done.is_back:
            line = f"{line} {UNDO_UNSEEN}"
        return line, {"ok": True, **plain.as_builtins(done)}

    act_on_core(ctx, act, as_json=as_json, sees_phones=True)


async def _listed(core: Core, session: Session) -> CommandResult:
    offers = await core.look_up(protocol.ListUndoOffers(session_id=session.session_id))
    lines = [_line(one) for one in offers]
    told = {"ok": True, "offers": [plain.as_builtins(one) for one in offers]}
    return "\n".join(lines) or "Nothing can be taken back from the newest screen.", told


def _line(offer: UndoOffer) -> str:
    left_s = max(0, round(offer.until_ms / 1000 - time.time()))
    left = f" ({counted(left_s, 'second')} left at most)" if offer.until_ms else ""
    return f"step {offer.step}: {offer.what}. {offer.says}{left}"


async def _newest(core: Core, session: Session) -> protocol.UndoFinished:
    """Return what the newest act came to. Raises SwitchboardError where none is stored."""
    newest = await core.history(session.session_id, before_seq=_NO_END, limit=_NEWEST)
    for event in reversed(newest):
        if isinstance(event.msg, protocol.UndoFinished):
            return event.msg
    raise SwitchboardError("The act was not stored.", "This is a defect: report it.")
