"""Define the tables of a fleet's store, as numbered migrations.

Invariants: a released migration is never edited; a change is a new entry at the end, and the number
of entries is the schema's version; the tables that the fold writes have the same columns as in
SQLite (`agent.store.database.schema`), so one SQL serves both.
"""

SCHEMA = "switchboard"
"""The schema of the database that holds everything; others in it are not looked at."""

_FIRST = (
    # One row, which every commit of every host locks: ids rise in the order of commits, without
    # gaps, whoever writes.
    """
    CREATE TABLE tip (
        one bigint PRIMARY KEY CHECK (one = 1),
        version bigint NOT NULL,
        store text NOT NULL,
        event_id bigint NOT NULL,
        job_id bigint NOT NULL,
        revision bigint NOT NULL
    )
    """,
    "INSERT INTO tip (one, version, store, event_id, job_id, revision) VALUES (1, 0, '', 0, 0, 0)",
    "CREATE SEQUENCE epoch",
    # Who has the store open, or had. `commits` tells a host whose connection broke in the middle of
    # a commit whether that took place.
    """
    CREATE TABLE host (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE,
        epoch bigint NOT NULL,
        since_ms bigint NOT NULL,
        is_open bigint NOT NULL,
        commits bigint NOT NULL
    )
    """,
    "CREATE INDEX host_open ON host (epoch) WHERE is_open = 1",
    """
    CREATE TABLE event (
        id bigint PRIMARY KEY,
        session_id text COLLATE "C",
        seq bigint NOT NULL,
        ts_ms bigint NOT NULL,
        submission_id text NOT NULL,
        type text NOT NULL,
        body text NOT NULL,
        UNIQUE (session_id, seq)
    )
    """,
    """
    CREATE INDEX event_watched ON event (ts_ms)
        WHERE session_id IS NULL AND type = 'watcher_changed'
    """,
    """
    CREATE TABLE session (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        session_id text COLLATE "C" NOT NULL UNIQUE,
        parent_id text COLLATE "C" NOT NULL,
        state text NOT NULL,
        last_seq bigint NOT NULL,
        job_id bigint NOT NULL,
        is_pruned bigint NOT NULL,
        record text NOT NULL
    ) WITH (fillfactor = 70)
    """,
    """
    CREATE INDEX session_active ON session (number)
        WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')
    """,
    "CREATE INDEX session_child ON session (parent_id, number) WHERE parent_id <> ''",
    "CREATE INDEX session_root ON session (number) WHERE parent_id = ''",
    "CREATE INDEX session_unpruned ON session (number) WHERE parent_id = '' AND is_pruned = 0",
    """
    CREATE TABLE question (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        question_id text COLLATE "C" NOT NULL UNIQUE,
        session_id text COLLATE "C" NOT NULL,
        is_open bigint NOT NULL CHECK (is_open IN (0, 1)),
        record text NOT NULL
    )
    """,
    "CREATE INDEX question_open ON question (number) WHERE is_open = 1",
    "CREATE INDEX question_session ON question (session_id)",
    """
    CREATE TABLE job (
        id bigint PRIMARY KEY,
        status text NOT NULL,
        next_run_at bigint NOT NULL,
        running_at bigint NOT NULL,
        search text NOT NULL,
        record text NOT NULL
    )
    """,
    "CREATE INDEX job_due ON job (next_run_at, id) WHERE status = 'active'",
    "CREATE INDEX job_running ON job (running_at, id) WHERE status = 'running'",
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
    """
    CREATE TABLE job_run (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run_id text COLLATE "C" NOT NULL UNIQUE,
        job_id bigint NOT NULL,
        record text NOT NULL
    )
    """,
    "CREATE INDEX job_run_job ON job_run (job_id, number)",
    """
    CREATE TABLE watcher (
        id bigint PRIMARY KEY,
        is_live bigint NOT NULL CHECK (is_live IN (0, 1)),
        search text NOT NULL,
        record text NOT NULL
    )
    """,
    "CREATE INDEX watcher_live ON watcher (id) WHERE is_live = 1",
    """
    CREATE TABLE commitment (
        id bigint PRIMARY KEY,
        is_live bigint NOT NULL CHECK (is_live IN (0, 1)),
        search text NOT NULL,
        record text NOT NULL
    )
    """,
    "CREATE INDEX commitment_live ON commitment (id) WHERE is_live = 1",
    """
    CREATE TABLE lease (
        key text COLLATE "C" PRIMARY KEY,
        owner text NOT NULL,
        epoch bigint NOT NULL,
        expires_ms bigint NOT NULL
    )
    """,
    # `put_by` is the epoch of the opening that put it, until an event names it.
    """
    CREATE TABLE blob (
        digest text COLLATE "C" PRIMARY KEY,
        media_type text NOT NULL,
        size_bytes bigint NOT NULL,
        stored_ms bigint NOT NULL,
        put_by bigint NOT NULL,
        data bytea NOT NULL
    )
    """,
    # Pictures are compressed already.
    "ALTER TABLE blob ALTER COLUMN data SET STORAGE EXTERNAL",
    """
    CREATE TABLE blob_use (
        session_id text COLLATE "C" NOT NULL,
        digest text COLLATE "C" NOT NULL,
        PRIMARY KEY (session_id, digest)
    )
    """,
    "CREATE INDEX blob_use_digest ON blob_use (digest)",
    """
    CREATE TABLE words (
        event_id bigint PRIMARY KEY,
        session_id text COLLATE "C" NOT NULL,
        found tsvector NOT NULL
    )
    """,
    "CREATE INDEX words_found ON words USING gin (found)",
    "CREATE INDEX words_session ON words (session_id)",
    # PostgreSQL reads nothing of a JSON text that has an escaped NUL anywhere. Two backslashes
    # before it are one that was written, and no escape.
    r"""
    CREATE FUNCTION as_json(text) RETURNS json
        LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
        SELECT CASE WHEN pg_catalog.strpos($1, '\u0000') = 0 THEN $1::json
            ELSE pg_catalog.regexp_replace(
                $1, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::json END
        $$
    """,
    # What SQLite calls it; the shared SQL says so.
    """
    CREATE FUNCTION instr(text, text) RETURNS integer
        LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS 'SELECT pg_catalog.strpos($1, $2)'
    """,
)

