"""The statements specific to PostgreSQL; see `agent.store.queries.dialect`.

The schema's `as_json` reads JSON, because stored JSON may contain a NUL, which PostgreSQL refuses.
"""

from agent.store.queries.dialect import Dialect
from agent.store.queries.job_words import Lookup
from agent.store.queries.spendings import DEAREST

# The index of due times bounds it: only active jobs are looked into.
JOBS_ON = (
    "SELECT record FROM job WHERE status = 'active' AND EXISTS ("
    "SELECT 1 FROM json_array_elements_text("
    "CASE json_typeof(as_json(record) #> '{schedule_json,on}') WHEN 'array' "
    "THEN as_json(record) #> '{schedule_json,on}' ELSE '[]' END) AS one(named) "
    "WHERE named = ?) ORDER BY id"
)


def _day(at_ms: str) -> str:
    # In the connection's time zone, which is the computer's own.
    return f"to_char(to_timestamp({at_ms} / 1000.0), 'YYYY-MM-DD')"


def _sums(of: str) -> str:
    """Return the columns that add up the usage in a column of JSON."""
    return ", ".join(
        f"coalesce(sum((as_json({of}) #>> '{{usage,{field}}}')::numeric), 0) AS {name}"
        for name, field in _USAGE.items()
    )


_USAGE = {
    "given": "input_tokens",
    "cached": "cached_input_tokens",
    "made": "output_tokens",
    "cost": "cost_usd",
    "calls": "calls",
}

WATCHED = f"""
SELECT {_day("ts_ms")} AS day, {_sums("body")}
FROM event
WHERE session_id IS NULL AND type = 'watcher_changed' AND ts_ms >= ?
    AND (as_json(body) #>> '{{usage,calls}}')::numeric > 0
GROUP BY day
"""

_ONE = ", ".join(
    f"coalesce((as_json(record) #>> '{{usage,{field}}}')::numeric, 0) AS {name}"
    for name, field in _USAGE.items()
)
_OWN = ", ".join(
    f"greatest(one.{name} - coalesce(inherited.{name}, 0), 0) AS {name}"
    for name in ("steps", *_USAGE)
)

# Copied events keep the times of the original, and a fork is younger than all of them.
SPENDING = f"""
WITH one AS MATERIALIZED (
    SELECT session_id, state, record,
        (as_json(record) ->> 'created_ms')::bigint AS at_ms,
        coalesce(as_json(record) ->> 'forked_from', '') AS origin,
        coalesce((as_json(record) ->> 'last_step')::numeric, 0) AS steps,
        {_ONE}
    FROM session WHERE (as_json(record) ->> 'created_ms')::bigint >= ?
), inherited AS MATERIALIZED (
    SELECT event.session_id, count(*) AS steps, {_sums("body")}
    FROM one JOIN event ON event.session_id = one.session_id
    WHERE one.origin <> '' AND event.type = 'step_completed' AND event.ts_ms < one.at_ms
    GROUP BY event.session_id
), own AS MATERIALIZED (
    SELECT one.session_id, state, record, at_ms, {_OWN}
    FROM one LEFT JOIN inherited ON inherited.session_id = one.session_id
)
SELECT * FROM (
    SELECT {_day("at_ms")} AS day, '' AS record,
        count(*), count(*) FILTER (WHERE state = 'COMPLETED'),
        count(*) FILTER (WHERE state = 'FAILED'), sum(steps),
        sum(given), sum(cached), sum(made), sum(cost), sum(calls)
    FROM own GROUP BY day ORDER BY day
) AS days
UNION ALL SELECT * FROM (
    SELECT '', record, 1, 0, 0, steps, given, cached, made, cost, calls
    FROM own WHERE given + made > 0 OR cost > 0
    ORDER BY cost DESC, given + made DESC, at_ms DESC LIMIT {DEAREST}
) AS dearest
"""


def no_lookup(query: str) -> Lookup | None:
    """Do nothing: jobs are found by a scan, and PostgreSQL scans some 100,000 in a moment."""
    return None


POSTGRES = Dialect(jobs_on=JOBS_ON, spending=SPENDING, watched=WATCHED, lookup=no_lookup)
