-- What a project may hold at version 4 beside what it held before.
UPDATE atoms SET delegated_by = 'gendry', workdir = '/srv/größe', timeout_ms = 5400000, verify = '["cargo","test","a b"]', require_verify = 1
  WHERE id = 'old-0004';
UPDATE runs SET output = 'last' || char(10) || 'lines', error_lines = 'error: none', verify = '{"command":["true"],"status":"passed","own":1}'
  WHERE outcome IS NOT NULL;
UPDATE workers SET agents = '["claude","gendry"]', takes = 'all';
