-- What a project may hold at version 1: every table, every status, odd texts. Later migrations run
-- over it.
INSERT INTO meta (key, value) VALUES ('prefix', 'old'), ('created_at', '1764000000000000'),
  ('paused_until', '1764000000000000'), ('pause_reason', 'limit'),
  ('paused_at', '1764000000000000');
INSERT INTO atoms (seq, id, short, title, description, acceptance, status, issue_type, priority,
  assignee, parent_id, defer_until, retry_at, fresh_since, status_by_run, close_reason, created_by,
  created_at, updated_at, closed_at, metadata) VALUES
  (1, 'old-0001', '0001', 'An epic', '', NULL, 'open', 'epic', 2, NULL, NULL, NULL, NULL, 0, NULL,
    NULL, 'ann', 1764000000000000, 1764000000000000, NULL, '{}'),
  (2, 'old-0002', '0002', 'Its child; "quoted" $(x) `y`', 'Crème' || chr(10) || 'brûlée',
    'it tastes', 'open', 'task', 0, 'claude', 'old-0001', NULL, 1764000001000000, 1764000000000000,
    NULL, NULL, 'ann', 1764000000000001, 1764000000000001, NULL, '{"source":{"id":7}}'),
  (3, 'old-0003', '0003', 'In work', '', NULL, 'in_progress', 'bug', 1, NULL, NULL, NULL, NULL, 0,
    NULL, NULL, 'ann', 1764000000000002, 1764000000000002, NULL, '{}'),
  (4, 'old-0004', '0004', 'Done', '', NULL, 'closed', 'feature', 5, NULL, NULL, NULL, NULL, 0,
    'run-00000001', 'done', 'ann', 1764000000000003, 1764000000000003, 1764000000000003, '{}'),
  (5, 'old-0005', '0005', 'Later', '', NULL, 'deferred', 'task', 2, NULL, NULL, 1764000002000000,
    NULL, 0, NULL, NULL, 'ann', 1764000000000004, 1764000000000004, NULL, '{}'),
  (6, 'old-0006', '0006', 'Thrown away', '', NULL, 'discard', 'discovery', 2, NULL, NULL, NULL,
    NULL, 0, NULL, 'twice', 'ann', 1764000000000005, 1764000000000005, 1764000000000005, '{}'),
  (7, 'old-0007', '0007', 'Not to be done', '', NULL, 'wont_do', 'artifact', 2, NULL, NULL, NULL,
    NULL, 0, NULL, NULL, 'ann', 1764000000000006, 1764000000000006, 1764000000000006, '{}'),
  (8, 'old-0008', '0008', 'Stuck', '', NULL, 'blocked', 'task', 2, NULL, NULL, NULL, NULL, 0,
    'run-00000001', NULL, 'ann', 1764000000000007, 1764000000000007, NULL, '{}');
UPDATE atoms SET run_options = '{"model":"opus","env":{"A":"1"}}' WHERE seq = 2;
INSERT INTO labels (atom_id, label) VALUES
  ('old-0002', 'api'), ('old-0002', 'größe'), ('old-0004', 'api');
INSERT INTO bonds (target_id, source_id, kind, created_at) VALUES
  ('old-0002', 'old-0003', 'blocks', 1764000000000010),
  ('old-0005', 'old-0001', 'waits_for', 1764000000000011),
  ('old-0008', 'old-0004', 'conditional_blocks', 1764000000000012),
  ('old-0003', 'old-0004', 'discovered_from', 1764000000000013);
INSERT INTO comments (seq, id, atom_id, author, content, run_id, created_at) VALUES (1,
  '11111111-1111-4111-8111-111111111111', 'old-0002', 'bob', 'hm', NULL, 1764000000000020);
INSERT INTO runs (seq, id, atom_id, attempt, agent, executor, token, worker_id, session,
  conversation, workdir, started_at, heartbeat_at, lease_until, ended_at, outcome, detail,
  exit_code, turns, tokens_in, tokens_out, cost_micros) VALUES
  (1, 'run-00000001', 'old-0004', 1, 'claude', 'claude', 'token-1', 'worker-1',
    'eluent-old-0004-1764000000-00000001', '22222222-2222-4222-8222-222222222222', '/tmp',
    1764000000000030, 1764000000000040, 1764000060000040, 1764000000000050, 'closed',
    'the agent set it to closed', 0, 3, 100, 20, 1500),
  (2, 'run-00000002', 'old-0003', 1, 'claude', 'claude', 'token-2', 'worker-1', NULL, NULL, '/tmp',
    1764000000000060, 1764000000000060, 1764000060000060, NULL, NULL, NULL, NULL, 0, 0, 0, 0);
INSERT INTO workers (id, pid, start, boot, agent, concurrency, started_at, heartbeat_at)
  VALUES ('worker-1', 1, 1, 'boot', 'claude', 1, 1764000000000000, 1764000000000000);
INSERT INTO events (seq, at, actor, kind, atom_id, run_id, data) VALUES
  (1, 1764000000000000, 'ann', 'created', 'old-0002', NULL, '{"title":"x"}'),
  (2, 1764000000000030, 'claude', 'run_started', 'old-0004', 'run-00000001', '{}');
