"""`switchboard audit`: show the chain of what was done and allowed, and prove that it is whole.

It changes nothing. Invariant: `verify` ends with 1 as soon as one line of the chain, or one stored
event that it names, is not what was written.
"""

from __future__ import annotations

import datetime
import re
from collections import deque
from typing import TYPE_CHECKING, Any

import click

from agent.text import call_result_words, counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.core.command_settings import settings_for
from console.core.host import run_with_records

if TYPE_CHECKING:
    from agent.audit.hash_chain import Report
    from agent.audit.store_comparison import Compared
    from console.core.stored_core import Records

_SHOWN_FINDINGS = 50
_SEQ = re.compile(r"[0-9]{1,18}")
_LAST_MS = 253_402_300_800_000
"""The year 10000: no clock says later, but a line that was edited may."""


@click.group(cls=CommandGroup)
def audit() -> None:
    """Show what sessions did and were allowed to do; verify the audit."""


@audit.command(
    epilog="""\b
Examples:
  switchboard audit show --limit 20
  switchboard audit show --session 3f9a12 --json | jq '.[] | select(.risk == "financial")'
"""
)
@click.option("--session", metavar="ID", default="", help="Only of this session (or a prefix).")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=50, metavar="N", help="The newest N lines."
)
@JSON_OPTION
@click.pass_context
def show(ctx: click.Context, session: str, limit: int, as_json: bool) -> None:
    """Print the newest lines of the audit, oldest first."""
    from agent.audit.audit_writer import DIRECTORY
    from agent.audit.hash_chain import read_lines

    directory = settings_for(ctx).data_dir / DIRECTORY
    wanted = (
        line
        for line in read_lines(directory)
        if str(line.get("session_id", "")).startswith(session)
    )
    lines = list(deque(wanted, maxlen=limit))
    if as_json:
        plain.print_json(lines)
        return
    if not lines:
        plain.print_text("Nothing has been audited yet.")
        return
    plain.print_text(
        plain.columns(("seq", "time", "session", "step", "what", "detail"), map(_row, lines))
    )


@audit.command(
    epilog="""\b
It finds lines that were edited, deleted or reordered, and, if head.json exists, a missing end.
A user with write access can forge all of it: keep the head elsewhere and pass it with
--expect.

\b
Examples:
  switchboard audit verify
  switchboard audit verify --expect 1841:9f2c…
"""
)
@click.option("--expect", metavar="SEQ:HASH", default="", help="A head saved earlier.")
@JSON_OPTION
@click.pass_context
def verify(ctx: click.Context, expect: str, as_json: bool) -> None:
    """Check every line of the audit and every stored event it names."""
    from agent.audit.audit_writer import DIRECTORY
    from agent.audit.hash_chain import read_lines
    from agent.audit.hash_chain import verify as check
    from agent.audit.store_comparison import compare

    directory = settings_for(ctx).data_dir / DIRECTORY
    known = _expected(expect) if expect else None

    async def work(records: Records) -> ExitCode:
        report = check(directory, known, is_needed=bool(await records.sessions(limit=1)))
        found = await compare(list(read_lines(directory)), records.history)
        findings = _findings(report, found)
        if as_json:
            plain.print_json(
                {
                    "ok": not findings,
                    "lines": report.lines,
                    "head": _head(report),
                    "findings": findings,
                    "events_gone": found.deleted,
                    "events_before_the_audit": found.untold,
                }
            )
        else:
            _tell(report, found, findings)
        return ExitCode.FAILED if findings else ExitCode.DONE

    end(run_with_records(ctx, work))


@audit.command(
    epilog="""\b
A press passes unread once it opened nothing but another page in three turns; in another version of
the app it is read again. What had an effect once is always read.

\b
Examples:
  switchboard audit navigation
  switchboard audit navigation --forget com.example.home
"""
)
@click.option("--forget", metavar="PACKAGE", default="", help="Read all presses of an app again.")
@JSON_OPTION
def navigation(forget: str, as_json: bool) -> None:
    """List how many presses of each app are known to only navigate."""
    import asyncio

    import msgspec

    from agent.knowledge.navigation_map import NavigationMap
    from agent.store.store import wall_clock_ms

    known = NavigationMap(settings_for(click.get_current_context()).data_dir, wall_clock_ms)
    if forget:
        gone = asyncio.run(known.forget(forget))
        plain.print_text(f"Forgot {counted(gone, 'press', 'presses')} of {forget}.")
        return
    apps = asyncio.run(known.apps())
    if as_json:
        plain.print_json([msgspec.to_builtins(app) for app in apps])
        return
    if not apps:
        plain.print_text("No press is known yet.")
        return
    rows = (
        (app.package, str(app.version), str(app.known), str(app.learning), str(app.with_effect))
        for app in apps
    )
    plain.print_text(plain.columns(("app", "version", "known", "learning", "effect"), rows))


def _findings(report: Report, found: Compared) -> list[dict[str, str]]:
    """Put what is wrong with the chain, and with the events that it names, in one form."""
    return [
        *(
            {"flaw": one.flaw.value, "where": one.where, "detail": one.detail}
            for one in report.findings
        ),
        *(
            {"flaw": "event_changed", "where": f"event {event_id}", "detail": session_id}
            for session_id, event_id in found.edited
        ),
        *(
            {"flaw": "event_gone", "where": f"event {event_id}", "detail": session_id}
            for session_id, event_id in found.missing
        ),
    ]


def _head(report: Report) -> str:
    return f"{report.seq}:{report.hash}"


def _tell(report: Report, found: Compared, findings: list[dict[str, str]]) -> None:
    """Print what a check found, for a person."""
    for finding in findings[:_SHOWN_FINDINGS]:
        plain.print_text(f"FAIL  {finding['where']}: {finding['flaw']}: {finding['detail']}")
    if len(findings) > _SHOWN_FINDINGS:
        plain.print_text(f"FAIL  and {len(findings) - _SHOWN_FINDINGS} more")
    if found.deleted:
        plain.print_text(
            f"note  gone: {counted(found.deleted, 'event')} that it names, with sessions whose "
            "deletion it records, or with a store that was moved away"
        )
    if found.untold:
        plain.print_text(
            f"note  the audit began after event {found.untold}: it does not cover what was "
            "stored before"
        )
    outcome = "FAIL" if findings else "ok  "
    plain.print_text(f"{outcome}  {counted(report.lines, 'line')}, head {_head(report)}")


_SHOWN = (
    *("action", "capability", "risk", "decision", "rule", "also", "reason", "package", "caller"),
    "detail",
)
"""The parts of a line that are shown, in order."""


def _row(line: dict[str, Any]) -> tuple[str, ...]:
    at_ms = line.get("timestamp_wall_ms")
    seconds = at_ms / 1000 if isinstance(at_ms, int) and 0 <= at_ms < _LAST_MS else 0
    moment = datetime.datetime.fromtimestamp(seconds, tz=datetime.UTC).astimezone()
    parts = [call_result_words(str(line[name])) for name in _SHOWN if line.get(name)]
    return (
        str(line.get("seq", "")),
        moment.strftime("%Y-%m-%d %H:%M:%S"),
        str(line.get("session_id", ""))[:12] or "-",
        str(line.get("step", "")),
        str(line.get("event_type", "")),
        " · ".join(parts),
    )


def _expected(text: str) -> tuple[int, str]:
    seq, _, digest = text.partition(":")
    if not _SEQ.fullmatch(seq) or len(digest) != 64:
        raise click.BadParameter("Give it as SEQ:HASH, the way verify prints it.")
    return int(seq), digest
