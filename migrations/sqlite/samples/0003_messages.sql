-- What a project may hold at version 3 beside what it held before.
INSERT INTO messages (seq, id, channel, author, content, atom_id, run_id, created_at) VALUES
  (1, '33333333-3333-4333-8333-333333333331', 'claude-code-gendry', 'claude', '@gendry Task old-0004 completed (exit 0).', 'old-0004', 'run-00000001', 1764000000000070),
  (2, '33333333-3333-4333-8333-333333333332', 'général', 'ann', 'Crème' || char(10) || 'brûlée', NULL, NULL, 1764000000000071);
INSERT INTO mentions (reader, message, read_at) VALUES ('gendry', 1, NULL), ('ann', 1, 1764000000000072);
INSERT INTO reviews (seq, id, atom_id, run_id, author, report, created_at, verdict, decided_by, reason, decided_at) VALUES
  (1, '33333333-3333-4333-8333-333333333333', 'old-0002', NULL, 'claude', '{"type":"completion_report","own":1}', 1764000000000073, 'rejected', 'ann', 'no tests', 1764000000000074),
  (2, '33333333-3333-4333-8333-333333333334', 'old-0002', NULL, 'claude', '{"type":"completion_report"}', 1764000000000075, NULL, NULL, NULL, NULL);
INSERT INTO mailbox_seen (file, hash, nth, at) VALUES ('to-developer', '00', 0, 1764000000000076);
INSERT INTO mailbox_tasks (task_id, atom_id, told) VALUES ('task-001', 'old-0002', 'pending');
