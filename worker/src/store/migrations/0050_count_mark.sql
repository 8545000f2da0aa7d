-- Counts by a mark: `tally` has the documents up to the mark, and a count adds those above it, which are few. So a new document costs
-- no row of `tally`; the mark moves with every 128th.

CREATE TABLE count_mark (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL);

INSERT INTO count_mark (id, seq) SELECT 1, COALESCE(MAX(seq), 0) FROM document;

-- What is to be counted of the documents above the mark.
CREATE VIEW uncounted AS
  SELECT kind, name, value FROM (
    SELECT document.kind AS kind, part.column1 AS name, CASE part.column1
      WHEN '' THEN ''
      WHEN 'hour' THEN CASE kind WHEN 'order' THEN NULL WHEN 'publication' THEN NULL ELSE created_at / 3600000 END
      WHEN 'second' THEN CASE kind WHEN 'order' THEN NULL WHEN 'publication' THEN NULL ELSE created_at / 1000 END
      WHEN 'parent' THEN CASE kind WHEN 'voucher' THEN parent WHEN 'publication' THEN parent END
      WHEN 'result' THEN CASE kind WHEN 'redemption' THEN body ->> '$.result' END
      ELSE CASE kind WHEN 'voucher' THEN body ->> part.column1 END END AS value
    FROM document NOT INDEXED CROSS JOIN
      (VALUES (''), ('hour'), ('second'), ('parent'), ('result'), ('type'), ('category'), ('category_id')) AS part
    WHERE document.seq > (SELECT seq FROM count_mark)
      AND CASE document.kind WHEN 'voucher' THEN 1 WHEN 'customer' THEN 1 WHEN 'order' THEN 1 WHEN 'redemption' THEN 1
        WHEN 'publication' THEN 1 ELSE 0 END)
  WHERE value IS NOT NULL;

DROP TRIGGER tally_inserted;

CREATE TRIGGER tally_inserted AFTER INSERT ON document WHEN NEW.seq >= (SELECT seq FROM count_mark) + 128
BEGIN
  INSERT INTO tally (kind, name, value, count) SELECT kind, name, value, COUNT(*) FROM uncounted WHERE TRUE GROUP BY 1, 2, 3
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
  UPDATE count_mark SET seq = NEW.seq;
END;

DROP TRIGGER tally_deleted;

CREATE TRIGGER tally_deleted AFTER DELETE ON document WHEN CASE OLD.kind WHEN 'voucher' THEN 1 WHEN 'customer' THEN 1 WHEN 'order' THEN 1
  WHEN 'redemption' THEN 1
  WHEN 'publication' THEN 1 ELSE 0 END
  AND OLD.seq <= (SELECT seq FROM count_mark)
BEGIN
  INSERT INTO tally (kind, name, value, count)
  SELECT OLD.kind, column1, column2, -1 FROM (VALUES ('', ''),
    ('hour', CASE WHEN CASE OLD.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END THEN OLD.created_at / 3600000 END),
    ('second', CASE WHEN CASE OLD.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END THEN OLD.created_at / 1000 END),
    ('parent', CASE OLD.kind WHEN 'voucher' THEN OLD.parent WHEN 'publication' THEN OLD.parent END),
    ('type', CASE OLD.kind WHEN 'voucher' THEN OLD.body ->> '$.type' END),
    ('category', CASE OLD.kind WHEN 'voucher' THEN OLD.body ->> '$.category' END),
    ('category_id', CASE OLD.kind WHEN 'voucher' THEN OLD.body ->> '$.category_id' END),
    ('result', CASE OLD.kind WHEN 'redemption' THEN OLD.body ->> '$.result' END))
  WHERE column2 IS NOT NULL
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
END;

DROP TRIGGER tally_left;

-- A retired document is of another kind afterwards.
CREATE TRIGGER tally_left AFTER UPDATE OF kind ON document WHEN OLD.kind IS NOT NEW.kind AND CASE OLD.kind WHEN 'voucher' THEN 1
  WHEN 'customer' THEN 1 WHEN 'order' THEN 1 WHEN 'redemption' THEN 1
  WHEN 'publication' THEN 1 ELSE 0 END
  AND OLD.seq <= (SELECT seq FROM count_mark)
BEGIN
  INSERT INTO tally (kind, name, value, count)
  SELECT OLD.kind, column1, column2, -1 FROM (VALUES ('', ''),
    ('hour', CASE WHEN CASE OLD.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END THEN OLD.created_at / 3600000 END),
    ('second', CASE WHEN CASE OLD.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END THEN OLD.created_at / 1000 END),
    ('parent', CASE OLD.kind WHEN 'voucher' THEN OLD.parent WHEN 'publication' THEN OLD.parent END),
    ('type', CASE OLD.kind WHEN 'voucher' THEN OLD.body ->> '$.type' END),
    ('category', CASE OLD.kind WHEN 'voucher' THEN OLD.body ->> '$.category' END),
    ('category_id', CASE OLD.kind WHEN 'voucher' THEN OLD.body ->> '$.category_id' END),
    ('result', CASE OLD.kind WHEN 'redemption' THEN OLD.body ->> '$.result' END))
  WHERE column2 IS NOT NULL
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
END;

