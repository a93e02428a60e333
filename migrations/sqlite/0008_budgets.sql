-- Budgets: what a run and its epics may cost, as its worker was told when it claimed, and what was spent on each day.

-- Millionths of a US dollar; NULL: no bound. The epics' is for those that name none of their own (`budget_usd` in their metadata).
ALTER TABLE runs ADD COLUMN budget_micros INTEGER;
ALTER TABLE runs ADD COLUMN epic_budget_micros INTEGER;
-- Set once a budget was spent while the run was on: which, in words.
ALTER TABLE runs ADD COLUMN over_budget TEXT;

-- What all runs cost, by the day (UTC, days since the epoch) on which it was recorded: a run may last over midnight.
CREATE TABLE spend (
  day         INTEGER PRIMARY KEY,
  cost_micros INTEGER NOT NULL
) STRICT;
INSERT INTO spend (day, cost_micros)
  SELECT started_at / 86400000000, sum(cost_micros) FROM runs WHERE cost_micros > 0 GROUP BY 1;
