-- Atoms with a branch that is not merged yet, noted while pr_gate is 'merged'. Once such an atom is
-- closed, dependants wait for the merge, which removes the row.
CREATE TABLE unmerged (
  atom_id TEXT NOT NULL PRIMARY KEY REFERENCES atoms (id) ON DELETE CASCADE,
  since   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- el made the branch at the remote, and deletes it there after the merge.
ALTER TABLE pull_requests ADD COLUMN owns_branch INTEGER NOT NULL DEFAULT 0;
