-- Parts of the files of runs, for the other machines that share a server: each begins at a byte of
-- its file. The server compresses them (TOAST).
CREATE TABLE run_files (
  run_id TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  -- Relative to the run's folder.
  name   TEXT COLLATE "C" NOT NULL,
  start  BIGINT NOT NULL,
  data   BYTEA NOT NULL,
  PRIMARY KEY (run_id, name, start)
);
