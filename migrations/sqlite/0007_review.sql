-- Whether the work of a run is to be reviewed, as it was when the run began: what its agent changes meanwhile does not lift it.
ALTER TABLE runs ADD COLUMN review INTEGER NOT NULL DEFAULT 0 CHECK (review IN (0, 1));
