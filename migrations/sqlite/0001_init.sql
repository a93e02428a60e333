-- Everything that `el` knows. TEXT and integers only; times are microseconds since the epoch, UTC.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE atoms (
  seq           INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE,
  short         TEXT NOT NULL UNIQUE,
  title         TEXT NOT NULL,
  description   TEXT NOT NULL DEFAULT '',
  acceptance    TEXT,
  status        TEXT NOT NULL DEFAULT 'open'
    CHECK (status IN ('open','in_progress','blocked','review','testing','deferred','closed','wont_do','discard')),
  issue_type    TEXT NOT NULL DEFAULT 'task'
    CHECK (issue_type IN ('task','bug','feature','artifact','discovery','epic','formula')),
  priority      INTEGER NOT NULL DEFAULT 2 CHECK (priority BETWEEN 0 AND 5),
  assignee      TEXT,
  parent_id     TEXT REFERENCES atoms (id) ON DELETE SET NULL,
  defer_until   INTEGER,
  retry_at      INTEGER,
  -- Runs that ended before this do not count as failed attempts: set by `el retry` and `el reopen`.
  fresh_since   INTEGER NOT NULL DEFAULT 0,
  -- Live `blocks` bonds into this atom. Kept by the triggers below, which always count anew, so it cannot drift; `el doctor` checks it.
  -- It keeps what is blocked out of the queue's index: a claim costs the same however many atoms wait.
  blocked_by    INTEGER NOT NULL DEFAULT 0,
  -- The run that last set the status; NULL when a person did.
  status_by_run TEXT,
  close_reason  TEXT,
  created_by    TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  closed_at     INTEGER,
  metadata      TEXT NOT NULL DEFAULT '{}'
) STRICT;

-- Each list reads one of these and never touches what is over.
-- The queue's holds all that readiness asks of an atom itself, so that counting what is ready never touches the table.
CREATE INDEX atoms_queue  ON atoms (priority, created_at, seq, status, blocked_by, defer_until, retry_at, issue_type, parent_id, id)
  WHERE status IN ('open','deferred') AND blocked_by = 0;
