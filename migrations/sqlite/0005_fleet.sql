-- What a worker tells of itself: the name that somebody gave it, and the load of its machine over a
-- minute for each core, in thousandths; NULL: not known.
ALTER TABLE workers ADD COLUMN name TEXT;
ALTER TABLE workers ADD COLUMN load_milli INTEGER;
