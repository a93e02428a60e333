-- What agents and people tell each other, what waits for a review, and what the mailbox files have brought.

-- Append-only. A channel is there once something was said in it.
CREATE TABLE messages (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  channel    TEXT NOT NULL,
  author     TEXT NOT NULL,
  content    TEXT NOT NULL,
  -- No foreign keys: what was said outlives what it was about.
  atom_id    TEXT,
  run_id     TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_channel ON messages (channel, seq);

-- The inboxes: whom a message names, and whether that one has read it. `reader` is a handle: lower case, no spaces.
CREATE TABLE mentions (
  reader  TEXT NOT NULL,
  message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
  read_at INTEGER,
  PRIMARY KEY (reader, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_message ON mentions (message);

-- Each hand-over for review and what became of it. The report is kept as it was given, with fields that we do not know.
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

-- Messages of the mailbox files that were dealt with, by content: the n-th of its kind in its file, counted from 0.
CREATE TABLE mailbox_seen (
  file TEXT NOT NULL,
  hash TEXT NOT NULL,
  nth  INTEGER NOT NULL,
  at   INTEGER NOT NULL,
  PRIMARY KEY (file, hash, nth)
) STRICT, WITHOUT ROWID;

-- Which task of the mailbox is which atom, and which of the protocol's states the queue was last told of it.
CREATE TABLE mailbox_tasks (
  task_id TEXT PRIMARY KEY,
  atom_id TEXT NOT NULL UNIQUE REFERENCES atoms (id) ON DELETE CASCADE,
  told    TEXT
) STRICT, WITHOUT ROWID;
