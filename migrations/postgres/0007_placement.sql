-- What the worker that takes an atom must offer: a JSON list of labels, sorted; NULL: nothing.
ALTER TABLE atoms ADD COLUMN needs TEXT COLLATE "C" CHECK (needs IS NULL OR json_valid(needs));
CREATE INDEX atoms_needs ON atoms (seq) WHERE needs IS NOT NULL;
-- What a worker offers, as a JSON list; NULL: it is of an el that knows no needs.
ALTER TABLE workers ADD COLUMN offers TEXT COLLATE "C";

-- Such a worker may have had the tracker open while a newer el brought it up.
CREATE FUNCTION runs_needs() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM atoms WHERE id = NEW.atom_id AND needs IS NOT NULL)
    AND EXISTS (SELECT 1 FROM workers WHERE id = NEW.worker_id AND offers IS NULL) THEN
    RAISE 'this worker is of an older el, which cannot tell what an atom needs';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER runs_needs BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION runs_needs();

-- What an atom needs no more may be what workers waited for.
CREATE CONSTRAINT TRIGGER atoms_ready_needs AFTER UPDATE OF needs ON atoms
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (new.status = 'open' AND new.blocked_by = 0 AND old.needs IS DISTINCT FROM new.needs)
  EXECUTE FUNCTION atoms_ready();
