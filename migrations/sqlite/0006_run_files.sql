-- Parts of the files of runs, for the other machines that share a server: each begins at a byte of
-- its file. A tracker in a file has none, since the files are beside it.
CREATE TABLE run_files (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  -- Relative to the run's folder.
  name   TEXT NOT NULL,
  start  INTEGER NOT NULL,
  data   BLOB NOT NULL,
  PRIMARY KEY (run_id, name, start)
) STRICT;
