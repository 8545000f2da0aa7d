-- Webhook deliveries: a row for each webhook and each event, in the order of the events. Only the earliest delivery of an entity
-- has a moment for its next try; a dead letter has the moment at which it was given up.
CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, webhook TEXT NOT NULL, entity TEXT NOT NULL, type TEXT NOT NULL,
  customer TEXT, body TEXT NOT NULL, created_at INTEGER NOT NULL, at INTEGER, first_at INTEGER, attempts INTEGER NOT NULL,
  failure TEXT, dead_at INTEGER);

CREATE INDEX outbox_due ON outbox (webhook, at, seq) WHERE at IS NOT NULL;

CREATE INDEX outbox_waiting ON outbox (webhook, entity, seq) WHERE dead_at IS NULL;

CREATE INDEX outbox_dead ON outbox (webhook, seq) WHERE dead_at IS NOT NULL;

CREATE INDEX outbox_leaving ON outbox (dead_at) WHERE dead_at IS NOT NULL;

CREATE INDEX outbox_customer ON outbox (customer) WHERE customer IS NOT NULL;
