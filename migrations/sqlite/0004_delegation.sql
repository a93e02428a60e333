-- Delegated work: what a task says of how it is to be run, what came of it, and which agents a worker serves.

-- Set where the atom is a task that somebody handed over with `el run`: who did.
ALTER TABLE atoms ADD COLUMN delegated_by TEXT;
-- Absolute; outranks the agent's own setting, as the time limit (milliseconds) does.
ALTER TABLE atoms ADD COLUMN workdir TEXT;
ALTER TABLE atoms ADD COLUMN timeout_ms INTEGER;
-- The words of the check's command, as a JSON list.
ALTER TABLE atoms ADD COLUMN verify TEXT;
ALTER TABLE atoms ADD COLUMN require_verify INTEGER NOT NULL DEFAULT 0 CHECK (require_verify IN (0, 1));
CREATE INDEX atoms_delegated ON atoms (seq) WHERE delegated_by IS NOT NULL;

-- The last lines of what the agent said, and the lines that tell of errors; the whole transcript stays in its file.
ALTER TABLE runs ADD COLUMN output TEXT;
ALTER TABLE runs ADD COLUMN error_lines TEXT;
-- The check of the run and its result, as JSON.
ALTER TABLE runs ADD COLUMN verify TEXT;
-- How many things an agent does at a time is counted at each claim.
CREATE INDEX runs_agent_live ON runs (agent) WHERE outcome IS NULL;

-- A JSON list; empty: `agent` alone.
ALTER TABLE workers ADD COLUMN agents TEXT NOT NULL DEFAULT '[]';
-- Which ready atoms of its agents the worker can be relied on to take.
ALTER TABLE workers ADD COLUMN takes TEXT NOT NULL DEFAULT 'some' CHECK (takes IN ('all','assigned','some'));
