-- The key that caused a delivery, whose share of the outbox counts it.
ALTER TABLE outbox ADD COLUMN cause TEXT NOT NULL DEFAULT '';

CREATE INDEX outbox_cause ON outbox (webhook, cause, seq);