_CORE = (
    # Which opening is that of the core, and the host whose core it was last.
    """
    ALTER TABLE tip
        ADD COLUMN core bigint NOT NULL DEFAULT 0,
        ADD COLUMN core_host text NOT NULL DEFAULT ''
    """,
)

_PRESENCE = (
    # What a host said of itself last, and when by the database's clock; 0: never.
    """
    ALTER TABLE host
        ADD COLUMN seen_ms bigint NOT NULL DEFAULT 0,
        ADD COLUMN version text NOT NULL DEFAULT '',
        ADD COLUMN labels text NOT NULL DEFAULT '[]',
        ADD COLUMN phones text NOT NULL DEFAULT '[]'
    """,
)

_DRAINING = (
    # Whether the operator wants no more turns to begin there.
    "ALTER TABLE host ADD COLUMN drains bigint NOT NULL DEFAULT 0 CHECK (drains IN (0, 1))",
)

_SEVERAL = (
    # Several hosts run sessions: which of them do, and where each is reached for pictures.
    """
    ALTER TABLE host
        ADD COLUMN works bigint NOT NULL DEFAULT 0 CHECK (works IN (0, 1)),
        ADD COLUMN wire text NOT NULL DEFAULT ''
    """,
    # What one host asks of another; `taken_by` is the epoch of the opening that carries it out.
    """
    CREATE TABLE op (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        op_id text COLLATE "C" NOT NULL UNIQUE,
        to_host text NOT NULL,
        from_host text NOT NULL,
        asked_ms bigint NOT NULL,
        body text NOT NULL,
        taken_by bigint NOT NULL DEFAULT 0,
        reply text NOT NULL DEFAULT ''
    )
    """,
    "CREATE INDEX op_waiting ON op (to_host, number) WHERE taken_by = 0",
    # The newest number of each kind that hosts count up together.
    """
    CREATE TABLE counter (
        kind text COLLATE "C" PRIMARY KEY,
        newest bigint NOT NULL
    )
    """,
    # The host that a job belongs to; empty: whichever had the database to itself.
    """
    CREATE FUNCTION host_of(text) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS
        $$ SELECT coalesce(switchboard.as_json($1)->>'host', '') $$
    """,
    "CREATE INDEX job_due_at ON job (host_of(record), next_run_at, id) WHERE status = 'active'",
)

_BEATS = (
    # How long a host's newest beat took to the database and back, in microseconds; 0: not known.
    "ALTER TABLE host ADD COLUMN beat_us bigint NOT NULL DEFAULT 0",
)

_REGISTER = (
    # The operators of all hosts. `confirmed_ms`: when an owner last vouched for a register that
    # came back with an older copy; `is_unconfirmed`: one came back, and nobody has yet.
    """
    CREATE TABLE register (
        one bigint PRIMARY KEY CHECK (one = 1),
        revision bigint NOT NULL,
        confirmed_ms bigint NOT NULL,
        is_unconfirmed bigint NOT NULL CHECK (is_unconfirmed IN (0, 1))
    )
    """,
    "INSERT INTO register (one, revision, confirmed_ms, is_unconfirmed) VALUES (1, 0, 0, 0)",
    # Each change has a random mark: a host that knows one finds it again in any newer register.
    """
    CREATE TABLE register_change (
        revision bigint PRIMARY KEY,
        mark text NOT NULL,
        changed_ms bigint NOT NULL,
        operator text COLLATE "C" NOT NULL,
        role text NOT NULL
    )
    """,
    'CREATE TABLE operator (name text COLLATE "C" PRIMARY KEY, record text NOT NULL)',
)

