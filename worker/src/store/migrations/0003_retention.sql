-- The retention sweep looks for failed redemptions and rollbacks by age.
CREATE INDEX document_failed ON document (created_at, seq) WHERE kind = 'redemption' AND (id GLOB 'rf_*' OR id GLOB 'rrf_*');

-- The size of an answer is stored beside its age, so that the sweep need not read it. A long answer continues in slices.
ALTER TABLE idempotency ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

DROP INDEX idempotency_age;

CREATE INDEX idempotency_age ON idempotency (created_at, bytes);

CREATE TABLE idempotency_slice (
  caller TEXT NOT NULL, request TEXT NOT NULL, key TEXT NOT NULL, place INTEGER NOT NULL, body TEXT NOT NULL,
  UNIQUE (caller, request, key, place));

-- The quota that a client's key has used in one window of time.
CREATE TABLE allowance (
  key TEXT NOT NULL, name TEXT NOT NULL, span INTEGER NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (key, name)) WITHOUT ROWID;
