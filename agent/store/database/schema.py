"""Define the tables, as numbered migrations.

Invariant: a released migration is never edited; a change is a new entry at the end, and the number
of entries is the schema's version.

`event` is authoritative; `session`, `question` and `job` are its fold, written in the same
transaction so that a list never replays a log.
"""

APPLICATION_ID = 0x53574244
"""Marks the file as ours in the SQLite header ("SWBD")."""

_FIRST = (
    """
    CREATE TABLE owner (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        epoch INTEGER NOT NULL,
        pid INTEGER NOT NULL,
        since_ms INTEGER NOT NULL
    ) STRICT
    """,
    "INSERT INTO owner (only, epoch, pid, since_ms) VALUES (1, 0, 0, 0)",
    # AUTOINCREMENT: an id must never come again, or a listener that follows `after` would miss it.
    # session_id is NULL for facts of no session, which the unique index then leaves alone.
    """
    CREATE TABLE event (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT,
        seq INTEGER NOT NULL,
        ts_ms INTEGER NOT NULL,
        submission_id TEXT NOT NULL,
        type TEXT NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (session_id, seq)
    ) STRICT
    """,
    # `number` is the order of creation; clocks may step.
    """
    CREATE TABLE session (
        number INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL UNIQUE,
        parent_id TEXT NOT NULL,
        state TEXT NOT NULL,
        last_seq INTEGER NOT NULL,
        record TEXT NOT NULL
    ) STRICT
    """,
    """
    CREATE INDEX session_active ON session (number)
        WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')
    """,
    "CREATE INDEX session_child ON session (parent_id, number) WHERE parent_id <> ''",
    """
    CREATE TABLE question (
        number INTEGER PRIMARY KEY,
        question_id TEXT NOT NULL UNIQUE,
        session_id TEXT NOT NULL,
        is_open INTEGER NOT NULL CHECK (is_open IN (0, 1)),
        record TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX question_open ON question (number) WHERE is_open = 1",
    # `search` is title, prompt and status, case-folded: SQLite's own lower() knows only ASCII.
    """
    CREATE TABLE job (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        status TEXT NOT NULL,
        next_run_at INTEGER NOT NULL,
        running_at INTEGER NOT NULL,
        search TEXT NOT NULL,
        record TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX job_due ON job (next_run_at, id) WHERE status = 'active'",
    "CREATE INDEX job_running ON job (running_at, id) WHERE status = 'running'",
    """
    CREATE TABLE blob (
        digest TEXT PRIMARY KEY,
        media_type TEXT NOT NULL,
        size_bytes INTEGER NOT NULL,
        stored_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
)

_LEASES = (
    """
    CREATE TABLE lease (
        key TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        epoch INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
)

# The expressions repeat what `agent.store.changes.blob_refs` finds in the events that older
# versions wrote.
_RETENTION = (
    "ALTER TABLE session ADD COLUMN job_id INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE session ADD COLUMN is_pruned INTEGER NOT NULL DEFAULT 0",
    "UPDATE session SET job_id = coalesce(json_extract(record, '$.job_id'), 0)",
    "CREATE INDEX session_root ON session (number) WHERE parent_id = ''",
    """
    CREATE INDEX session_unpruned ON session (number)
        WHERE parent_id = '' AND is_pruned = 0
    """,
    "CREATE INDEX question_session ON question (session_id)",
    """
    CREATE TABLE blob_use (
        session_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        PRIMARY KEY (session_id, digest)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX blob_use_digest ON blob_use (digest)",
    """
    INSERT OR IGNORE INTO blob_use (session_id, digest)
    SELECT session_id, digest FROM (
        SELECT session_id, json_extract(body, '$.observation.frame.digest') AS digest
            FROM event WHERE type = 'observation_recorded'
        UNION ALL SELECT session_id, json_extract(body, '$.observation.tree_digest')
            FROM event WHERE type = 'observation_recorded'
        UNION ALL SELECT session_id, json_extract(body, '$.prompt_digest')
            FROM event WHERE type = 'tool_call_requested'
        UNION ALL SELECT session_id, json_extract(body, '$.reply_digest')
            FROM event WHERE type = 'tool_call_requested'
    ) WHERE digest <> '' AND session_id IS NOT NULL
    """,
)

# `search` is what a query is looked for in, case-folded, as in `job`.
_WATCHES = (
    """
    CREATE TABLE watcher (
        id INTEGER PRIMARY KEY,
        is_live INTEGER NOT NULL CHECK (is_live IN (0, 1)),
        search TEXT NOT NULL,
        record TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX watcher_live ON watcher (id) WHERE is_live = 1",
    """
    CREATE TABLE commitment (
        id INTEGER PRIMARY KEY,
        is_live INTEGER NOT NULL CHECK (is_live IN (0, 1)),
        search TEXT NOT NULL,
        record TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX commitment_live ON commitment (id) WHERE is_live = 1",
)

# `number` is the order in which runs began; clocks may step.
_RUNS = (
    """
    CREATE TABLE job_run (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        job_id INTEGER NOT NULL,
        record TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX job_run_job ON job_run (job_id, number)",
    "CREATE INDEX job_open ON job (id) WHERE status IN ('waiting', 'queued', 'awaiting_review')",
    "CREATE INDEX job_ended ON job (id) WHERE status IN ('completed', 'failed', 'stopped')",
)

_QUEUE = (
    """
    CREATE INDEX job_at_hand ON job (id) WHERE status IN
        ('running', 'awaiting_review', 'waiting', 'queued', 'paused', 'dispatched')
    """,
)


def _words_of(text: str) -> tuple[str, ...]:
    """Return the statements that create and maintain the index of job words.

    Args:
        text: the indexed text of a row; `{0}` is the row. A claim must not change it.
    """
    old, new = text.format("old"), text.format("new")
    forget = f"INSERT INTO job_words (job_words, rowid, text) VALUES ('delete', old.id, {old});"
    put = f"INSERT INTO job_words (rowid, text) VALUES (new.id, {new});"
    return (
        f"CREATE VIEW job_text AS SELECT id, {text.format('job')} AS text FROM job",
        """
        CREATE VIRTUAL TABLE job_words USING fts5(
            text, content = 'job_text', content_rowid = 'id', columnsize = 0,
            tokenize = 'trigram case_sensitive 1'
        )
        """,
        f"CREATE TRIGGER job_words_new AFTER INSERT ON job BEGIN {put} END",
        f"""
        CREATE TRIGGER job_words_changed AFTER UPDATE OF search, status ON job WHEN {old} <> {new}
        BEGIN {forget} {put} END
        """,
        f"CREATE TRIGGER job_words_gone AFTER DELETE ON job BEGIN {forget} END",
        "INSERT INTO job_words (job_words) VALUES ('rebuild')",
    )


# What a person looks for, without the status that `search` ends with: a claim changes no word.
_JOB_WORDS = _words_of("substr({0}.search, 1, length({0}.search) - length({0}.status) - 1)")

# SQLite builds a table for a list of three words and more whenever it tests a row against one, and
# each change of a job's status tests all these: with OR, a claim costs a third of it.
_JOB_BANDS = (
    "DROP INDEX job_open",
    "DROP INDEX job_ended",
    "DROP INDEX job_at_hand",
    """
    CREATE INDEX job_open ON job (id)
        WHERE (status = 'waiting' OR status = 'queued' OR status = 'awaiting_review')
    """,
    """
    CREATE INDEX job_ended ON job (id)
        WHERE (status = 'completed' OR status = 'failed' OR status = 'stopped')
    """,
    """
    CREATE INDEX job_at_hand ON job (id)
        WHERE (status = 'running' OR status = 'awaiting_review' OR status = 'waiting'
            OR status = 'queued' OR status = 'paused' OR status = 'dispatched')
    """,
)

# A part of one or two characters begins some run of three only if more follows the text's end. No
# claim touches the index of outcomes: it has ended jobs only.
_WORD_ENDS = (
    "DROP TRIGGER job_words_new",
    "DROP TRIGGER job_words_changed",
    "DROP TRIGGER job_words_gone",
    "DROP TABLE job_words",
    "DROP VIEW job_text",
    *_words_of("substr({0}.search, 1, length({0}.search) - length({0}.status)) || char(10)"),
    "CREATE VIRTUAL TABLE job_terms USING fts5vocab(job_words, instance)",
    """
    CREATE INDEX job_outcome ON job (status, id)
        WHERE (status = 'completed' OR status = 'failed' OR status = 'stopped')
    """,
)

# What `agent.protocol.session_filter` finds in a record. The index has all that a filter compares,
# so the records that it leaves out are not read.
_FACTS = (
    "ALTER TABLE session ADD COLUMN created_ms INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE session ADD COLUMN place TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE session ADD COLUMN model TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE session ADD COLUMN labels TEXT NOT NULL DEFAULT ''",
    """
    UPDATE session SET
        created_ms = json_extract(record, '$.created_ms'),
        place = foldable(CASE
            WHEN instr(serial, host || '/') = 1 OR host = '' THEN serial
            ELSE host || '/' || serial END),
        model = foldable(coalesce(json_extract(record, '$.model'), '')),
        labels = foldable(char(10) || CASE session.state
                WHEN 'COMPLETED' THEN CASE
                    WHEN json_extract(record, '$.verdict') = 'met'
                        AND json_extract(record, '$.verified_by') <> 'nobody' THEN 'done'
                    ELSE 'unverified' END
                WHEN 'FAILED' THEN 'failed'
                WHEN 'CANCELLED' THEN 'cancelled'
                ELSE 'open' END
            || CASE json_extract(record, '$.kept') WHEN 1 THEN char(10) || 'kept' ELSE '' END
            || coalesce((SELECT group_concat(char(10) || '#' || value, '')
                FROM json_each(record, '$.tags')), '')
            || char(10))
    FROM (
        SELECT number AS of_number, coalesce(json_extract(record, '$.host'), '') AS host,
            coalesce(json_extract(record, '$.serial'), '') AS serial
        FROM session
    ) WHERE of_number = number
    """,
    """
    CREATE INDEX session_facts
        ON session (number, created_ms, place, model, labels, session_id)
    """,
)

_HOST = "coalesce(' ' || nullif(json_extract(record, '$.host'), '') || '/', '')"


def _one(path: str) -> str:
    return f"coalesce(' ' || nullif(json_extract(record, '$.{path}'), ''), '')"


def _each(path: str, mark: str = "") -> str:
    values = f"SELECT group_concat(' {mark}' || value, '') FROM json_each(record, '$.{path}')"
    return f"coalesce(({values}), '')"


def _placed(table: str, *places: str) -> str:
    found = " || ".join((_HOST, *places))
    return f"""
    UPDATE {table}
    SET search = substr(search, 1, length(search) - length(json_extract(record, '$.status')))
        || foldable(ltrim({found})) || char(10) || json_extract(record, '$.status')
    WHERE {found} <> ''
    """


# Jobs, watchers and commitments are found by their host and phones, too.
_PLACES = (
    _placed(
        "job",
        _one("payload_json.serial"),
        _each("payload_json.campaign.phones"),
        _each("payload_json.tags", "#"),
    ),
    _placed("watcher", _one("condition_json.serial")),
    _placed("commitment"),
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    _FIRST,
    _LEASES,
    _RETENTION,
    _WATCHES,
    _RUNS,
    _QUEUE,
    _JOB_WORDS,
    (*_JOB_BANDS, *_WORD_ENDS),
    # Which store it is, for its blobs and its audit to say whose they are.
    ("ALTER TABLE owner ADD COLUMN store TEXT NOT NULL DEFAULT ''",),
    (*_FACTS, *_PLACES),
)
"""Entry n brings a database from version n to n + 1; one transaction runs all that are missing."""
