-- Pull requests of atoms' branches. Each step is recorded before it is taken, so a later call finds
-- how far a killed one came. No token and no text of a pull request is kept.
CREATE TABLE pull_requests (
  atom_id      TEXT COLLATE "C" NOT NULL REFERENCES atoms (id) ON DELETE CASCADE,
  -- 1 for the first; work after a merge is a further pull request of the same atom.
  seq          BIGINT NOT NULL,
  forge        TEXT COLLATE "C" NOT NULL,
  -- HOST/OWNER/NAME of the repository that receives the work.
  repo         TEXT COLLATE "C" NOT NULL,
  -- The owner of the repository that the branch is pushed to.
  head_owner   TEXT COLLATE "C" NOT NULL,
  head_ref     TEXT COLLATE "C" NOT NULL,
  base_ref     TEXT COLLATE "C" NOT NULL,
  -- The commit that is being pushed, and the last that arrived: the lease of the next push.
  pushing      TEXT COLLATE "C",
  pushed       TEXT COLLATE "C",
  number       BIGINT,
  url          TEXT COLLATE "C",
  state        TEXT COLLATE "C" NOT NULL
    CHECK (state IN ('pushing','opening','open','queued','merged','closed','lost')),
  -- What an open one waits for.
  detail       TEXT COLLATE "C",
  merge_commit TEXT COLLATE "C",
  -- The head that was merged.
  merged_head  TEXT COLLATE "C",
  created_at   BIGINT NOT NULL,
  seen_at      BIGINT,
  next_look    BIGINT,
  failures     BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (atom_id, seq)
);
CREATE UNIQUE INDEX pull_requests_number ON pull_requests (forge, repo, number)
  WHERE number IS NOT NULL;
-- An atom has one pull request at a time that is not over.
CREATE UNIQUE INDEX pull_requests_live ON pull_requests (atom_id)
  WHERE state IN ('pushing','opening','open','queued');

-- What reviewers and checks asked for, told to an attempt once.
CREATE TABLE pr_feedback (
  atom_id TEXT COLLATE "C" NOT NULL,
  seq     BIGINT NOT NULL,
  -- The commit that it is about.
  head    TEXT COLLATE "C" NOT NULL,
  -- The forge's own id.
  item    TEXT COLLATE "C" NOT NULL,
  -- Counts from 1 for each atom.
  round   BIGINT NOT NULL,
  at      BIGINT NOT NULL,
  PRIMARY KEY (atom_id, seq, head, item),
  FOREIGN KEY (atom_id, seq) REFERENCES pull_requests (atom_id, seq) ON DELETE CASCADE
);