DROP TRIGGER tally_joined;

CREATE TRIGGER tally_joined AFTER UPDATE OF kind ON document WHEN OLD.kind IS NOT NEW.kind AND CASE NEW.kind WHEN 'voucher' THEN 1
  WHEN 'customer' THEN 1 WHEN 'order' THEN 1 WHEN 'redemption' THEN 1
  WHEN 'publication' THEN 1 ELSE 0 END
  AND NEW.seq <= (SELECT seq FROM count_mark)
BEGIN
  INSERT INTO tally (kind, name, value, count)
  SELECT NEW.kind, column1, column2, 1 FROM (VALUES ('', ''),
    ('hour', CASE WHEN CASE NEW.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END THEN NEW.created_at / 3600000 END),
    ('second', CASE WHEN CASE NEW.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END THEN NEW.created_at / 1000 END),
    ('parent', CASE NEW.kind WHEN 'voucher' THEN NEW.parent WHEN 'publication' THEN NEW.parent END),
    ('type', CASE NEW.kind WHEN 'voucher' THEN NEW.body ->> '$.type' END),
    ('category', CASE NEW.kind WHEN 'voucher' THEN NEW.body ->> '$.category' END),
    ('category_id', CASE NEW.kind WHEN 'voucher' THEN NEW.body ->> '$.category_id' END),
    ('result', CASE NEW.kind WHEN 'redemption' THEN NEW.body ->> '$.result' END))
  WHERE column2 IS NOT NULL
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
END;

DROP TRIGGER tally_changed;

CREATE TRIGGER tally_changed AFTER UPDATE OF parent, body ON document WHEN OLD.kind IS NEW.kind AND CASE NEW.kind
    WHEN 'voucher' THEN OLD.parent IS NOT NEW.parent OR OLD.body ->> '$.type' IS NOT NEW.body ->> '$.type'
      OR OLD.body ->> '$.category' IS NOT NEW.body ->> '$.category'
      OR OLD.body ->> '$.category_id' IS NOT NEW.body ->> '$.category_id'
    WHEN 'publication' THEN OLD.parent IS NOT NEW.parent
    WHEN 'redemption' THEN OLD.body ->> '$.result' IS NOT NEW.body ->> '$.result'
    ELSE 0 END
  AND NEW.seq <= (SELECT seq FROM count_mark)
BEGIN
  INSERT INTO tally (kind, name, value, count)
  SELECT OLD.kind, column1, column2, -1 FROM (VALUES ('', ''),
    ('hour', CASE WHEN CASE OLD.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END THEN OLD.created_at / 3600000 END),
    ('second', CASE WHEN CASE OLD.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END THEN OLD.created_at / 1000 END),
    ('parent', CASE OLD.kind WHEN 'voucher' THEN OLD.parent WHEN 'publication' THEN OLD.parent END),
    ('type', CASE OLD.kind WHEN 'voucher' THEN OLD.body ->> '$.type' END),
    ('category', CASE OLD.kind WHEN 'voucher' THEN OLD.body ->> '$.category' END),
    ('category_id', CASE OLD.kind WHEN 'voucher' THEN OLD.body ->> '$.category_id' END),
    ('result', CASE OLD.kind WHEN 'redemption' THEN OLD.body ->> '$.result' END))
  WHERE column2 IS NOT NULL
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
  INSERT INTO tally (kind, name, value, count)
  SELECT NEW.kind, column1, column2, 1 FROM (VALUES ('', ''),
    ('hour', CASE WHEN CASE NEW.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END THEN NEW.created_at / 3600000 END),
    ('second', CASE WHEN CASE NEW.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END THEN NEW.created_at / 1000 END),
    ('parent', CASE NEW.kind WHEN 'voucher' THEN NEW.parent WHEN 'publication' THEN NEW.parent END),
    ('type', CASE NEW.kind WHEN 'voucher' THEN NEW.body ->> '$.type' END),
    ('category', CASE NEW.kind WHEN 'voucher' THEN NEW.body ->> '$.category' END),
    ('category_id', CASE NEW.kind WHEN 'voucher' THEN NEW.body ->> '$.category_id' END),
    ('result', CASE NEW.kind WHEN 'redemption' THEN NEW.body ->> '$.result' END))
  WHERE column2 IS NOT NULL
  ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;
END;
