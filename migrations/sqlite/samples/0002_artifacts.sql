UPDATE runs SET summary = '{"objective":"x","status":"completed","deliverables":[{"path":"a.md","description":null}]}' WHERE id = 'run-00000001';
INSERT INTO artifacts (run_id, n, kind, path, description, state, size, sha256, file, reason, note) VALUES
  ('run-00000001', 1, 'summary', '.eluent/summaries/old-0004.md', NULL, 'copied', 12, 'ab', 'artifacts/1-old-0004.md', NULL, NULL),
  ('run-00000001', 2, 'deliverable', '/etc/passwd', 'x', 'refused', NULL, NULL, NULL, 'absolute', NULL);
