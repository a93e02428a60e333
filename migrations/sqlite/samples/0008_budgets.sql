-- What a project may hold at version 8 beside what it held before.
UPDATE runs SET budget_micros = 3000000, epic_budget_micros = 9000000, over_budget = 'it cost $3.10 of the $3.00 that a run may cost'
  WHERE outcome IS NOT NULL;
INSERT INTO spend (day, cost_micros) VALUES (20420, 1234567) ON CONFLICT (day) DO UPDATE SET cost_micros = 1234567;
INSERT INTO meta (key, value) VALUES ('budget_per_day', '5000000');
