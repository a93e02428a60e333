-- What a project may hold at version 9 beside what it held before.
INSERT INTO orchestrations (epic_id, settings, started_at) VALUES ('old-0001', '{}', 1764000000000000);
INSERT INTO questions (epic_id, name, atom_id, state, data, answered_by, answered_at) VALUES
  ('old-0001', 'analysis', 'old-0002', 'data', '{"summary":"two parts","recommended_splits":2}', 'claude', 1764000001000000);
INSERT INTO planned_tasks (epic_id, list, task_id, atom_id) VALUES ('old-0001', 'task_list', 'task_001', 'old-0003');
INSERT INTO whole_checks (epic_id, round, passed, output, at) VALUES ('old-0001', 0, 0, 'one test failed', 1764000002000000);
UPDATE runs SET percent = 60, files_processed = 3, files_total = 5, completion = '{"task_id":"task_001","status":"success"}'
  WHERE outcome IS NOT NULL;
