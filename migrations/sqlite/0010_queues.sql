-- Each agent's part of the queue, so that what is assigned to others costs nobody anything who looks for work: as `atoms_queue`, behind whose it is.
CREATE INDEX atoms_queue_of ON atoms (assignee, priority, created_at, seq, status, blocked_by, defer_until, retry_at, issue_type, parent_id, id)
  WHERE status IN ('open','deferred') AND blocked_by = 0;