CREATE INDEX atoms_active ON atoms (priority, created_at, seq, status) WHERE status NOT IN ('closed','wont_do','discard');
CREATE INDEX atoms_status ON atoms (status, updated_at);
CREATE INDEX atoms_parent ON atoms (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE labels (
  atom_id TEXT NOT NULL REFERENCES atoms (id) ON DELETE CASCADE,
  label   TEXT NOT NULL,
  PRIMARY KEY (atom_id, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_label ON labels (label, atom_id);

-- Containment is `atoms.parent_id`, so `parent_child` is no row here.
CREATE TABLE bonds (
  target_id  TEXT NOT NULL REFERENCES atoms (id) ON DELETE CASCADE,
  source_id  TEXT NOT NULL REFERENCES atoms (id) ON DELETE CASCADE,
  kind       TEXT NOT NULL
    CHECK (kind IN ('blocks','waits_for','conditional_blocks','related','duplicates','discovered_from','replies_to')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (target_id, source_id, kind),
  CHECK (source_id <> target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bonds_source ON bonds (source_id, target_id);

CREATE TRIGGER bonds_block_insert AFTER INSERT ON bonds WHEN new.kind = 'blocks' BEGIN
  UPDATE atoms SET blocked_by = (
    SELECT count(*) FROM bonds b JOIN atoms s ON s.id = b.source_id
    WHERE b.target_id = new.target_id AND b.kind = 'blocks' AND s.status NOT IN ('closed','wont_do','discard')
  ) WHERE id = new.target_id;
END;
CREATE TRIGGER bonds_block_delete AFTER DELETE ON bonds WHEN old.kind = 'blocks' BEGIN
  UPDATE atoms SET blocked_by = (
    SELECT count(*) FROM bonds b JOIN atoms s ON s.id = b.source_id
    WHERE b.target_id = old.target_id AND b.kind = 'blocks' AND s.status NOT IN ('closed','wont_do','discard')
  ) WHERE id = old.target_id;
END;
CREATE TRIGGER atoms_block_status AFTER UPDATE OF status ON atoms
WHEN (old.status IN ('closed','wont_do','discard')) <> (new.status IN ('closed','wont_do','discard')) BEGIN
  UPDATE atoms SET blocked_by = (
    SELECT count(*) FROM bonds b JOIN atoms s ON s.id = b.source_id
    WHERE b.target_id = atoms.id AND b.kind = 'blocks' AND s.status NOT IN ('closed','wont_do','discard')
  ) WHERE id IN (SELECT target_id FROM bonds WHERE source_id = new.id AND kind = 'blocks');
END;

CREATE TABLE comments (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  atom_id    TEXT NOT NULL REFERENCES atoms (id) ON DELETE CASCADE,
  author     TEXT NOT NULL,
  content    TEXT NOT NULL,
  run_id     TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX comments_atom ON comments (atom_id, seq);

CREATE TABLE runs (
  seq              INTEGER PRIMARY KEY,
  id               TEXT NOT NULL UNIQUE,
  -- No foreign key: a run's record outlives its atom.
  atom_id          TEXT NOT NULL,
  attempt          INTEGER NOT NULL,
  agent            TEXT NOT NULL,
  executor         TEXT NOT NULL,
  token            TEXT NOT NULL UNIQUE,
  worker_id        TEXT,
  session          TEXT,
  conversation     TEXT,
  workdir          TEXT NOT NULL,
  started_at       INTEGER NOT NULL,
  heartbeat_at     INTEGER NOT NULL,
  lease_until      INTEGER NOT NULL,
  ended_at         INTEGER,
  outcome          TEXT,
  detail           TEXT,
  exit_code        INTEGER,
  exit_signal      INTEGER,
  supervisor_pid   INTEGER,
  supervisor_start INTEGER,
  supervisor_boot  TEXT,
  agent_pid        INTEGER,
  turns            INTEGER NOT NULL DEFAULT 0,
  tokens_in        INTEGER NOT NULL DEFAULT 0,
  tokens_out       INTEGER NOT NULL DEFAULT 0,
  cost_micros      INTEGER NOT NULL DEFAULT 0,
  action           TEXT,
  active_at        INTEGER,
  stop_blocks      INTEGER NOT NULL DEFAULT 0,
  resumes          INTEGER NOT NULL DEFAULT 0,
  cancel_requested TEXT CHECK (cancel_requested IN ('hold','requeue')),
  CHECK ((outcome IS NULL) = (ended_at IS NULL))
) STRICT;
-- Promise 1, said by the database itself: at most one live run per atom.
CREATE UNIQUE INDEX runs_live ON runs (atom_id) WHERE outcome IS NULL;
CREATE INDEX runs_atom ON runs (atom_id, seq);

CREATE TABLE workers (
  id             TEXT PRIMARY KEY,
  pid            INTEGER NOT NULL,
  start          INTEGER NOT NULL,
  boot           TEXT NOT NULL,
  agent          TEXT NOT NULL,
  concurrency    INTEGER NOT NULL,
  started_at     INTEGER NOT NULL,
  heartbeat_at   INTEGER NOT NULL,
  stop_requested INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,
  actor   TEXT NOT NULL,
  kind    TEXT NOT NULL,
  atom_id TEXT,
  run_id  TEXT,
  data    TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX events_atom ON events (atom_id, seq) WHERE atom_id IS NOT NULL;

CREATE VIRTUAL TABLE search USING fts5 (
  title, description, acceptance,
  content = 'atoms', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER atoms_search_insert AFTER INSERT ON atoms BEGIN
  INSERT INTO search (rowid, title, description, acceptance) VALUES (new.seq, new.title, new.description, new.acceptance);
END;
CREATE TRIGGER atoms_search_delete AFTER DELETE ON atoms BEGIN
  INSERT INTO search (search, rowid, title, description, acceptance) VALUES ('delete', old.seq, old.title, old.description, old.acceptance);
END;
CREATE TRIGGER atoms_search_update AFTER UPDATE OF title, description, acceptance ON atoms BEGIN
  INSERT INTO search (search, rowid, title, description, acceptance) VALUES ('delete', old.seq, old.title, old.description, old.acceptance);
  INSERT INTO search (rowid, title, description, acceptance) VALUES (new.seq, new.title, new.description, new.acceptance);
END;
