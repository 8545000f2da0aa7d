-- The key that asked for a job, and the turn at which each key with jobs was last served. The service itself has a row, too.
ALTER TABLE due ADD COLUMN owner TEXT NOT NULL DEFAULT '';

CREATE INDEX due_owner ON due (owner, at);

CREATE TABLE turn (owner TEXT PRIMARY KEY, served INTEGER NOT NULL) WITHOUT ROWID;

INSERT INTO turn (owner, served) VALUES ('', 0);
