-- What the series of `el stats` ask for: the model of a run, and what was done within a time.

-- The model that answered, as the agent's stream names it; NULL: it named none.
ALTER TABLE runs ADD COLUMN model TEXT;
CREATE INDEX atoms_closed ON atoms (closed_at) WHERE closed_at IS NOT NULL;
