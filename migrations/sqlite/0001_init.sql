-- Everything that `el` knows. Columns hold TEXT and integers only; times are microseconds since the
-- epoch, UTC; amounts of money are millionths of a US dollar; booleans are 0 and 1.

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
    CHECK (status IN ('open','in_progress','blocked','review','testing','deferred','closed',
                      'wont_do','discard')),
  issue_type    TEXT NOT NULL DEFAULT 'task'
    CHECK (issue_type IN ('task','bug','feature','artifact','discovery','epic','formula')),
  priority      INTEGER NOT NULL DEFAULT 2 CHECK (priority BETWEEN 0 AND 5),
  assignee      TEXT,
  parent_id     TEXT REFERENCES atoms (id) ON DELETE SET NULL,
  defer_until   INTEGER,
  -- Its back-off, from when to when: before `retry_from` the clock has gone back, and none holds.
  retry_from    INTEGER,
  retry_at      INTEGER,
  -- Runs that ended before this do not count as failed attempts: set by `el retry` and `el reopen`.
  fresh_since   INTEGER NOT NULL DEFAULT 0,
  -- Live `blocks` bonds into this atom. The triggers below always count anew, so the number cannot
  -- drift; `el doctor` checks it. It keeps blocked atoms out of the queue's index: a claim costs
  -- the same however many atoms wait.
  blocked_by    INTEGER NOT NULL DEFAULT 0,
  -- The run that last set the status; NULL when a person did.
  status_by_run TEXT,
  close_reason  TEXT,
  created_by    TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  closed_at     INTEGER,
  metadata      TEXT NOT NULL DEFAULT '{}',
  -- Who handed the atom over as a task with `el run`; NULL for every other atom.
  delegated_by  TEXT,
  -- An absolute path. It outranks the agent's own setting, as `timeout_ms` does.
  workdir       TEXT,
  timeout_ms    INTEGER,
  -- The words of the check's command, as a JSON list.
  verify        TEXT,
  require_verify INTEGER NOT NULL DEFAULT 0 CHECK (require_verify IN (0, 1)),
  -- The settings of its runs that outrank the agent's (model, effort, base, env), as JSON; NULL:
  -- none.
  run_options   TEXT
) STRICT;

-- Each list reads one of these and never touches what is over. The queue's index holds all that
-- readiness asks of an atom itself, so counting what is ready never touches the table.
CREATE INDEX atoms_queue ON atoms (
  priority, created_at, seq,
  status, blocked_by, defer_until, retry_at, issue_type, parent_id, id
) WHERE status IN ('open','deferred') AND blocked_by = 0;
-- Each agent's part of the queue: atoms of other agents cost nothing to an agent that looks for
-- work.
CREATE INDEX atoms_queue_of ON atoms (
  assignee, priority, created_at, seq,
  status, blocked_by, defer_until, retry_at, issue_type, parent_id, id
) WHERE status IN ('open','deferred') AND blocked_by = 0;
CREATE INDEX atoms_active ON atoms (priority, created_at, seq, status)
  WHERE status NOT IN ('closed','wont_do','discard');
-- The atoms that somebody has in progress, in the order of the queue. The hooks of agents ask for
-- them at every start and every end of a turn.
CREATE INDEX atoms_in_progress ON atoms (assignee, priority, created_at, seq)
  WHERE status = 'in_progress';
CREATE INDEX atoms_status ON atoms (status, priority, created_at, seq);
-- The parts of the board that wait for a person, or for other atoms.
CREATE INDEX atoms_asking ON atoms (priority, created_at, seq)
  WHERE status = 'deferred' AND status_by_run IS NOT NULL AND defer_until IS NULL;
CREATE INDEX atoms_held_epics ON atoms (priority, created_at, seq)
  WHERE status = 'deferred' AND issue_type = 'epic' AND defer_until IS NULL;
CREATE INDEX atoms_blocked_by ON atoms (priority, created_at, seq)
  WHERE status IN ('open','deferred') AND blocked_by > 0;
