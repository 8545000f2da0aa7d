-- Redemptions, orders, transactions of vouchers and events have tables of their own, keyed by the number with which their ids begin. A record whose id has another number
-- is found by its id. SQLite keeps the first content of a table's first page forever, so it is of rows that are no records.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY, is_named INTEGER, id TEXT NOT NULL, key TEXT, parent TEXT, holder TEXT, created_at INTEGER NOT NULL,
  updated_at INTEGER, body TEXT NOT NULL);

INSERT INTO event (seq, id, created_at, body)
  SELECT -value, 'filler_' || value, 0, json_object('nothing', hex(zeroblob(1900))) FROM json_each('[1, 2, 3]');

CREATE UNIQUE INDEX event_named ON event (id) WHERE is_named = 1;

CREATE INDEX event_of_type ON event (holder, json_extract(body, '$.type')) WHERE holder IS NOT NULL;

-- A job moves the records of earlier versions in slices; until then both tables have them. At the end each view has one table.
CREATE VIEW every_event AS
  SELECT seq, CAST('event' AS TEXT) AS kind, is_named, id, key, parent, holder, created_at, updated_at, body FROM event WHERE +seq >= 0
  UNION ALL SELECT seq, kind, CAST(1 AS INTEGER), id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = 'event';

CREATE TABLE orders (
  seq INTEGER PRIMARY KEY, is_named INTEGER, id TEXT NOT NULL, key TEXT, parent TEXT, holder TEXT, created_at INTEGER NOT NULL,
  updated_at INTEGER, body TEXT NOT NULL);

INSERT INTO orders (seq, id, created_at, body)
  SELECT -value, 'filler_' || value, 0, json_object('nothing', hex(zeroblob(1900))) FROM json_each('[1, 2, 3]');

CREATE UNIQUE INDEX orders_named ON orders (id) WHERE is_named = 1;

CREATE UNIQUE INDEX orders_by_key ON orders (key) WHERE key IS NOT NULL;

CREATE INDEX orders_by_age ON orders (created_at, seq);

CREATE INDEX orders_by_change ON orders (updated_at, created_at, seq);

CREATE INDEX orders_by_holder ON orders (holder, created_at, seq, json_extract(body, '$.status')) WHERE holder IS NOT NULL;

CREATE VIEW every_order AS
  SELECT seq, CAST('order' AS TEXT) AS kind, is_named, id, key, parent, holder, created_at, updated_at, body FROM orders WHERE +seq >= 0
  UNION ALL SELECT seq, kind, CAST(1 AS INTEGER), id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = 'order';

CREATE TABLE redemption (
  seq INTEGER PRIMARY KEY, is_named INTEGER, id TEXT NOT NULL, key TEXT, parent TEXT, holder TEXT, created_at INTEGER NOT NULL,
  updated_at INTEGER, body TEXT NOT NULL);

INSERT INTO redemption (seq, id, created_at, body)
  SELECT -value, 'filler_' || value, 0, json_object('nothing', hex(zeroblob(1900))) FROM json_each('[1, 2, 3]');

CREATE UNIQUE INDEX redemption_named ON redemption (id) WHERE is_named = 1;

CREATE INDEX redemption_by_age ON redemption (created_at, seq);

CREATE INDEX redemption_by_parent ON redemption (parent, created_at, seq) WHERE parent IS NOT NULL;

CREATE INDEX redemption_by_holder ON redemption (holder, created_at, seq) WHERE holder IS NOT NULL;

CREATE INDEX redemption_by_result ON redemption (json_extract(body, '$.result'), created_at, seq);

CREATE INDEX redemption_by_code ON redemption (json_extract(body, '$.voucher.code'), created_at, seq);

CREATE INDEX redemption_by_campaign ON redemption
    (COALESCE(json_extract(body, '$.related_object_parent_id'), json_extract(body, '$.voucher.campaign_id')), created_at, seq)
  WHERE COALESCE(json_extract(body, '$.related_object_parent_id'), json_extract(body, '$.voucher.campaign_id')) IS NOT NULL;

