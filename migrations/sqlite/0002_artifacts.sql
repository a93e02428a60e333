-- What a run hands back: its summary as it was read, and the files that belong to it.

-- JSON; NULL until the run's work was collected.
ALTER TABLE runs ADD COLUMN summary TEXT;

CREATE TABLE artifacts (
  run_id      TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  -- From 1: the summary, the deliverables, then what was not handed over.
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