CREATE INDEX atoms_parent ON atoms (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX atoms_delegated ON atoms (seq) WHERE delegated_by IS NOT NULL;

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
    CHECK (kind IN ('blocks','waits_for','conditional_blocks','related','duplicates',
                    'discovered_from','replies_to')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (target_id, source_id, kind),
  CHECK (source_id <> target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bonds_source ON bonds (source_id, target_id);

CREATE TRIGGER bonds_block_insert AFTER INSERT ON bonds WHEN new.kind = 'blocks' BEGIN
  UPDATE atoms SET blocked_by = (
    SELECT count(*) FROM bonds b JOIN atoms s ON s.id = b.source_id
    WHERE b.target_id = new.target_id AND b.kind = 'blocks'
      AND s.status NOT IN ('closed','wont_do','discard')
  ) WHERE id = new.target_id;
END;
CREATE TRIGGER bonds_block_delete AFTER DELETE ON bonds WHEN old.kind = 'blocks' BEGIN
  UPDATE atoms SET blocked_by = (
    SELECT count(*) FROM bonds b JOIN atoms s ON s.id = b.source_id
    WHERE b.target_id = old.target_id AND b.kind = 'blocks'
      AND s.status NOT IN ('closed','wont_do','discard')
  ) WHERE id = old.target_id;
END;
CREATE TRIGGER atoms_block_status AFTER UPDATE OF status ON atoms
WHEN (old.status IN ('closed','wont_do','discard'))
  <> (new.status IN ('closed','wont_do','discard')) BEGIN
  UPDATE atoms SET blocked_by = (
    SELECT count(*) FROM bonds b JOIN atoms s ON s.id = b.source_id
    WHERE b.target_id = atoms.id AND b.kind = 'blocks'
      AND s.status NOT IN ('closed','wont_do','discard')
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
  -- A JSON list of the tools that the agent's permissions denied; NULL: none.
  denied           TEXT,
  -- A JSON list of sentences: what the sandbox kept the agent from, or why there was none.
  sandbox_notes    TEXT,
  supervisor_pid   INTEGER,
  supervisor_start INTEGER,
  supervisor_boot  TEXT,
  agent_pid        INTEGER,
  turns            INTEGER NOT NULL DEFAULT 0,
  tokens_in        INTEGER NOT NULL DEFAULT 0,
  tokens_out       INTEGER NOT NULL DEFAULT 0,
  cost_micros      INTEGER NOT NULL DEFAULT 0,
  -- The part of the cost that no result has reported: estimated from the tokens.
  estimated_micros INTEGER NOT NULL DEFAULT 0,
  action           TEXT,
  -- Told by a running agent in progress blocks.
  percent          INTEGER,
  files_processed  INTEGER,
  files_total      INTEGER,
  active_at        INTEGER,
  stop_blocks      INTEGER NOT NULL DEFAULT 0,
  resumes          INTEGER NOT NULL DEFAULT 0,
  cancel_requested TEXT CHECK (cancel_requested IN ('hold','requeue')),
  -- The work is to be reviewed. Fixed when the run begins: a later change by its agent does not
  -- lift it.
  review           INTEGER NOT NULL DEFAULT 0 CHECK (review IN (0, 1)),
  -- The check of the run and its result, as JSON.
  verify           TEXT,
  -- The last lines of what the agent said, and the lines that tell of errors. The whole transcript
  -- stays in its file.
  output           TEXT,
  error_lines      TEXT,
  -- JSON; NULL until the run's work was collected.
  summary          TEXT,
  -- The agent's completion block, as JSON.
  completion       TEXT,
  -- What the run and its epics may cost, as the worker was told at the claim; NULL: no bound. The
  -- epics' bound is for those without their own (`budget_usd` in their metadata).
  budget_micros      INTEGER,
  epic_budget_micros INTEGER,
  -- Which budget was spent while the run was on, in words.
  over_budget        TEXT,
  CHECK ((outcome IS NULL) = (ended_at IS NULL))
) STRICT;
-- Promise 1, said by the database itself: at most one live run per atom.
CREATE UNIQUE INDEX runs_live ON runs (atom_id) WHERE outcome IS NULL;
CREATE INDEX runs_atom ON runs (atom_id, seq);
-- Each claim counts how many things an agent does at a time.
CREATE INDEX runs_agent_live ON runs (agent) WHERE outcome IS NULL;

-- What all runs cost, by the day (UTC, days since the epoch) on which the cost was recorded: a run
-- may last over midnight.
CREATE TABLE spend (
  day         INTEGER PRIMARY KEY,
  cost_micros INTEGER NOT NULL
) STRICT;

-- What a run hands back: its summary and the files that belong to it.
CREATE TABLE artifacts (
  run_id      TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  -- From 1: the summary, the deliverables, then the files that were not handed over.
  n           INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  path        TEXT NOT NULL,
  description TEXT,
  state       TEXT NOT NULL CHECK (state IN ('copied','reference','refused')),
  size        INTEGER,
  sha256      TEXT,
  -- Of the copy, relative to the run's folder.
  file        TEXT,
  reason      TEXT,
  note        TEXT,
  PRIMARY KEY (run_id, n),
  CHECK ((state = 'copied') = (file IS NOT NULL)),
  CHECK ((state = 'refused') = (reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE workers (
  id             TEXT PRIMARY KEY,
  pid            INTEGER NOT NULL,
  start          INTEGER NOT NULL,
  boot           TEXT NOT NULL,
  agent          TEXT NOT NULL,
  concurrency    INTEGER NOT NULL,
  started_at     INTEGER NOT NULL,
  heartbeat_at   INTEGER NOT NULL,
  stop_requested INTEGER NOT NULL DEFAULT 0,
  -- A JSON list; empty: `agent` alone.
  agents         TEXT NOT NULL DEFAULT '[]',
  -- Which ready atoms of its agents the worker can be relied on to take.
  takes          TEXT NOT NULL DEFAULT 'some' CHECK (takes IN ('all','assigned','some'))
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
-- The landings that failed: the board asks which of them still stand.
CREATE INDEX events_land_failed ON events (seq) WHERE kind = 'land_failed';
-- The claims of a conversation. A damaged row belongs to no conversation and does no harm.
CREATE INDEX events_conversation
  ON events (CASE WHEN json_valid(data) THEN data ->> '$.conversation' END) WHERE kind = 'claimed';

-- What agents and people tell each other. Append-only. A channel exists once it has a message.
CREATE TABLE messages (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  channel    TEXT NOT NULL,
  author     TEXT NOT NULL,
  content    TEXT NOT NULL,
  -- No foreign keys: a message outlives its atom.
  atom_id    TEXT,
  run_id     TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_channel ON messages (channel, seq);

-- The inboxes: each reader whom a message names, and when that reader read it. `reader` is a
-- handle: lower case, no spaces.
CREATE TABLE mentions (
  reader  TEXT NOT NULL,
  message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
  read_at INTEGER,
  PRIMARY KEY (reader, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_message ON mentions (message);

-- Each hand-over for review and its verdict. The report is kept as it was given, with fields that
-- we do not know.
CREATE TABLE reviews (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  atom_id    TEXT NOT NULL REFERENCES atoms (id) ON DELETE CASCADE,
  run_id     TEXT,
  author     TEXT NOT NULL,
  report     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  verdict    TEXT CHECK (verdict IN ('approved','rejected','superseded')),
  decided_by TEXT,
  reason     TEXT,
  decided_at INTEGER,
  CHECK ((verdict IS NULL) = (decided_at IS NULL))
) STRICT;
CREATE INDEX reviews_atom ON reviews (atom_id, seq);

-- Messages of the mailbox files that were dealt with, by content: the n-th of its kind in its file,
-- counted from 0.
CREATE TABLE mailbox_seen (
  file TEXT NOT NULL,
  hash TEXT NOT NULL,
  nth  INTEGER NOT NULL,
  at   INTEGER NOT NULL,
  PRIMARY KEY (file, hash, nth)
) STRICT, WITHOUT ROWID;

-- The atom of each task of the mailbox, and the protocol's state that the queue was last told.
CREATE TABLE mailbox_tasks (
  task_id TEXT PRIMARY KEY,
  atom_id TEXT NOT NULL UNIQUE REFERENCES atoms (id) ON DELETE CASCADE,
  told    TEXT
) STRICT, WITHOUT ROWID;

-- The names of atoms in other trackers, and what the last import brought: a later import changes
-- only what changed there since.
CREATE TABLE aliases (
  -- The tracker: bd, github, github:owner/repo, markdown:plan.md, …
  source   TEXT NOT NULL,
  alias    TEXT NOT NULL,
  atom_id  TEXT NOT NULL REFERENCES atoms (id) ON DELETE CASCADE,
  -- A hash of each field as it was imported; NULL for a further name, or for one that came with
  -- an export.
  imported TEXT,
  -- The bonds that the record told of, as a JSON array of [source, target, kind]; NULL if none.
  bonds    TEXT,
  PRIMARY KEY (source, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_alias ON aliases (alias COLLATE NOCASE, atom_id);
CREATE INDEX aliases_atom ON aliases (atom_id);

-- Orchestrations: an epic's plan, asked for phase by phase. The work itself is ordinary atoms;
-- these tables tie them together.
CREATE TABLE orchestrations (
  epic_id    TEXT PRIMARY KEY REFERENCES atoms (id) ON DELETE CASCADE,
  -- How many orchestrations it is within.
  depth      INTEGER NOT NULL DEFAULT 0,
  -- JSON.
  settings   TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  -- Microseconds in which somebody drove the plan: a plan that rests does not age.
  worked     INTEGER NOT NULL DEFAULT 0,
  -- Its result was told.
  ended_at   INTEGER,
  -- The worker that drives the plan and shares its tasks with others. Without such a worker, the
  -- tasks of a plan that has not ended are held.
  driver     TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX orchestrations_on ON orchestrations (epic_id) WHERE ended_at IS NULL;

-- The questions of a plan by name: `analysis`, `task_list`, `aggregation`, `failures-0` …
CREATE TABLE questions (
  epic_id     TEXT NOT NULL REFERENCES orchestrations (epic_id) ON DELETE CASCADE,
  name        TEXT NOT NULL,
  -- The atom whose run asks. No foreign key: the answer outlives it. NULL: a person answered
  -- before the question was asked.
  atom_id     TEXT,
  state       TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open','data','carried')),
  -- The data of the phase, as JSON; of what was carried, the words.
  data        TEXT,
  -- What was wrong with the last answer that could not be used.
  fault       TEXT,
  -- The author of the answer, and the run.
  answered_by TEXT,
  run_id      TEXT,
  answered_at INTEGER,
  -- Every task of the list has had its atom.
  is_filed    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (epic_id, name)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX questions_atom ON questions (atom_id) WHERE atom_id IS NOT NULL;

-- The model's names of tasks. An atom that a person removed keeps its row, so that its task is not
-- filed again.
CREATE TABLE planned_tasks (
  epic_id TEXT NOT NULL REFERENCES orchestrations (epic_id) ON DELETE CASCADE,
  -- The question whose list names it.
  list    TEXT NOT NULL,
  task_id TEXT NOT NULL,
  atom_id TEXT NOT NULL,
  PRIMARY KEY (epic_id, list, task_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX planned_tasks_atom ON planned_tasks (atom_id);

-- The command that checks the whole, each time that it ended.
CREATE TABLE whole_checks (
  epic_id TEXT NOT NULL REFERENCES orchestrations (epic_id) ON DELETE CASCADE,
  round   INTEGER NOT NULL,
  passed  INTEGER NOT NULL,
  -- The end of what it printed.
  output  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (epic_id, round)
) STRICT, WITHOUT ROWID;

-- The search index.
CREATE VIRTUAL TABLE search USING fts5 (
  title, description, acceptance,
  content = 'atoms', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER atoms_search_insert AFTER INSERT ON atoms BEGIN
  INSERT INTO search (rowid, title, description, acceptance)
  VALUES (new.seq, new.title, new.description, new.acceptance);
END;
CREATE TRIGGER atoms_search_delete AFTER DELETE ON atoms BEGIN
  INSERT INTO search (search, rowid, title, description, acceptance)
  VALUES ('delete', old.seq, old.title, old.description, old.acceptance);
END;
-- Most updates write the same texts again.
CREATE TRIGGER atoms_search_update AFTER UPDATE OF title, description, acceptance ON atoms
WHEN (old.title, old.description, old.acceptance)
  IS NOT (new.title, new.description, new.acceptance) BEGIN
  INSERT INTO search (search, rowid, title, description, acceptance)
  VALUES ('delete', old.seq, old.title, old.description, old.acceptance);
  INSERT INTO search (rowid, title, description, acceptance)
  VALUES (new.seq, new.title, new.description, new.acceptance);
END;
