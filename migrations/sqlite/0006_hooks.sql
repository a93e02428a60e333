-- The hooks of agents run at every start and every end of a turn, so what they ask is served by an index, however large the project is.

-- What somebody has in progress, in the order of the queue.
CREATE INDEX atoms_in_progress ON atoms (assignee, priority, created_at, seq) WHERE status = 'in_progress';
-- What a conversation has claimed. A damaged row is nobody's, and in nobody's way.
CREATE INDEX events_conversation ON events (CASE WHEN json_valid(data) THEN data ->> '$.conversation' END) WHERE kind = 'claimed';
