"""What a store should add up, said plainly: for stores and cores that keep sessions in memory."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec.structs import replace

from agent.protocol import Event, StepCompleted, WatcherChanged
from agent.records import DaySpent, Session, SessionSpent, SessionState, Spending, Usage


def spent(
    sessions: Iterable[Session], events: Mapping[str, tuple[Event, ...]], *, since_ms: int
) -> Spending:
    """Add up what sessions used, from their records and their events."""
    by_day: dict[str, list[tuple[Session, Usage, int]]] = {}
    for session in sessions:
        if session.created_ms >= since_ms:
            day = f"{datetime.fromtimestamp(session.created_ms / 1000).astimezone():%Y-%m-%d}"
            past = [
                event.msg
                for event in events.get(session.session_id, ())
                if session.forked_from
                and isinstance(event.msg, StepCompleted)
                and event.ts_ms < session.created_ms
            ]
            usage = session.usage
            for step in past:
                usage = _less(usage, step.usage)
            entry = (session, usage, session.last_step - len(past))
            by_day.setdefault(day, []).append(entry)
    days = {
        day: DaySpent(
            day=day,
            sessions=len(of_day),
            completed=sum(one.state is SessionState.COMPLETED for one, _, _ in of_day),
            failed=sum(one.state is SessionState.FAILED for one, _, _ in of_day),
            steps=sum(steps for _, _, steps in of_day),
            usage=_sum(usage for _, usage, _ in of_day),
        )
        for day, of_day in by_day.items()
    }
    for event in events.get("", ()):
        if isinstance(event.msg, WatcherChanged) and event.msg.usage.calls:
            if event.ts_ms < since_ms:
                continue
            day = f"{datetime.fromtimestamp(event.ts_ms / 1000).astimezone():%Y-%m-%d}"
            so_far = days.get(day, DaySpent(day=day))
            days[day] = replace(
                so_far,
                usage=so_far.usage.plus(event.msg.usage),
                watchers=so_far.watchers.plus(event.msg.usage),
            )
    every = [SessionSpent(session=s, usage=u) for of_day in by_day.values() for s, u, _ in of_day]
    dearest = sorted(
        (one for one in every if one.usage.cost_usd or _tokens(one.usage)),
        key=lambda one: (-one.usage.cost_usd, -_tokens(one.usage), -one.session.created_ms),
    )
    return Spending(days=tuple(days[day] for day in sorted(days)), dearest=tuple(dearest[:8]))


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _sum(usages: Iterable[Usage]) -> Usage:
    total = Usage()
    for usage in usages:
        total = total.plus(usage)
    return total


def _less(usage: Usage, other: Usage) -> Usage:
    return Usage(
        input_tokens=usage.input_tokens - other.input_tokens,
        cached_input_tokens=usage.cached_input_tokens - other.cached_input_tokens,
        output_tokens=usage.output_tokens - other.output_tokens,
        cost_usd=usage.cost_usd - other.cost_usd,
        calls=usage.calls - other.calls,
    )
