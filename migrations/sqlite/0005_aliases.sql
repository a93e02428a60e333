-- What atoms are called in other trackers, and what an import brought last: a later import changes only what changed there since.

CREATE TABLE aliases (
  -- Whose name it is: bd, github, github:owner/repo, markdown:plan.md, …
  source   TEXT NOT NULL,
  alias    TEXT NOT NULL,
  atom_id  TEXT NOT NULL REFERENCES atoms (id) ON DELETE CASCADE,
  -- A hash of each field as it was imported; NULL for a further name, or one that came with an export.
  imported TEXT,
  -- The bonds that the record told of, as a JSON array of [source, target, kind]; NULL if none.
  bonds    TEXT,
  PRIMARY KEY (source, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_alias ON aliases (alias COLLATE NOCASE, atom_id);
CREATE INDEX aliases_atom ON aliases (atom_id);
