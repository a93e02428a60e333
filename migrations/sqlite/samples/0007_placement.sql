UPDATE atoms SET needs = '["gpu","macos"]' WHERE id = 'old-0004';
UPDATE workers SET offers = '["gpu"]';
