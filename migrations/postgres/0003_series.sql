-- What the series of `el stats` ask for; the same as migrations/sqlite/0003_series.sql.

-- The model that answered, as the agent's stream names it; NULL: it named none.
ALTER TABLE runs ADD COLUMN model TEXT COLLATE "C";
CREATE INDEX atoms_closed ON atoms (closed_at) WHERE closed_at IS NOT NULL;
