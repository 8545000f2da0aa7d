-- The table is filled and emptied again, so that freed pages are overwritten.
CREATE TABLE scratch (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
