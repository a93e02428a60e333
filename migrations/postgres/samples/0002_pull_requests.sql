-- One that was merged, one after it whose push was cut short, and one that lost its repository.
INSERT INTO pull_requests (atom_id, seq, forge, repo, head_owner, head_ref, base_ref, pushing,
  pushed, number, url, state, detail, merge_commit, merged_head, created_at, seen_at) VALUES
  ('old-0003', 1, 'github', 'github.com/acme/shop', 'acme', 'el/old-0003', 'main', NULL, 'aa', 7,
    'https://github.com/acme/shop/pull/7', 'merged', NULL, 'bb', 'aa', 1764000000000000,
    1764000001000000),
  ('old-0003', 2, 'github', 'github.com/acme/shop', 'ann', 'el/old-0003', 'größe', 'cc', NULL,
    NULL, NULL, 'pushing', NULL, NULL, NULL, 1764000002000000, NULL),
  ('old-0002', 1, 'github', 'github.com/acme/gone', 'acme', 'el/old-0002', 'main', NULL, 'dd', 7,
    NULL, 'lost', 'no such repository', NULL, NULL, 1764000000000000, 1764000001000000);
INSERT INTO pr_feedback (atom_id, seq, head, item, round, at) VALUES
  ('old-0003', 1, 'aa', 'PRR_1', 1, 1764000000500000);
