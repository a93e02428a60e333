-- What a project may hold at version 7 beside what it held before.
UPDATE runs SET review = 1 WHERE outcome IS NULL;
