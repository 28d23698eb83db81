"""`switchboard warrants`: what is allowed in words, drafted, tried, signed, revoked.

Invariant: a warrant is signed as it was shown, by a person who said yes to it.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

import click

from agent.errors import UsageError
from console.cli_support import plain
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.cli_support.time_parsing import when_ms
from console.commands.sessions.sessions_shared import CommandResult, act_on_core
from console.core.command_settings import to_run
from console.terminal.line_input import agree, ask, can_ask

if TYPE_CHECKING:
    from agent.core import Core
    from agent.records import Correction, Effect, WarrantView

WARRANT_ID = click.argument("warrant_id", metavar="WARRANT")
_VERBS = ("spend", "send", "call")


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  switchboard warrants draft "today up to 40 EUR in com.example.shop, messages to Ana Silva"
  switchboard warrants sign w-3f2a
  switchboard warrants try w-3f2a spend --amount "40.01 EUR" --app com.example.shop
""",
)
def warrants() -> None:
    """Manage what is allowed without a question, in words that you sign."""


@warrants.command()
@click.argument("words")
@click.option(
    "--clause",
    "clauses",
    multiple=True,
    metavar="PARTS",
    help="A clause as 'verb=spend;total=40 EUR;app=PACKAGE;to=NAMES;items=THINGS;each=AMOUNT;"
    "count=N;until=TIME'; without any, a model reads the words. Repeatable.",
)
@click.option("--until", default="", help="When it ends; default: as the words say, or today.")
@click.option("--session", "session_id", default="", help="The one session that it is for.")
@JSON_OPTION
@click.pass_context
def draft(
    ctx: click.Context,
    *,
    words: str,
    clauses: tuple[str, ...],
    until: str,
    session_id: str,
    as_json: bool,
) -> None:
    """Draft a warrant of WORDS, with ten borderline cases; it allows nothing yet."""
    from agent.protocol import WarrantDraft
    from console.commands.fleet.warrant_clauses import parse_clause

    now = datetime.now().astimezone()
    op = WarrantDraft(
        words=words,
        clauses=tuple(parse_clause(one, now) for one in clauses),
        expires_ms=when_ms(until, now),
        session_id=session_id,
    )

    async def act(core: Core) -> CommandResult:
        view = _of((await core.request(op)).warrant)
        sign_it = f"Sign it: {to_run(f'warrants sign {view.warrant.warrant_id}')}"
        return _shown(view, "" if view.gaps else sign_it), _view_json(view)

    act_on_core(ctx, act, as_json=as_json)