_BUCKET = (
    # Where in a bucket a blob is; empty: its bytes are in the row.
    """
    ALTER TABLE blob
        ADD COLUMN place text NOT NULL DEFAULT '',
        ALTER COLUMN data DROP NOT NULL
    """,
    # Whether the store has a bucket.
    """
    ALTER TABLE tip
        ADD COLUMN has_bucket bigint NOT NULL DEFAULT 0 CHECK (has_bucket IN (0, 1))
    """,
)
_HOST = "coalesce(' ' || nullif(as_json(record) ->> 'host', '') || '/', '')"


def _one(path: str) -> str:
    return f"coalesce(' ' || nullif(as_json(record) #>> '{{{path}}}', ''), '')"


def _each(path: str, mark: str = "") -> str:
    found = f"as_json(record) #> '{{{path}}}'"
    values = f"CASE json_typeof({found}) WHEN 'array' THEN {found} ELSE '[]' END"
    return (
        f"coalesce((SELECT string_agg(' {mark}' || value, '' ORDER BY at) "
        f"FROM json_array_elements_text({values}) WITH ORDINALITY AS one (value, at)), '')"
    )


def _placed(table: str, *places: str) -> str:
    found = " || ".join((_HOST, *places))
    status = "as_json(record) ->> 'status'"
    return f"""
    UPDATE {table}
    SET search = substr(search, 1, length(search) - length({status}))
        || lower(ltrim({found})) || chr(10) || ({status})
    WHERE {found} <> ''
    """


_FACTS = (
    # What `agent.protocol.session_filter` finds in a record.
    """
    ALTER TABLE session
        ADD COLUMN created_ms bigint NOT NULL DEFAULT 0,
        ADD COLUMN place text NOT NULL DEFAULT '',
        ADD COLUMN model text NOT NULL DEFAULT '',
        ADD COLUMN labels text NOT NULL DEFAULT ''
    """,
    r"""
    UPDATE session SET
        created_ms = (as_json(record) ->> 'created_ms')::bigint,
        place = lower(CASE
            WHEN instr(serial, host || '/') = 1 OR host = '' THEN serial
            ELSE host || '/' || serial END),
        model = lower(coalesce(as_json(record) ->> 'model', '')),
        labels = lower(chr(10) || CASE session.state
                WHEN 'COMPLETED' THEN CASE
                    WHEN as_json(record) ->> 'verdict' = 'met'
                        AND as_json(record) ->> 'verified_by' <> 'nobody' THEN 'done'
                    ELSE 'unverified' END
                WHEN 'FAILED' THEN 'failed'
                WHEN 'CANCELLED' THEN 'cancelled'
                ELSE 'open' END
            || CASE as_json(record) ->> 'kept' WHEN 'true' THEN chr(10) || 'kept' ELSE '' END
            || coalesce((SELECT string_agg(chr(10) || '#' || tag, '' ORDER BY at)
                FROM json_array_elements_text(as_json(record) -> 'tags')
                WITH ORDINALITY AS one (tag, at)), '')
            || chr(10))
    FROM (
        SELECT number AS of_number, coalesce(as_json(record) ->> 'host', '') AS host,
            coalesce(as_json(record) ->> 'serial', '') AS serial
        FROM session
    ) AS known WHERE of_number = number
    """,
    # Jobs, watchers and commitments are found by their host and phones, too.
    _placed(
        "job",
        _one("payload_json,serial"),
        _each("payload_json,campaign,phones"),
        _each("payload_json,tags", "#"),
    ),
    _placed("watcher", _one("condition_json,serial")),
    _placed("commitment"),
)
_BUCKETS_OF_HOSTS = (
    # Whether a host's settings name a bucket; -1: one of an older version, which does not say.
    """
    ALTER TABLE host
        ADD COLUMN names_bucket bigint NOT NULL DEFAULT -1 CHECK (names_bucket IN (-1, 0, 1))
    """,
)
BUCKET_VERSION = 8
"""The first version with places of blobs."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    *(_FIRST, _CORE, _PRESENCE, _DRAINING, _SEVERAL),
    *(_BEATS, _REGISTER, _BUCKET, _FACTS, _BUCKETS_OF_HOSTS),
)
"""Entry n brings a database from version n to n + 1; one transaction runs all that are missing."""