UPDATE runs SET summary = '{"objective":"x","status":"completed","deliverables":
  [{"path":"a.md","description":null}]}' WHERE id = 'run-00000001';
INSERT INTO artifacts (run_id, n, kind, path, description, state, size, sha256, file, reason, note)
  VALUES
  ('run-00000001', 1, 'summary', '.eluent/summaries/old-0004.md', NULL, 'copied', 12, 'ab',
    'artifacts/1-old-0004.md', NULL, NULL),
  ('run-00000001', 2, 'deliverable', '/etc/passwd', 'x', 'refused', NULL, NULL, NULL, 'absolute',
    NULL);
INSERT INTO messages (seq, id, channel, author, content, atom_id, run_id, created_at) VALUES
  (1, '33333333-3333-4333-8333-333333333331', 'claude-code-gendry', 'claude',
    '@gendry Task old-0004 completed (exit 0).', 'old-0004', 'run-00000001', 1764000000000070),
  (2, '33333333-3333-4333-8333-333333333332', 'général', 'ann', 'Crème' || chr(10) || 'brûlée',
    NULL, NULL, 1764000000000071);
INSERT INTO mentions (reader, message, read_at) VALUES ('gendry', 1, NULL), ('ann', 1,
  1764000000000072);
INSERT INTO reviews (seq, id, atom_id, run_id, author, report, created_at, verdict, decided_by,
  reason, decided_at) VALUES
  (1, '33333333-3333-4333-8333-333333333333', 'old-0002', NULL, 'claude',
    '{"type":"completion_report","own":1}', 1764000000000073, 'rejected', 'ann', 'no tests',
    1764000000000074),
  (2, '33333333-3333-4333-8333-333333333334', 'old-0002', NULL, 'claude',
    '{"type":"completion_report"}', 1764000000000075, NULL, NULL, NULL, NULL);
INSERT INTO mailbox_seen (file, hash, nth, at) VALUES ('to-developer', '00', 0, 1764000000000076);
INSERT INTO mailbox_tasks (task_id, atom_id, told) VALUES ('task-001', 'old-0002', 'pending');
UPDATE atoms SET delegated_by = 'gendry', workdir = '/srv/größe', timeout_ms = 5400000,
  verify = '["cargo","test","a b"]', require_verify = 1
  WHERE id = 'old-0004';
UPDATE runs SET output = 'last' || chr(10) || 'lines', error_lines = 'error: none',
  verify = '{"command":["true"],"status":"passed","own":1}'
  WHERE outcome IS NOT NULL;
UPDATE workers SET agents = '["claude","gendry"]', takes = 'all';
INSERT INTO aliases (source, alias, atom_id, imported, bonds) VALUES
  ('bd', 'bd-a1B2.1', 'old-0002', '0123456789abcdef', '[["old-0003","old-0002","blocks"]]'),
  ('github:ann/shop', '#12', 'old-0002', NULL, NULL), ('github:bob/shop', '#12', 'old-0003', NULL,
    NULL);
-- The numbers go on after those above.
SELECT setval(pg_get_serial_sequence(t, 'seq'), 100)
  FROM unnest('{atoms,comments,runs,events,messages,reviews}'::text[]) t;
-- A claim by a conversation, and one whose record was damaged.
INSERT INTO events (at, actor, kind, atom_id, data) VALUES
  (1764000000000000, 'ann', 'claimed', 'old-0002', '{"conversation":"c-1"}'),
  (1764000000000000, 'ann', 'claimed', 'old-0003', '{"conversat');
UPDATE runs SET review = 1 WHERE outcome IS NULL;
UPDATE runs SET budget_micros = 3000000, epic_budget_micros = 9000000,
  over_budget = 'it cost $3.10 of the $3.00 that a run may cost'
  WHERE outcome IS NOT NULL;
INSERT INTO spend (day, cost_micros) VALUES (20420, 1234567) ON CONFLICT (day) DO UPDATE SET
  cost_micros = 1234567;
INSERT INTO meta (key, value) VALUES ('budget_per_day', '5000000');
INSERT INTO orchestrations (epic_id, settings, started_at, driver) VALUES ('old-0001', '{}',
  1764000000000000, 'worker-gone');
INSERT INTO questions (epic_id, name, atom_id, state, data, answered_by, answered_at) VALUES
  ('old-0001', 'analysis', 'old-0002', 'data', '{"summary":"two parts","recommended_splits":2}',
    'claude', 1764000001000000);
INSERT INTO planned_tasks (epic_id, list, task_id, atom_id) VALUES ('old-0001', 'task_list',
  'task_001', 'old-0003');
INSERT INTO whole_checks (epic_id, round, passed, output, at) VALUES ('old-0001', 0, 0,
  'one test failed', 1764000002000000);
UPDATE runs SET percent = 60, files_processed = 3, files_total = 5,
  completion = '{"task_id":"task_001","status":"success"}'
  WHERE outcome IS NOT NULL;
UPDATE atoms SET assignee = 'gendry' WHERE id = 'old-0001';
