-- What a worker tells of itself: the name that somebody gave it, and the load of its machine over a
-- minute for each core, in thousandths; NULL: not known.
ALTER TABLE workers ADD COLUMN name TEXT COLLATE "C";
ALTER TABLE workers ADD COLUMN load_milli BIGINT;

-- Who waits on a server is told, with nothing in the message: on the channel 'work' that an atom
-- has become ready or that workers are to stop, on 'end' that a run is to end. Every schema has
-- channels of its own. A file is looked at instead, so SQLite has nothing of this.
CREATE FUNCTION channel_of(TEXT) RETURNS TEXT LANGUAGE sql STABLE AS $$
  SELECT 'el_' || $1 || '_' || md5(current_schema())
$$;
CREATE FUNCTION tell() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(channel_of(TG_ARGV[0]), '');
  RETURN NULL;
END $$;

-- The reasons are looked at when the transaction commits, and no more of them once there is one:
-- an import has a hundred thousand. What time or a parent still holds back is left out as far as a
-- look at the atom itself shows it: a message too many costs a look.
CREATE FUNCTION is_told() RETURNS BOOLEAN LANGUAGE sql AS $$
  SELECT coalesce(current_setting('el.told', true), '') = '1'
$$;
CREATE FUNCTION tell_work() RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('el.told', '1', true), pg_notify(channel_of('work'), '');
END $$;
CREATE FUNCTION tell_if_ready(TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  ready CONSTANT TEXT COLLATE "C" := $1;
BEGIN
  -- By the id alone, whatever the planner thinks of so many atoms.
  IF is_told() OR NOT coalesce((SELECT a.status = 'open' AND a.blocked_by = 0
        AND (a.retry_at IS NULL OR a.retry_at <= extract(epoch FROM clock_timestamp()) * 1000000)
      FROM atoms a WHERE a.id = ready), FALSE)
    OR EXISTS (SELECT 1 FROM runs r WHERE r.atom_id = ready AND r.outcome IS NULL)
    OR EXISTS (SELECT 1 FROM bonds b JOIN runs r ON r.atom_id = b.source_id
      WHERE b.target_id = ready AND b.kind = 'blocks' AND r.outcome IS NULL) THEN
    RETURN;
  END IF;
  PERFORM tell_work();
END $$;
CREATE FUNCTION atoms_ready() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_if_ready(new.id);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER atoms_ready_insert AFTER INSERT ON atoms
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (new.status = 'open' AND new.issue_type NOT IN ('epic','formula'))
  EXECUTE FUNCTION atoms_ready();
CREATE CONSTRAINT TRIGGER atoms_ready_update
  AFTER UPDATE OF status, blocked_by, assignee, parent_id, retry_at, issue_type ON atoms
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (new.status = 'open' AND new.blocked_by = 0
    AND (old.status, old.blocked_by, old.issue_type, coalesce(old.assignee, ''),
         coalesce(old.parent_id, ''), coalesce(old.retry_at, 0))
      <> (new.status, new.blocked_by, new.issue_type, coalesce(new.assignee, ''),
          coalesce(new.parent_id, ''), coalesce(new.retry_at, 0)))
  EXECUTE FUNCTION atoms_ready();
CREATE FUNCTION bonds_ready() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_if_ready(old.target_id);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER bonds_ready_delete AFTER DELETE ON bonds
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (old.kind IN ('waits_for','conditional_blocks')) EXECUTE FUNCTION bonds_ready();

-- Tells of what depends on an atom that is over, and that no run works on any more. Parents that go
-- round in a circle, in a damaged database, are not followed for ever.
CREATE FUNCTION tell_dependants(TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  ended CONSTANT TEXT COLLATE "C" := $1;
  above TEXT COLLATE "C" := $1;
BEGIN
  IF is_told() OR EXISTS (SELECT 1 FROM runs r WHERE r.atom_id = ended AND r.outcome IS NULL)
    OR NOT EXISTS (SELECT 1 FROM atoms a
      WHERE a.id = ended AND a.status IN ('closed','wont_do','discard')) THEN
    RETURN;
  END IF;
  FOR step IN 1..100 LOOP
    -- From the bonds, whatever the planner thinks of so many atoms.
    PERFORM tell_work() FROM bonds b
    WHERE b.source_id = above
      AND (b.kind = 'waits_for'
        OR (step = 1 AND b.kind IN ('blocks','conditional_blocks')))
      AND (SELECT t.status = 'open' AND t.blocked_by = 0 FROM atoms t WHERE t.id = b.target_id);
    EXIT WHEN FOUND;
    SELECT a.parent_id INTO above FROM atoms a WHERE a.id = above;
    EXIT WHEN above IS NULL;
  END LOOP;
END $$;
CREATE FUNCTION atoms_over() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_dependants(new.id);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER atoms_over_update AFTER UPDATE OF status ON atoms
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (new.status IN ('closed','wont_do','discard')
    AND old.status NOT IN ('closed','wont_do','discard'))
  EXECUTE FUNCTION atoms_over();
CREATE FUNCTION runs_over() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_if_ready(new.atom_id), tell_dependants(new.atom_id);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER runs_over_update AFTER UPDATE OF outcome ON runs
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (old.outcome IS NULL AND new.outcome IS NOT NULL) EXECUTE FUNCTION runs_over();
CREATE FUNCTION merges_over() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_dependants(old.atom_id);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER unmerged_delete AFTER DELETE ON unmerged
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION merges_over();

-- The tasks of a plan are held while nobody drives it, and all work during a pause.
CREATE TRIGGER orchestrations_go_on AFTER UPDATE OF driver, ended_at ON orchestrations
  FOR EACH ROW WHEN (old.driver IS DISTINCT FROM new.driver AND new.driver IS NOT NULL
    OR old.ended_at IS NULL AND new.ended_at IS NOT NULL) EXECUTE FUNCTION tell('work');
CREATE TRIGGER meta_resume AFTER DELETE ON meta
  FOR EACH ROW WHEN (old.key LIKE 'pause:%' OR old.key = 'empty_runs')
  EXECUTE FUNCTION tell('work');
CREATE TRIGGER meta_budget AFTER INSERT OR UPDATE ON meta
  FOR EACH ROW WHEN (new.key = 'budget_lifted_day') EXECUTE FUNCTION tell('work');
CREATE TRIGGER workers_stop AFTER UPDATE OF stop_requested ON workers
  FOR EACH ROW WHEN (new.stop_requested <> old.stop_requested) EXECUTE FUNCTION tell('work');

-- Somebody asks a run to end, or takes the atom out of its hands.
CREATE TRIGGER runs_cancel AFTER UPDATE OF cancel_requested ON runs
  FOR EACH ROW WHEN (new.cancel_requested IS NOT NULL
    AND new.cancel_requested IS DISTINCT FROM old.cancel_requested)
  EXECUTE FUNCTION tell('end');
CREATE FUNCTION atoms_taken() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(channel_of('end'), '') FROM runs r
  WHERE r.atom_id = new.id AND r.outcome IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER atoms_taken_update AFTER UPDATE OF status ON atoms FOR EACH ROW
  WHEN (old.status = 'in_progress' AND new.status <> old.status AND new.status_by_run IS NULL)
  EXECUTE FUNCTION atoms_taken();
