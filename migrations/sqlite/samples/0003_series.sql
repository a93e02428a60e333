-- What version 3 added to a project.
UPDATE runs SET model = 'claude-opus-4-8' WHERE id = 'run-00000001';
