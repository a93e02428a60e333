UPDATE pull_requests SET late_at = 1764000003000000,
  held = '{"tip":"cc","why":"GH006: größe","tries":2,
    "since":"2026-01-01T00:00:00Z","until":"2026-01-01T00:02:00Z"}'
  WHERE atom_id = 'old-0003' AND seq = 2;