CREATE INDEX redemption_failed ON redemption (created_at, seq) WHERE id GLOB 'rf_*' OR id GLOB 'rrf_*';

CREATE VIEW every_redemption AS
  SELECT seq, CAST('redemption' AS TEXT) AS kind, is_named, id, key, parent, holder, created_at, updated_at, body FROM redemption WHERE +seq >= 0
  UNION ALL SELECT seq, kind, CAST(1 AS INTEGER), id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = 'redemption';

CREATE TABLE voucher_transaction (
  seq INTEGER PRIMARY KEY, is_named INTEGER, id TEXT NOT NULL, key TEXT, parent TEXT, holder TEXT, created_at INTEGER NOT NULL,
  updated_at INTEGER, body TEXT NOT NULL);

INSERT INTO voucher_transaction (seq, id, created_at, body)
  SELECT -value, 'filler_' || value, 0, json_object('nothing', hex(zeroblob(1900))) FROM json_each('[1, 2, 3]');

CREATE UNIQUE INDEX voucher_transaction_named ON voucher_transaction (id) WHERE is_named = 1;

CREATE UNIQUE INDEX voucher_transaction_by_key ON voucher_transaction (key) WHERE key IS NOT NULL;

CREATE INDEX voucher_transaction_by_age ON voucher_transaction (created_at, seq);

CREATE INDEX voucher_transaction_by_parent ON voucher_transaction (parent, created_at, seq) WHERE parent IS NOT NULL;

CREATE INDEX voucher_transaction_by_holder ON voucher_transaction (holder, created_at, seq) WHERE holder IS NOT NULL;

CREATE VIEW every_voucher_transaction AS
  SELECT seq, CAST('voucher_transaction' AS TEXT) AS kind, is_named, id, key, parent, holder, created_at, updated_at, body FROM voucher_transaction WHERE +seq >= 0
  UNION ALL SELECT seq, kind, CAST(1 AS INTEGER), id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = 'voucher_transaction';

-- What the balance of a card is made of.
CREATE VIEW every_card_transaction AS
  SELECT seq, CAST('redemption' AS TEXT) AS kind, is_named, id, key, parent, holder, created_at, updated_at, body FROM redemption WHERE +seq >= 0
  UNION ALL SELECT seq, CAST('voucher_transaction' AS TEXT), is_named, id, key, parent, holder, created_at, updated_at, body FROM voucher_transaction WHERE +seq >= 0
  UNION ALL SELECT seq, kind, CAST(1 AS INTEGER), id, key, parent, holder, created_at, updated_at, body FROM document
    WHERE kind IN ('redemption', 'voucher_transaction');

