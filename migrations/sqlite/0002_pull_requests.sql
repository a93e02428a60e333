-- Pull requests of atoms' branches. Each step is recorded before it is taken, so a later call finds
-- how far a killed one came. No token and no text of a pull request is kept.
CREATE TABLE pull_requests (
  atom_id      TEXT NOT NULL REFERENCES atoms (id) ON DELETE CASCADE,
  -- 1 for the first; work after a merge is a further pull request of the same atom.
  seq          INTEGER NOT NULL,
  forge        TEXT NOT NULL,
  -- HOST/OWNER/NAME of the repository that receives the work.
  repo         TEXT NOT NULL,
  -- The owner of the repository that the branch is pushed to.
  head_owner   TEXT NOT NULL,
  head_ref     TEXT NOT NULL,
  base_ref     TEXT NOT NULL,
  -- The commit that is being pushed, and the last that arrived: the lease of the next push.
  pushing      TEXT,
  pushed       TEXT,
  number       INTEGER,
  url          TEXT,
  state        TEXT NOT NULL
    CHECK (state IN ('pushing','opening','open','queued','merged','closed','lost')),
  -- What an open one waits for.
  detail       TEXT,
  merge_commit TEXT,
  -- The head that was merged.
  merged_head  TEXT,
  created_at   INTEGER NOT NULL,
  seen_at      INTEGER,
  next_look    INTEGER,
  failures     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (atom_id, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX pull_requests_number ON pull_requests (forge, repo, number)
  WHERE number IS NOT NULL;
-- An atom has one pull request at a time that is not over.
CREATE UNIQUE INDEX pull_requests_live ON pull_requests (atom_id)
  WHERE state IN ('pushing','opening','open','queued');

-- What reviewers and checks asked for, told to an attempt once.
CREATE TABLE pr_feedback (
  atom_id TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  -- The commit that it is about.
  head    TEXT NOT NULL,
  -- The forge's own id.
  item    TEXT NOT NULL,
  -- Counts from 1 for each atom.
  round   INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (atom_id, seq, head, item),
  FOREIGN KEY (atom_id, seq) REFERENCES pull_requests (atom_id, seq) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
