-- What the worker that takes an atom must offer: a JSON list of labels, sorted; NULL: nothing.
ALTER TABLE atoms ADD COLUMN needs TEXT CHECK (needs IS NULL OR json_valid(needs));
CREATE INDEX atoms_needs ON atoms (seq) WHERE needs IS NOT NULL;
-- What a worker offers, as a JSON list; NULL: it is of an el that knows no needs.
ALTER TABLE workers ADD COLUMN offers TEXT;

-- Such a worker may have had the tracker open while a newer el brought it up.
CREATE TRIGGER runs_needs BEFORE INSERT ON runs
WHEN EXISTS (SELECT 1 FROM atoms WHERE id = NEW.atom_id AND needs IS NOT NULL)
  AND EXISTS (SELECT 1 FROM workers WHERE id = NEW.worker_id AND offers IS NULL)
BEGIN
  SELECT RAISE(ABORT, 'this worker is of an older el, which cannot tell what an atom needs');
END;
