-- A claim by a conversation, and one whose record was damaged.
INSERT INTO events (at, actor, kind, atom_id, data) VALUES
  (1764000000000000, 'ann', 'claimed', 'old-0002', '{"conversation":"c-1"}'),
  (1764000000000000, 'ann', 'claimed', 'old-0003', '{"conversat');
