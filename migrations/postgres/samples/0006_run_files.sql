INSERT INTO run_files (run_id, name, start, data) VALUES
  ('run-00000001', 'transcript.jsonl', 0, '\x7b7d0a00ff'),
  ('run-00000001', 'transcript.jsonl', 5, '\x7b7d0a00ff');
