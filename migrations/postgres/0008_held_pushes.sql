-- Commits of a branch that could not be pushed, as JSON: the tip, why, and how often it was tried.
ALTER TABLE pull_requests ADD COLUMN held TEXT COLLATE "C" CHECK (held IS NULL OR json_valid(held));
-- When a commit arrived whose push had been held up. What reviewers said before that, they said
-- without having seen it.
ALTER TABLE pull_requests ADD COLUMN late_at BIGINT;
