-- Orchestrations: an epic's plan, asked for phase by phase. What is worked on is ordinary atoms; here stands only what ties them together.

CREATE TABLE orchestrations (
  epic_id    TEXT PRIMARY KEY REFERENCES atoms (id) ON DELETE CASCADE,
  -- How many orchestrations it is within.
  depth      INTEGER NOT NULL DEFAULT 0,
  -- JSON.
  settings   TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  -- Microseconds in which somebody drove it: a plan that lies does not age.
  worked     INTEGER NOT NULL DEFAULT 0,
  -- Its result was told.
  ended_at   INTEGER
) STRICT, WITHOUT ROWID;

-- What is asked for, under the name of its question: `analysis`, `task_list`, `aggregation`, `failures-0` …
CREATE TABLE questions (
  epic_id     TEXT NOT NULL REFERENCES orchestrations (epic_id) ON DELETE CASCADE,
  name        TEXT NOT NULL,
  -- The atom whose run asks. No foreign key: the answer outlives it. NULL: a person answered before it was asked.
  atom_id     TEXT,
  state       TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open','data','carried')),
  -- The data of the phase, as JSON; of what was carried, the words.
  data        TEXT,
  -- What was wrong with the last answer that could not be used.
  fault       TEXT,
  -- Whose answer it is, and of which run.
  answered_by TEXT,
  run_id      TEXT,
  answered_at INTEGER,
  -- Of a list: every task of it has had its atom.
  is_filed    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (epic_id, name)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX questions_atom ON questions (atom_id) WHERE atom_id IS NOT NULL;

-- The model's names of tasks. An atom that a person removed keeps its row, so that its task is not filed again.
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

-- What a running agent tells of itself in progress blocks, and its completion block (JSON).
ALTER TABLE runs ADD COLUMN percent INTEGER;
ALTER TABLE runs ADD COLUMN files_processed INTEGER;
ALTER TABLE runs ADD COLUMN files_total INTEGER;
ALTER TABLE runs ADD COLUMN completion TEXT;
