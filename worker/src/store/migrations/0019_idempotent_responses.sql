-- Stored answers are found by a digest of their names, in the order of their arrival. The first pages are filled with rows that
-- name no customer. `idempotent_responses::move_all` follows.

CREATE TABLE answer (
  seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, caller TEXT NOT NULL, request TEXT NOT NULL, key TEXT NOT NULL,
  body_hash TEXT NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL, body TEXT NOT NULL, created_at INTEGER NOT NULL,
  bytes INTEGER NOT NULL);

CREATE INDEX answer_age ON answer (created_at, bytes) WHERE status > 0;

CREATE TABLE answer_slice (answer INTEGER NOT NULL, place INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (answer, place));

-- A row without a status is no answer, and is never removed.
INSERT INTO answer (name, caller, request, key, body_hash, status, headers, body, created_at, bytes)
  SELECT 'filler ' || value, '', '', '', '', 0, '', hex(zeroblob(1900)), 0, 0 FROM json_each('[1, 2, 3]');
