"""The statements specific to SQLite; see `agent.store.queries.dialect`."""

from agent.store.embedded.job_trigrams import lookup
from agent.store.queries.dialect import Dialect
from agent.store.queries.spendings import DEAREST

# The index of due times bounds it: only active jobs are looked into.
JOBS_ON = (
    "SELECT record FROM job WHERE status = 'active' AND EXISTS ("
    "SELECT 1 FROM json_each(record, '$.schedule_json.on') WHERE value = ?) ORDER BY id"
)

# Of most events of no session only the type is read; none is where no watcher was ever judged for.
WATCHED = """
SELECT date(ts_ms / 1000, 'unixepoch', 'localtime') AS day,
    CAST(total(json_extract(body, '$.usage.input_tokens')) AS INTEGER),
    CAST(total(json_extract(body, '$.usage.cached_input_tokens')) AS INTEGER),
    CAST(total(json_extract(body, '$.usage.output_tokens')) AS INTEGER),
    total(json_extract(body, '$.usage.cost_usd')),
    CAST(total(json_extract(body, '$.usage.calls')) AS INTEGER)
FROM event
WHERE session_id IS NULL AND type = 'watcher_changed' AND ts_ms >= ?
    AND json_extract(body, '$.usage.calls') > 0
    AND EXISTS (SELECT 1 FROM watcher WHERE json_extract(record, '$.usage.calls') > 0)
GROUP BY day
"""

# total() where a sum is meant: sum() fails on one absurd figure, and nothing would be told at all.
# Copied events keep the times of the original, and a fork is younger than all of them. The outer
# table of `inherited` is named first and kept there: of `event` only an index's part is read.
SPENDING = f"""
WITH one AS MATERIALIZED (
    SELECT session_id, state,
        json_extract(record, '$.created_ms') AS at_ms,
        coalesce(json_extract(record, '$.forked_from'), '') AS origin,
        coalesce(json_extract(record, '$.last_step'), 0) AS steps,
        coalesce(json_extract(record, '$.usage.input_tokens'), 0) AS given,
        coalesce(json_extract(record, '$.usage.cached_input_tokens'), 0) AS cached,
        coalesce(json_extract(record, '$.usage.output_tokens'), 0) AS made,
        coalesce(json_extract(record, '$.usage.cost_usd'), 0.0) AS cost,
        coalesce(json_extract(record, '$.usage.calls'), 0) AS calls
    FROM session WHERE json_extract(record, '$.created_ms') >= ?
), inherited AS MATERIALIZED (
    SELECT event.session_id,
        count(*) AS steps,
        CAST(total(json_extract(body, '$.usage.input_tokens')) AS INTEGER) AS given,
        CAST(total(json_extract(body, '$.usage.cached_input_tokens')) AS INTEGER) AS cached,
        CAST(total(json_extract(body, '$.usage.output_tokens')) AS INTEGER) AS made,
        total(json_extract(body, '$.usage.cost_usd')) AS cost,
        CAST(total(json_extract(body, '$.usage.calls')) AS INTEGER) AS calls
    FROM one CROSS JOIN event ON event.session_id = one.session_id
    WHERE one.origin <> '' AND event.type = 'step_completed' AND event.ts_ms < one.at_ms
    GROUP BY event.session_id
), own AS MATERIALIZED (
    SELECT one.session_id, state, at_ms,
        CAST(max(one.steps - coalesce(inherited.steps, 0), 0) AS INTEGER) AS steps,
        CAST(max(one.given - coalesce(inherited.given, 0), 0) AS INTEGER) AS given,
        CAST(max(one.cached - coalesce(inherited.cached, 0), 0) AS INTEGER) AS cached,
        CAST(max(one.made - coalesce(inherited.made, 0), 0) AS INTEGER) AS made,
        max(one.cost - coalesce(inherited.cost, 0.0), 0.0) AS cost,
        CAST(max(one.calls - coalesce(inherited.calls, 0), 0) AS INTEGER) AS calls
    FROM one LEFT JOIN inherited ON inherited.session_id = one.session_id
)
SELECT * FROM (
    SELECT date(at_ms / 1000, 'unixepoch', 'localtime') AS day, '' AS record,
        count(*), sum(state = 'COMPLETED'), sum(state = 'FAILED'), CAST(total(steps) AS INTEGER),
        CAST(total(given) AS INTEGER), CAST(total(cached) AS INTEGER),
        CAST(total(made) AS INTEGER), total(cost), CAST(total(calls) AS INTEGER)
    FROM own GROUP BY day ORDER BY day
)
UNION ALL SELECT * FROM (
    SELECT '', (SELECT record FROM session WHERE session.session_id = own.session_id),
        1, 0, 0, steps, given, cached, made, cost, calls
    FROM own WHERE given + made > 0 OR cost > 0
    ORDER BY cost DESC, given + made DESC, at_ms DESC LIMIT {DEAREST}
)
"""

SQLITE = Dialect(jobs_on=JOBS_ON, spending=SPENDING, watched=WATCHED, lookup=lookup)
