"""`switchboard watchers`: what the core looks out for while a console or the daemon is open.

A client of the process that owns the data directory when one runs; otherwise it writes the store
itself. Invariant: a watcher is only kept here; it looks in the process that owns the store.
"""

from datetime import datetime
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import click
import msgspec

from agent.core import Core
from agent.errors import UsageError
from agent.protocol import WatcherCreate, WatcherList, WatcherRead, WatcherShow, WatcherStop
from agent.records import Evaluator, NotifyOn, Watcher, WatcherType
from agent.state.terms import term, without_codes
from agent.text import clean, counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.plain import moment, span
from console.cli_support.sections import CommandGroup
from console.cli_support.time_parsing import duration_ms, moment_ms
from console.core.device_setup import CONNECTED, NO_DEVICES
from console.core.host import run_with_core, run_with_records
from console.terminal.signals import StopRequest

if TYPE_CHECKING:
    from console.core.stored_core import Records

_KINDS = ["notification", "message_reply", "call_back", "web_change", "screen_text", "time"]


@click.group(cls=CommandGroup)
def watchers() -> None:
    """Watch notifications, messages, calls, pages, screens and times."""


@watchers.command(
    epilog="""\b
Examples:
  switchboard watchers create notification --text parcel --notice "The parcel is here"
  switchboard watchers create message_reply --from Ana --no-reply --until 18:30
  switchboard watchers create web_change https://example.com --do "say what is new on {{event.url}}"
  switchboard watchers create web_change https://example.com --means "tickets are on sale"
  switchboard watchers create call_back --from "030 1234567" --tool commitment_create \\
      --arguments '{"title": "Thank {{event.sender}} for calling back"}'
  switchboard watchers create screen_text --text Delivered --app com.shop --device 127.0.0.1:6001
  switchboard watchers create time --at 18:30 --do "read the newest message aloud"
"""
)
@click.argument("kind", type=click.Choice(_KINDS))
@click.argument("url", default="")
@click.option("--title", default="", help="Title in lists; default: what it watches for.")
@click.option("--text", "texts", multiple=True, help="Required text; repeatable.")
@click.option("--any", "match_any", is_flag=True, help="One of the texts is enough.")
@click.option("--app", "package", default="", metavar="PACKAGE", help="Only from this app.")
@click.option(
    "--means", "meaning", default="", metavar="TEXT", help="What a model must find in it."
)
@click.option(
    "--from", "sender", default="", metavar="NAME", help="Only from this person or phone number."
)
@click.option("--device", "serial", default="", metavar="SERIAL", help="Only on this phone.")
@click.option("--every", metavar="DURATION", help="How often to check, or to repeat a time.")
@click.option("--at", metavar="MOMENT", help="When a time watcher fires, like 18:30.")
@click.option("--until", metavar="MOMENT", help="When to give up.")
@click.option("--no-reply", "--no-call", is_flag=True, help="Fire at --until if there was none.")
@click.option("--again", "recurring", is_flag=True, help="Keep looking after a match.")
@click.option("--do", "prompt", default="", metavar="PROMPT", help="Start a job that does this.")
@click.option("--tool", default="", metavar="NAME", help="Start a job that calls this one tool.")
@click.option("--arguments", default="", metavar="JSON", help="Arguments of --tool.")
@click.option(
    "--target",
    default="isolated",
    show_default=True,
    metavar="isolated|main|session:ID",
    help="The session it uses.",
)
@click.option("--silent", is_flag=True, help="Send no notice.")
@click.option("--notice", default="", metavar="TEXT", help="Text of the notice.")
@JSON_OPTION
@click.pass_context
def create(
    ctx: click.Context,
    *,
    kind: str,
    url: str,
    title: str,
    texts: tuple[str, ...],
    match_any: bool,
    meaning: str,
    package: str,
    sender: str,
    serial: str,
    every: str | None,
    at: str | None,
    until: str | None,
    no_reply: bool,
    recurring: bool,
    prompt: str,
    tool: str,
    arguments: str,
    target: str,
    silent: bool,
    notice: str,
    as_json: bool,
) -> None:
    """Create a watcher. URL is the page of a web_change."""
    now = datetime.now().astimezone()
    op = WatcherCreate(
        watcher_type=WatcherType(kind),
        title=title,
        serial=serial,
        package=package,
        sender=sender,
        texts=texts,
        match_any=match_any,
        url=url,
        evaluator=(
            Evaluator.SEMANTIC_MATCH
            if meaning
            else Evaluator.TEXT_CONTAINS
            if url and texts
            else Evaluator.HASH_CHANGE
        ),
        meaning=meaning,
        notify_on=NotifyOn.NO_REPLY if no_reply else NotifyOn.REPLY,
        next_run_at=moment_ms(at, now) if at else 0,
        interval_ms=duration_ms(every) if every else 0,
        recurring=recurring,
        deadline_at=moment_ms(until, now) if until else 0,
        prompt=prompt,
        tool=tool,
        arguments=_object(arguments, ctx),
        session_target=target,
        delivery_mode="silent" if silent else "notification",
        notification_text=notice,
        request_id=token_hex(8),
    )

    async def work(core: Core, owned: bool, _stop: StopRequest) -> ExitCode:
        reply = await core.request(op)
        assert reply.watcher is not None, "what was created is in the reply"
        if as_json:
            plain.print_json(plain.as_builtins(reply.watcher))
        else:
            plain.print_text(f"Watcher {reply.watcher.id}: {reply.watcher.title}")
        if owned:
            say("It watches while a console or the daemon is running.")
        return ExitCode.DONE

    end(run_with_core(ctx, work, devices=CONNECTED if serial else NO_DEVICES, is_repeatable=True))


