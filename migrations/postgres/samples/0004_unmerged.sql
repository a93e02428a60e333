INSERT INTO unmerged (atom_id, since) VALUES ('old-0002', 1764000000000000);
UPDATE pull_requests SET owns_branch = 1 WHERE atom_id = 'old-0003' AND seq = 2;
