-- What the step from version 1 to 2 brought.
INSERT INTO aliases (source, alias, atom_id, imported, bonds) VALUES
  ('bd', 'bd-a1B2.1', 'old-0002', '0123456789abcdef', '[["old-0003","old-0002","blocks"]]'),
  ('github:ann/shop', '#12', 'old-0002', NULL, NULL), ('github:bob/shop', '#12', 'old-0003', NULL, NULL);
