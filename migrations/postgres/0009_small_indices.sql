-- The few bonds that hold a target other than by the count of its blockers. A look at a ready atom
-- no longer passes all its bonds.
CREATE INDEX bonds_waiting ON bonds (target_id) WHERE kind IN ('waits_for','conditional_blocks');
-- A claim without a conversation, which is each one of a worker or a person, has no row here.
DROP INDEX events_conversation;
CREATE INDEX events_conversation
  ON events ((CASE WHEN json_valid(data) THEN json_text(data, 'conversation') END))
  WHERE kind = 'claimed'
    AND CASE WHEN json_valid(data) THEN json_text(data, 'conversation') END IS NOT NULL;
