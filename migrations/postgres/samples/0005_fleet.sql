UPDATE workers SET name = 'forge', load_milli = 250;