@warrants.command("list")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@JSON_OPTION
@click.pass_context
def list_command(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List warrants and drafts, the newest first."""
    from agent.protocol import ListWarrants

    async def act(core: Core) -> CommandResult:
        views = await core.look_up(ListWarrants(limit=limit))
        told = {"ok": True, "warrants": [plain.as_builtins(one) for one in views]}
        if not views:
            return "There are no warrants.", told
        rows = [_row(one) for one in views]
        return plain.columns(("ID", "STATE", "UNTIL", "USES", "WORDS"), rows).rstrip("\n"), told

    act_on_core(ctx, act, as_json=as_json)


@warrants.command()
@WARRANT_ID
@JSON_OPTION
@click.pass_context
def show(ctx: click.Context, *, warrant_id: str, as_json: bool) -> None:
    """Show a warrant: its clauses, what is left of them, its borderline cases."""

    async def act(core: Core) -> CommandResult:
        view = await _warrant_view(core, warrant_id)
        return _shown(view), _view_json(view)

    act_on_core(ctx, act, as_json=as_json)


@warrants.command()
@WARRANT_ID
@click.option(
    "--wrong", default="", metavar="NUMBERS", help="Cases whose verdict you turn round, as 3,7."
)
@click.option("--yes", is_flag=True, help="Sign without being asked.")
@JSON_OPTION
@click.pass_context
def sign(ctx: click.Context, *, warrant_id: str, wrong: str, yes: bool, as_json: bool) -> None:
    """Correct a draft's borderline cases, and sign it; only a person may."""
    from agent.protocol import WarrantCorrect, WarrantSign

    async def act(core: Core) -> CommandResult:
        view = await _warrant_view(core, warrant_id)
        asks = can_ask() and not yes
        numbers = wrong
        if asks and not wrong:
            click.echo(_shown(view))
            numbers = await ask("Which verdicts are wrong? Numbers, or nothing", may_be_blank=True)
        corrections = _corrections(view, numbers)
        if corrections:
            corrected = WarrantCorrect(warrant_id=view.warrant.warrant_id, corrections=corrections)
            view = _of((await core.request(corrected)).warrant)
            click.echo(_shown(view), err=as_json)
        if asks:
            await agree("Sign it as it stands?")
        op = WarrantSign(
            warrant_id=view.warrant.warrant_id,
            clauses=view.warrant.clauses,
            expires_ms=view.warrant.expires_ms,
        )
        view = _of((await core.request(op)).warrant)
        return f"{_title(view)}.", _view_json(view)

    act_on_core(ctx, act, as_json=as_json)


@warrants.command()
@WARRANT_ID
@JSON_OPTION
@click.pass_context
def revoke(ctx: click.Context, *, warrant_id: str, as_json: bool) -> None:
    """Revoke a warrant or drop a draft, effective at once."""
    from agent.protocol import WarrantRevoke

    async def act(core: Core) -> CommandResult:
        view = _of((await core.request(WarrantRevoke(warrant_id=warrant_id))).warrant)
        return f"{_title(view)}.", _view_json(view)

    act_on_core(ctx, act, as_json=as_json)


@warrants.command("try")
@WARRANT_ID
@click.argument("verb", type=click.Choice(_VERBS))
@click.option("--amount", default="", metavar="AMOUNT", help="What it pays, as '40.01 EUR'.")
@click.option("--to", default="", metavar="NAME", help="Who gets it, as the phone shows the name.")
@click.option("--app", default="", metavar="PACKAGE", help="The app in which it is done.")
@click.option("--items", default="", metavar="THINGS", help="What it buys, with commas.")
@click.option("--at", default="", metavar="TIME", help="When; default: now.")
@JSON_OPTION
@click.pass_context
def try_command(
    ctx: click.Context,
    *,
    warrant_id: str,
    verb: str,
    amount: str,
    to: str,
    app: str,
    items: str,
    at: str,
    as_json: bool,
) -> None:
    """Say whether an act would be inside a warrant as it stands; nothing is done or used."""
    from agent.safety.warrants.reach import Scene, reach_of
    from agent.safety.warrants.wording import reach_words

    effect = _effect(verb, amount, to, app, items)
    now_ms = when_ms(at, datetime.now().astimezone()) or time.time_ns() // 1_000_000

    async def act(core: Core) -> CommandResult:
        view = await _warrant_view(core, warrant_id)
        one = view.warrant
        scene = Scene(now_ms=now_ms, reads_items=True)
        reach = reach_of(effect, one, view.uses, scene)
        beyond = "no clause is about that" if reach is None else reach.beyond
        name = one.warrant_id
        said = f"beyond {name}: {beyond}" if reach is None else reach_words(name, reach)
        void = f"; the warrant allows nothing now: {view.trouble}" if view.trouble else ""
        told = {"ok": True, "inside": not beyond, "beyond": beyond, "trouble": view.trouble}
        return f"{said[:1].upper()}{said[1:]}{void}.", told

    act_on_core(ctx, act, as_json=as_json)


def _effect(verb: str, amount: str, to: str, app: str, items: str) -> Effect:
    from agent.records import Effect, EffectVerb, Stated
    from console.commands.fleet.warrant_clauses import amount_of, verb_of

    kind = verb_of(verb)
    hundredths, unit = amount_of(amount)
    if (kind is EffectVerb.SPEND) is not bool(amount):
        raise UsageError("Only payments have an amount, and all do.", 'Use --amount "40.01 EUR".')
    content = Stated(text=items) if items else None
    return Effect(
        verb=kind,
        app=app,
        recipient=Stated(text=to) if to else None,
        content=Stated(text="a message") if kind is EffectVerb.SEND else content,
        amount=Stated(text=f"{hundredths / 100:.2f} {unit}") if amount else None,
        currency=unit,
    )


async def _warrant_view(core: Core, warrant_id: str) -> WarrantView:
    from agent.protocol import ListWarrants

    views = await core.look_up(ListWarrants(warrant_id=warrant_id, limit=2))
    if len(views) != 1:
        which = "several warrants" if views else "no warrant"
        raise UsageError(f"{warrant_id[:40]!r} names {which}.", "switchboard warrants list")
    return views[0]


def _of(view: WarrantView | None) -> WarrantView:
    assert view is not None, "every op on warrants replies with one"
    return view


def _corrections(view: WarrantView, numbers: str) -> tuple[Correction, ...]:
    """Return the other verdicts of some cases. Raises UsageError."""
    from agent.records import Correction, ReviewVerdict

    wanted = [part for part in numbers.replace(",", " ").split() if part]
    if not all(part.isascii() and part.isdecimal() for part in wanted):
        raise UsageError(f"{numbers[:40]!r} are not numbers of cases.", "Write them as 3,7.")
    by_number = {case.number: case.verdict for case in view.cases}
    return tuple(
        Correction(case=int(one), allows=by_number.get(int(one)) is not ReviewVerdict.ALLOW)
        for one in dict.fromkeys(wanted)
    )


def _shown(view: WarrantView, last: str = "") -> str:
    from agent.safety.warrants.wording import case_lines, moment

    one = view.warrant
    by = f"read by {one.proposed_by}" if one.proposed_by else "filled in by hand"
    scope = f", only for session {one.session_id}" if one.session_id else ""
    lines = [
        f"{_title(view)}.",
        f"“{one.words}”",
        f"Ends at {moment(one.expires_ms)}{scope}; {by}.",
    ]
    lines += ["", "Clauses:", *(f"  {line}" for line in view.lines)]
    lines += ["", "At its edges:", *(f"  {line}" for line in case_lines(view.cases))]
    if view.gaps:
        lines += ["", "It cannot be signed yet:", *(f"  {gap}" for gap in view.gaps)]
    return "\n".join([*lines, "", last] if last else lines)


def _title(view: WarrantView) -> str:
    state = view.trouble or "it stands"
    return f"Warrant {view.warrant.warrant_id}: {state}"


def _row(view: WarrantView) -> tuple[str, str, str, str, str]:
    from agent.safety.warrants.wording import moment

    one = view.warrant
    state = view.trouble or "it stands"
    return one.warrant_id, state, moment(one.expires_ms), str(len(view.uses)), one.words


def _view_json(view: WarrantView) -> dict[str, object]:
    return {"ok": True, **plain.as_builtins(view)}
