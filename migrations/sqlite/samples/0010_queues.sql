-- What a project may hold at version 10 beside what it held before.
UPDATE atoms SET assignee = 'gendry' WHERE id = 'old-0001';
