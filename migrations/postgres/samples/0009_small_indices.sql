INSERT INTO bonds (target_id, source_id, kind, created_at) VALUES
  ('old-0007', 'old-0004', 'waits_for', 1764000000000014);
INSERT INTO events (at, actor, kind, atom_id, data) VALUES
  (1764000000000000, 'ann', 'claimed', 'old-0003', '{"assignee":"ann","was":null}');
