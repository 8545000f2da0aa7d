-- The passes that copy the bundle to KV. A call that KV has not acknowledged may still arrive: it may replace a newer head, or remove a part
-- that is named again. So the head and such parts are written again, at `repeat_at` and after growing waits; NULL if no call is uncertain.
-- `is_open` is 1 from before the first call of a pass until all of its calls are acknowledged.
CREATE TABLE bundle_copying (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  is_open INTEGER NOT NULL,
  repeat_at INTEGER,
  wait_ms INTEGER NOT NULL
);

INSERT INTO bundle_copying (id, is_open, repeat_at, wait_ms) VALUES (1, 0, NULL, 0);

-- A removal that was sent stays here until no call is uncertain, also after it was done and after its part is there again.
ALTER TABLE bundle_removal ADD COLUMN is_sent INTEGER NOT NULL DEFAULT 0;

ALTER TABLE bundle_removal ADD COLUMN is_settled INTEGER NOT NULL DEFAULT 0;

CREATE INDEX bundle_removal_waiting ON bundle_removal (hash) WHERE is_settled = 0;

DROP TRIGGER bundle_part_deleted;

CREATE TRIGGER bundle_part_deleted AFTER DELETE ON bundle_part
BEGIN
  INSERT INTO bundle_removal (hash) VALUES (OLD.hash) ON CONFLICT (hash) DO UPDATE SET is_settled = 0;
END;

DROP TRIGGER bundle_part_inserted;

CREATE TRIGGER bundle_part_inserted AFTER INSERT ON bundle_part
BEGIN
  DELETE FROM bundle_removal WHERE hash = NEW.hash AND is_sent = 0;
  UPDATE bundle_removal SET is_settled = 1 WHERE hash = NEW.hash;
END;
