PRAGMA application_id = 0x53574244;
PRAGMA user_version = 9;
BEGIN TRANSACTION;
CREATE TABLE blob (
        digest TEXT PRIMARY KEY,
        media_type TEXT NOT NULL,
        size_bytes INTEGER NOT NULL,
        stored_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    ;
INSERT INTO "blob" VALUES('766d63f0332125220adc982e51598010024acc16a916d500187bf15f5d0e4a54','text/plain',8,1700000000098);
INSERT INTO "blob" VALUES('80e2a72672ff27c2e0e49a77268d65b6ddce177702d20d7df0c63a4bcf10540d','application/json',6,1700000000021);
INSERT INTO "blob" VALUES('f1814b9bfddf7bad3d2149ad17138e3f1f148940264a3e18d8798661f3bcca0b','image/png',11,1700000000007);
INSERT INTO "blob" VALUES('fc2cdda67a4e845899692e57d0e54e12d10dbd2e3f7ef65f50c340426c4ff0d8','application/xml',7,1700000000014);
CREATE TABLE blob_use (
        session_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        PRIMARY KEY (session_id, digest)
    ) STRICT, WITHOUT ROWID
    ;
INSERT INTO "blob_use" VALUES('child','80e2a72672ff27c2e0e49a77268d65b6ddce177702d20d7df0c63a4bcf10540d');
INSERT INTO "blob_use" VALUES('child','f1814b9bfddf7bad3d2149ad17138e3f1f148940264a3e18d8798661f3bcca0b');
INSERT INTO "blob_use" VALUES('child','fc2cdda67a4e845899692e57d0e54e12d10dbd2e3f7ef65f50c340426c4ff0d8');
CREATE TABLE commitment (
        id INTEGER PRIMARY KEY,
        is_live INTEGER NOT NULL CHECK (is_live IN (0, 1)),
        search TEXT NOT NULL,
        record TEXT NOT NULL
    ) STRICT
    ;
INSERT INTO "commitment" VALUES(1,1,'call ada
about the boat
pending','{"id":1,"title":"Call Ada","description":"about the boat","trigger_type":"manual","trigger_spec_json":{},"due_at":9,"expires_at":0,"status":"pending","confidence":0.5,"evidence_json":{},"created_at":1,"updated_at":1}');
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
    ;
INSERT INTO "event" VALUES(1,'parent',1,1700000000035,'','session_configured','{"type":"session_configured","session":{"session_id":"parent","goal":"Turn on Bluetooth","created_ms":1}}');
INSERT INTO "event" VALUES(2,'child',1,1700000000035,'','session_configured','{"type":"session_configured","session":{"session_id":"child","goal":"Turn on Bluetooth","created_ms":1,"kind":"genie_child","parent_id":"parent"}}');
INSERT INTO "event" VALUES(3,'jobbed',1,1700000000035,'','session_configured','{"type":"session_configured","session":{"session_id":"jobbed","goal":"Turn on Bluetooth","created_ms":1,"job_id":1}}');
INSERT INTO "event" VALUES(4,'child',2,1700000000042,'','task_started','{"type":"task_started","turn_id":"t1"}');
INSERT INTO "event" VALUES(5,'child',3,1700000000042,'','step_started','{"type":"step_started","step":1}');
INSERT INTO "event" VALUES(6,'child',4,1700000000042,'','observation_recorded','{"type":"observation_recorded","step":1,"observation":{"started_ms":1,"ended_ms":2,"foreground":{"package":"p"},"frame":{"digest":"f1814b9bfddf7bad3d2149ad17138e3f1f148940264a3e18d8798661f3bcca0b","width_px":1,"height_px":2,"captured_ms":3},"tree_digest":"fc2cdda67a4e845899692e57d0e54e12d10dbd2e3f7ef65f50c340426c4ff0d8"}}');
INSERT INTO "event" VALUES(7,'child',5,1700000000042,'','tool_call_requested','{"type":"tool_call_requested","step":1,"call_id":"c1","tool":"tap","arguments":"{}","prompt_digest":"80e2a72672ff27c2e0e49a77268d65b6ddce177702d20d7df0c63a4bcf10540d"}');
INSERT INTO "event" VALUES(8,'child',6,1700000000042,'','tool_call_finished','{"type":"tool_call_finished","step":1,"call_id":"c1","outcome":"done","text":"Tapped the needle"}');
INSERT INTO "event" VALUES(9,'child',7,1700000000042,'','request_user_input','{"type":"request_user_input","question":{"question_id":"q1","session_id":"child","text":"Which one?","asked_ms":5}}');
INSERT INTO "event" VALUES(10,'child',8,1700000000042,'','question_answered','{"type":"question_answered","question_id":"q1","answer":"the left"}');
INSERT INTO "event" VALUES(11,'child',9,1700000000042,'','request_user_input','{"type":"request_user_input","question":{"question_id":"q2","session_id":"child","text":"Sure?","asked_ms":6,"kind":"approval"}}');
INSERT INTO "event" VALUES(12,'jobbed',2,1700000000049,'','session_state_changed','{"type":"session_state_changed","state":"COMPLETED"}');
INSERT INTO "event" VALUES(13,NULL,0,1700000000056,'','job_changed','{"type":"job_changed","job":{"id":1,"type":"agent_turn","title":"Water","prompt":"p","payload_json":{},"schedule_json":{},"session_target":"main","delivery_json":{},"status":"active","created_at":1,"updated_at":1,"next_run_at":99,"running_at":0,"last_run_at":0,"last_result":"","failure_count":0,"failure_alert_at":0},"reason":"created"}');
INSERT INTO "event" VALUES(14,'jobbed',3,1700000000063,'','session_kept','{"type":"session_kept","kept":true}');
INSERT INTO "event" VALUES(15,'pruned',1,1700000000070,'','session_configured','{"type":"session_configured","session":{"session_id":"pruned","goal":"Turn on Bluetooth","created_ms":1}}');
INSERT INTO "event" VALUES(16,'pruned',2,1700000000070,'','session_state_changed','{"type":"session_state_changed","state":"FAILED"}');
INSERT INTO "event" VALUES(17,'pruned',3,1700000000070,'','session_pruned','{"type":"session_pruned"}');
INSERT INTO "event" VALUES(18,NULL,0,1700000000077,'','watcher_changed','{"type":"watcher_changed","watcher":{"id":1,"type":"time","title":"Parcel","condition_json":{"contains":"parcel"},"schedule_json":{},"session_target":"main","delivery_json":{"prompt":"Tell me"},"status":"active","last_result_hash":"","failure_count":0,"failure_alert_at":0,"created_at":1,"updated_at":1,"next_run_at":5,"last_run_at":0,"fired_at":0,"fired_count":0,"last_result":"","job_id":0,"unread":false,"marks":{},"usage":{}},"reason":"created"}');
INSERT INTO "event" VALUES(19,NULL,0,1700000000084,'','commitment_changed','{"type":"commitment_changed","commitment":{"id":1,"title":"Call Ada","description":"about the boat","trigger_type":"manual","trigger_spec_json":{},"due_at":9,"expires_at":0,"status":"pending","confidence":0.5,"evidence_json":{},"created_at":1,"updated_at":1},"reason":"created"}');
INSERT INTO "event" VALUES(20,NULL,0,1700000000091,'','job_run_changed','{"type":"job_run_changed","run":{"run_id":"r1","job_id":1,"due_at":99,"started_at":100,"ended_at":200,"status":"ended","outcome":"task.finished","session_id":"jobbed","result":"Watered"}}');
INSERT INTO "event" VALUES(21,NULL,0,1700000000105,'','warning','{"type":"warning","message":"the last"}');
CREATE TABLE job (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        status TEXT NOT NULL,
        next_run_at INTEGER NOT NULL,
        running_at INTEGER NOT NULL,
        search TEXT NOT NULL,
        record TEXT NOT NULL
    ) STRICT
    ;
INSERT INTO "job" VALUES(1,'active',99,0,'water
p
active','{"id":1,"type":"agent_turn","title":"Water","prompt":"p","payload_json":{},"schedule_json":{},"session_target":"main","delivery_json":{},"status":"active","created_at":1,"updated_at":1,"next_run_at":99,"running_at":0,"last_run_at":0,"last_result":"","failure_count":0,"failure_alert_at":0}');
CREATE TABLE job_run (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        job_id INTEGER NOT NULL,
        record TEXT NOT NULL
    ) STRICT
    ;
INSERT INTO "job_run" VALUES(1,'r1',1,'{"run_id":"r1","job_id":1,"due_at":99,"started_at":100,"ended_at":200,"status":"ended","outcome":"task.finished","session_id":"jobbed","result":"Watered"}');
CREATE TABLE lease (
        key TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        epoch INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    ;
INSERT INTO "lease" VALUES('phone-1','an older core',1,1700000060028);
CREATE TABLE owner (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        epoch INTEGER NOT NULL,
        pid INTEGER NOT NULL,
        since_ms INTEGER NOT NULL
    , store TEXT NOT NULL DEFAULT '') STRICT
    ;
INSERT INTO "owner" VALUES(1,1,4321,1700000000000,'0123456789abcdef');
CREATE TABLE question (
        number INTEGER PRIMARY KEY,
        question_id TEXT NOT NULL UNIQUE,
        session_id TEXT NOT NULL,
        is_open INTEGER NOT NULL CHECK (is_open IN (0, 1)),
        record TEXT NOT NULL
    ) STRICT
    ;
INSERT INTO "question" VALUES(1,'q1','child',0,'{"question_id":"q1","session_id":"child","text":"Which one?","asked_ms":5}');
INSERT INTO "question" VALUES(2,'q2','child',1,'{"question_id":"q2","session_id":"child","text":"Sure?","asked_ms":6,"kind":"approval"}');
CREATE TABLE session (
        number INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL UNIQUE,
        parent_id TEXT NOT NULL,
        state TEXT NOT NULL,
        last_seq INTEGER NOT NULL,
        record TEXT NOT NULL
    , job_id INTEGER NOT NULL DEFAULT 0, is_pruned INTEGER NOT NULL DEFAULT 0) STRICT
    ;
INSERT INTO "session" VALUES(1,'parent','','CREATED',1,'{"session_id":"parent","goal":"Turn on Bluetooth","created_ms":1,"updated_ms":1700000000035}',0,0);
INSERT INTO "session" VALUES(2,'child','parent','CREATED',9,'{"session_id":"child","goal":"Turn on Bluetooth","created_ms":1,"kind":"genie_child","parent_id":"parent","updated_ms":1700000000042,"turn_id":"t1","last_step":1,"latest_question":"Sure?"}',0,0);
INSERT INTO "session" VALUES(3,'jobbed','','COMPLETED',3,'{"session_id":"jobbed","goal":"Turn on Bluetooth","created_ms":1,"state":"COMPLETED","job_id":1,"kept":true,"updated_ms":1700000000063}',1,0);
INSERT INTO "session" VALUES(4,'pruned','','FAILED',3,'{"session_id":"pruned","goal":"Turn on Bluetooth","created_ms":1,"state":"FAILED","pruned":true,"updated_ms":1700000000070}',0,1);
CREATE TABLE watcher (
        id INTEGER PRIMARY KEY,
        is_live INTEGER NOT NULL CHECK (is_live IN (0, 1)),
        search TEXT NOT NULL,
        record TEXT NOT NULL
    ) STRICT
    ;
INSERT INTO "watcher" VALUES(1,1,'parcel
time
tell me
active','{"id":1,"type":"time","title":"Parcel","condition_json":{"contains":"parcel"},"schedule_json":{},"session_target":"main","delivery_json":{"prompt":"Tell me"},"status":"active","last_result_hash":"","failure_count":0,"failure_alert_at":0,"created_at":1,"updated_at":1,"next_run_at":5,"last_run_at":0,"fired_at":0,"fired_count":0,"last_result":"","job_id":0,"unread":false,"marks":{},"usage":{}}');
CREATE INDEX session_active ON session (number)
        WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')
    ;
CREATE INDEX session_child ON session (parent_id, number) WHERE parent_id <> '';
CREATE INDEX question_open ON question (number) WHERE is_open = 1;
CREATE INDEX job_due ON job (next_run_at, id) WHERE status = 'active';
CREATE INDEX job_running ON job (running_at, id) WHERE status = 'running';
CREATE INDEX session_root ON session (number) WHERE parent_id = '';
CREATE INDEX session_unpruned ON session (number)
        WHERE parent_id = '' AND is_pruned = 0
    ;
CREATE INDEX question_session ON question (session_id);
CREATE INDEX blob_use_digest ON blob_use (digest);
CREATE INDEX watcher_live ON watcher (id) WHERE is_live = 1;
CREATE INDEX commitment_live ON commitment (id) WHERE is_live = 1;
CREATE INDEX job_run_job ON job_run (job_id, number);
CREATE INDEX job_open ON job (id)
        WHERE (status = 'waiting' OR status = 'queued' OR status = 'awaiting_review')
    ;
CREATE INDEX job_ended ON job (id)
        WHERE (status = 'completed' OR status = 'failed' OR status = 'stopped')
    ;
CREATE INDEX job_at_hand ON job (id)
        WHERE (status = 'running' OR status = 'awaiting_review' OR status = 'waiting'
            OR status = 'queued' OR status = 'paused' OR status = 'dispatched')
    ;
CREATE VIEW job_text AS SELECT id, substr(job.search, 1, length(job.search) - length(job.status)) || char(10) AS text FROM job;
CREATE TRIGGER job_words_new AFTER INSERT ON job BEGIN INSERT INTO job_words (rowid, text) VALUES (new.id, substr(new.search, 1, length(new.search) - length(new.status)) || char(10)); END;
CREATE TRIGGER job_words_changed AFTER UPDATE OF search, status ON job WHEN substr(old.search, 1, length(old.search) - length(old.status)) || char(10) <> substr(new.search, 1, length(new.search) - length(new.status)) || char(10)
        BEGIN INSERT INTO job_words (job_words, rowid, text) VALUES ('delete', old.id, substr(old.search, 1, length(old.search) - length(old.status)) || char(10)); INSERT INTO job_words (rowid, text) VALUES (new.id, substr(new.search, 1, length(new.search) - length(new.status)) || char(10)); END;
CREATE TRIGGER job_words_gone AFTER DELETE ON job BEGIN INSERT INTO job_words (job_words, rowid, text) VALUES ('delete', old.id, substr(old.search, 1, length(old.search) - length(old.status)) || char(10)); END;
CREATE INDEX job_outcome ON job (status, id)
        WHERE (status = 'completed' OR status = 'failed' OR status = 'stopped')
    ;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('event',21);
INSERT INTO "sqlite_sequence" VALUES('job',1);
CREATE VIRTUAL TABLE job_words USING fts5(
            text, content = 'job_text', content_rowid = 'id', columnsize = 0,
            tokenize = 'trigram case_sensitive 1'
        );
INSERT INTO job_words (job_words) VALUES ('rebuild');
CREATE VIRTUAL TABLE job_terms USING fts5vocab(job_words, instance);
COMMIT;