def _object(text: str, ctx: click.Context) -> dict[str, Any]:
    """Read the arguments of a tool. Raises click.BadParameter."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any]) if text.strip() else {}
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise click.BadParameter(
            'Write one JSON object, like \'{"title": "…"}\'.', ctx=ctx, param_hint="--arguments"
        ) from error


@watchers.command("list")
@click.option("--query", default="", metavar="TEXT", help="Only those that contain this.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@JSON_OPTION
@click.pass_context
def list_watchers(ctx: click.Context, query: str, limit: int, as_json: bool) -> None:
    """List watchers, newest first."""
    from console.core.stored_core import StoredRecords, owner

    async def work(records: "Records") -> ExitCode:
        if isinstance(records, StoredRecords):
            found = await records.store.watches.watchers(query=query, limit=limit)
        else:
            op = WatcherList(query=query, limit=limit)
            found = (await owner(records).request(op)).watchers
        if as_json:
            plain.print_json({"data": [plain.as_builtins(one) for one in found]})
        elif not found:
            say("No watchers. Make one with: switchboard watchers create notification --text TEXT")
        else:
            rows = [
                (str(one.id), term(one.status), term(one.type), str(one.fired_count), one.title)
                for one in found
            ]
            plain.print_text(plain.columns(("ID", "STATUS", "LOOKS AT", "FOUND", "TITLE"), rows))
        return ExitCode.DONE

    end(run_with_records(ctx, work))


@watchers.command()
@click.argument("watcher_id", type=click.IntRange(1), metavar="WATCHER")
@JSON_OPTION
@click.pass_context
def show(ctx: click.Context, watcher_id: int, as_json: bool) -> None:
    """Show a watcher and its last match."""
    from console.core.stored_core import StoredRecords, owner

    async def work(records: "Records") -> ExitCode:
        if isinstance(records, StoredRecords):
            found = await records.store.watches.watcher(watcher_id)
        else:
            found = (await owner(records).request(WatcherShow(watcher_id=watcher_id))).watcher
        if found is None:
            raise UsageError(
                f"There is no watcher {watcher_id}.", "List them: switchboard watchers list"
            )
        plain.print_json(plain.as_builtins(found)) if as_json else plain.print_text(
            _watcher_text(found)
        )
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _watcher_text(one: Watcher) -> str:
    """Write a watcher as lines of name and value."""
    wanted = ", ".join(
        f"{name.replace('_', ' ')}: "
        f"{', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in one.condition_json.items()
        if value
    )
    every = one.schedule_json.get("interval_ms", 0)
    facts = (
        ("watcher", f"{one.id}: {one.title}"),
        ("status", term(one.status)),
        ("looks at", term(one.type)),
        ("for", wanted or "anything"),
        ("every", span(every) if isinstance(every, int) and every > 0 else "-"),
        ("again", "yes" if one.schedule_json.get("recurring") else "once"),
        ("found", f"{counted(one.fired_count, 'time')}, last {moment(one.fired_at)}"),
        ("failures", str(one.failure_count)),
        ("not read", one.shortfall or "-"),
        ("then", _reaction(one)),
        ("last job", str(one.job_id or "-")),
        ("last result", without_codes(one.last_result) or "-"),
    )
    calls = one.usage.calls
    judged = (("judged", f"{counted(calls, 'time')}, {one.usage.cost_usd:.4f} $"),) if calls else ()
    return "\n".join(f"{name:<12}{clean(value, 4_000)}" for name, value in (*facts, *judged))


def _reaction(one: Watcher) -> str:
    """Return what a match leads to."""
    tool, arguments = one.delivery_json.get("tool"), one.delivery_json.get("arguments", {})
    if tool:
        return f"call {tool} {arguments}"
    return str(one.delivery_json.get("prompt") or "a notice")


@watchers.command()
@click.argument("watcher_id", type=click.IntRange(1), metavar="[WATCHER]", required=False)
@click.option("--query", default="", metavar="TEXT", help="Stop those with this in their title.")
@click.option("--all", "all_of_them", is_flag=True, help="Stop every active watcher.")
@click.pass_context
def stop(ctx: click.Context, watcher_id: int | None, query: str, all_of_them: bool) -> None:
    """Stop watchers for good: one, those that match a text, or all."""
    op = WatcherStop(watcher_id=watcher_id or 0, query=query, all=all_of_them)

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        gone = (await core.request(op)).watchers
        names = ", ".join(str(one.id) for one in gone)
        say(f"Stopped: {names}." if gone else "No active watcher matches.")
        return ExitCode.DONE

    end(run_with_core(ctx, work))


@watchers.command()
@click.argument("watcher_id", type=click.IntRange(1), metavar="WATCHER")
@click.pass_context
def read(ctx: click.Context, watcher_id: int) -> None:
    """Mark a watcher's last match as seen."""

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        await core.request(WatcherRead(watcher_id=watcher_id))
        say(f"Marked the last match of watcher {watcher_id} as seen.")
        return ExitCode.DONE

    end(run_with_core(ctx, work))