-- The records up to the mark of their kind are counted in `tally`. It moves when an id ends with one of two of 256 pairs of digits, and when a record
-- is found by its id: so a new record costs no row of `tally`.
CREATE TABLE record_mark (kind TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;

INSERT INTO record_mark (kind, seq) VALUES ('order', -1), ('redemption', -1);

CREATE VIEW uncounted_order AS
  SELECT CAST('order' AS TEXT) AS kind, name, value FROM (SELECT part.column1 AS name, CASE part.column1 WHEN '' THEN '' END AS value
    FROM orders CROSS JOIN (VALUES ('')) AS part WHERE orders.seq > (SELECT seq FROM record_mark WHERE kind = 'order')) WHERE value IS NOT NULL;

CREATE TRIGGER orders_counted AFTER INSERT ON orders WHEN NEW.seq <= (SELECT seq FROM record_mark WHERE kind = 'order') OR (NEW.is_named = 1 OR substr(NEW.id, -2) < '02')
BEGIN
  INSERT INTO tally (kind, name, value, count)
  SELECT 'order', column1, column2, 1 FROM (VALUES ('', '')) WHERE column2 IS NOT NULL AND NEW.seq <= (SELECT seq FROM record_mark WHERE kind = 'order')
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
  INSERT INTO tally (kind, name, value, count) SELECT kind, name, value, COUNT(*) FROM uncounted_order WHERE NEW.seq > (SELECT seq FROM record_mark WHERE kind = 'order') GROUP BY 1, 2, 3
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
  UPDATE record_mark SET seq = (SELECT MAX(seq) FROM orders) WHERE kind = 'order' AND NEW.seq > seq;
END;

CREATE TRIGGER orders_uncounted AFTER DELETE ON orders WHEN OLD.seq <= (SELECT seq FROM record_mark WHERE kind = 'order')
BEGIN
  INSERT INTO tally (kind, name, value, count)
  SELECT 'order', column1, column2, -1 FROM (VALUES ('', '')) WHERE column2 IS NOT NULL
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
END;

CREATE VIEW uncounted_redemption AS
  SELECT CAST('redemption' AS TEXT) AS kind, name, value FROM (SELECT part.column1 AS name, CASE part.column1 WHEN '' THEN '' WHEN 'hour' THEN created_at / 3600000
      WHEN 'second' THEN created_at / 1000 ELSE body ->> '$.result' END AS value
    FROM redemption CROSS JOIN (VALUES (''), ('hour'), ('second'), ('result')) AS part WHERE redemption.seq > (SELECT seq FROM record_mark WHERE kind = 'redemption')) WHERE value IS NOT NULL;

CREATE TRIGGER redemption_counted AFTER INSERT ON redemption WHEN NEW.seq <= (SELECT seq FROM record_mark WHERE kind = 'redemption') OR (NEW.is_named = 1 OR substr(NEW.id, -2) < '02')
BEGIN
  INSERT INTO tally (kind, name, value, count)
  SELECT 'redemption', column1, column2, 1 FROM (VALUES ('', ''), ('hour', NEW.created_at / 3600000), ('second', NEW.created_at / 1000),
    ('result', NEW.body ->> '$.result')) WHERE column2 IS NOT NULL AND NEW.seq <= (SELECT seq FROM record_mark WHERE kind = 'redemption')
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
  INSERT INTO tally (kind, name, value, count) SELECT kind, name, value, COUNT(*) FROM uncounted_redemption WHERE NEW.seq > (SELECT seq FROM record_mark WHERE kind = 'redemption') GROUP BY 1, 2, 3
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
  UPDATE record_mark SET seq = (SELECT MAX(seq) FROM redemption) WHERE kind = 'redemption' AND NEW.seq > seq;
END;

CREATE TRIGGER redemption_uncounted AFTER DELETE ON redemption WHEN OLD.seq <= (SELECT seq FROM record_mark WHERE kind = 'redemption')
BEGIN
  INSERT INTO tally (kind, name, value, count)
  SELECT 'redemption', column1, column2, -1 FROM (VALUES ('', ''), ('hour', OLD.created_at / 3600000), ('second', OLD.created_at / 1000),
    ('result', OLD.body ->> '$.result')) WHERE column2 IS NOT NULL
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
END;

CREATE TRIGGER redemption_recounted AFTER UPDATE OF body ON redemption
  WHEN OLD.body ->> '$.result' IS NOT NEW.body ->> '$.result' AND NEW.seq <= (SELECT seq FROM record_mark WHERE kind = 'redemption')
BEGIN
  INSERT INTO tally (kind, name, value, count)
  SELECT 'redemption', column1, column2, -1 FROM (VALUES ('result', OLD.body ->> '$.result')) WHERE column2 IS NOT NULL
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
  INSERT INTO tally (kind, name, value, count)
  SELECT 'redemption', column1, column2, 1 FROM (VALUES ('result', NEW.body ->> '$.result')) WHERE column2 IS NOT NULL
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
END;

INSERT INTO due (id, at, kind, cursor, attempts, owner) SELECT 'MOVE_RECORDS', 0, 'MOVE_RECORDS', '', 0, ''
  WHERE EXISTS (SELECT 1 FROM document WHERE kind = 'event') OR EXISTS (SELECT 1 FROM document WHERE kind = 'order')
    OR EXISTS (SELECT 1 FROM document WHERE kind = 'redemption') OR EXISTS (SELECT 1 FROM document WHERE kind = 'voucher_transaction');
