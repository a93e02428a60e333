-- What a project may hold at version 1: every table, every status, odd texts. Later migrations run over it.
INSERT INTO meta (key, value) VALUES ('prefix', 'old'), ('created_at', '1764000000000000'), ('paused_until', '1764000000000000'), ('pause_reason', 'limit');
INSERT INTO atoms (seq, id, short, title, description, acceptance, status, issue_type, priority, assignee, parent_id, defer_until, retry_at, fresh_since, status_by_run, close_reason, created_by, created_at, updated_at, closed_at, metadata) VALUES
  (1, 'old-0001', '0001', 'An epic', '', NULL, 'open', 'epic', 2, NULL, NULL, NULL, NULL, 0, NULL, NULL, 'ann', 1764000000000000, 1764000000000000, NULL, '{}'),
  (2, 'old-0002', '0002', 'Its child; "quoted" $(x) `y`', 'Crème' || char(10) || 'brûlée', 'it tastes', 'open', 'task', 0, 'claude', 'old-0001', NULL, 1764000001000000, 1764000000000000, NULL, NULL, 'ann', 1764000000000001, 1764000000000001, NULL, '{"source":{"id":7}}'),
  (3, 'old-0003', '0003', 'In work', '', NULL, 'in_progress', 'bug', 1, NULL, NULL, NULL, NULL, 0, NULL, NULL, 'ann', 1764000000000002, 1764000000000002, NULL, '{}'),
  (4, 'old-0004', '0004', 'Done', '', NULL, 'closed', 'feature', 5, NULL, NULL, NULL, NULL, 0, 'run-00000001', 'done', 'ann', 1764000000000003, 1764000000000003, 1764000000000003, '{}'),
  (5, 'old-0005', '0005', 'Later', '', NULL, 'deferred', 'task', 2, NULL, NULL, 1764000002000000, NULL, 0, NULL, NULL, 'ann', 1764000000000004, 1764000000000004, NULL, '{}'),
  (6, 'old-0006', '0006', 'Thrown away', '', NULL, 'discard', 'discovery', 2, NULL, NULL, NULL, NULL, 0, NULL, 'twice', 'ann', 1764000000000005, 1764000000000005, 1764000000000005, '{}'),
  (7, 'old-0007', '0007', 'Not to be done', '', NULL, 'wont_do', 'artifact', 2, NULL, NULL, NULL, NULL, 0, NULL, NULL, 'ann', 1764000000000006, 1764000000000006, 1764000000000006, '{}'),
  (8, 'old-0008', '0008', 'Stuck', '', NULL, 'blocked', 'task', 2, NULL, NULL, NULL, NULL, 0, 'run-00000001', NULL, 'ann', 1764000000000007, 1764000000000007, NULL, '{}');
INSERT INTO labels (atom_id, label) VALUES ('old-0002', 'api'), ('old-0002', 'größe'), ('old-0004', 'api');
INSERT INTO bonds (target_id, source_id, kind, created_at) VALUES
  ('old-0002', 'old-0003', 'blocks', 1764000000000010), ('old-0005', 'old-0001', 'waits_for', 1764000000000011),
  ('old-0008', 'old-0004', 'conditional_blocks', 1764000000000012), ('old-0003', 'old-0004', 'discovered_from', 1764000000000013);
INSERT INTO comments (seq, id, atom_id, author, content, run_id, created_at) VALUES (1, '11111111-1111-4111-8111-111111111111', 'old-0002', 'bob', 'hm', NULL, 1764000000000020);
INSERT INTO runs (seq, id, atom_id, attempt, agent, executor, token, worker_id, session, conversation, workdir, started_at, heartbeat_at, lease_until, ended_at, outcome, detail, exit_code, turns, tokens_in, tokens_out, cost_micros) VALUES
  (1, 'run-00000001', 'old-0004', 1, 'claude', 'claude', 'token-1', 'worker-1', 'eluent-old-0004-1764000000-00000001', '22222222-2222-4222-8222-222222222222', '/tmp', 1764000000000030, 1764000000000040, 1764000060000040, 1764000000000050, 'closed', 'the agent set it to closed', 0, 3, 100, 20, 1500),
  (2, 'run-00000002', 'old-0003', 1, 'claude', 'claude', 'token-2', 'worker-1', NULL, NULL, '/tmp', 1764000000000060, 1764000000000060, 1764000060000060, NULL, NULL, NULL, NULL, 0, 0, 0, 0);
INSERT INTO workers (id, pid, start, boot, agent, concurrency, started_at, heartbeat_at) VALUES ('worker-1', 1, 1, 'boot', 'claude', 1, 1764000000000000, 1764000000000000);
INSERT INTO events (seq, at, actor, kind, atom_id, run_id, data) VALUES
  (1, 1764000000000000, 'ann', 'created', 'old-0002', NULL, '{"title":"x"}'), (2, 1764000000000030, 'claude', 'run_started', 'old-0004', 'run-00000001', '{}');
