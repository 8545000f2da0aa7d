-- The largest size that the database had, which is the size of its file.
CREATE TABLE file_size (id INTEGER PRIMARY KEY CHECK (id = 1), bytes INTEGER NOT NULL);
