-- Indexes for the filters of lists, and counts that triggers keep: of a kind, of equal values in a column, and of the seconds and
-- hours of creation, which add up to any span of time. `blind_index::mark_all` follows.

CREATE INDEX voucher_campaign ON document (parent, created_at, seq) WHERE kind = 'voucher' AND parent IS NOT NULL;

CREATE INDEX voucher_type ON document (json_extract(body, '$.type'), created_at, seq) WHERE kind = 'voucher';

CREATE INDEX voucher_category ON document (json_extract(body, '$.category'), created_at, seq)
  WHERE kind = 'voucher' AND json_extract(body, '$.category') IS NOT NULL;

CREATE INDEX voucher_category_id ON document (json_extract(body, '$.category_id'), created_at, seq)
  WHERE kind = 'voucher' AND json_extract(body, '$.category_id') IS NOT NULL;

CREATE INDEX voucher_start ON document (json_extract(body, '$.start_date'), created_at, seq)
  WHERE kind = 'voucher' AND json_extract(body, '$.start_date') IS NOT NULL;

CREATE INDEX voucher_end ON document (json_extract(body, '$.expiration_date'), created_at, seq)
  WHERE kind = 'voucher' AND json_extract(body, '$.expiration_date') IS NOT NULL;

CREATE INDEX voucher_referral ON document (created_at, seq) WHERE kind = 'voucher' AND json_extract(body, '$.is_referral_code') = 1;

CREATE INDEX voucher_inactive ON document (created_at, seq) WHERE kind = 'voucher' AND COALESCE(json_extract(body, '$.active'), 1) = 0;

CREATE INDEX voucher_changed ON document (updated_at, created_at, seq) WHERE kind = 'voucher';

-- Personal data is in no index, only a digest of it (`store/blind_index.rs`).
ALTER TABLE document ADD COLUMN marks TEXT;

-- Names are searched by their parts; reading whole documents for that takes long.
ALTER TABLE document ADD COLUMN label TEXT;

CREATE INDEX customer_email ON document (json_extract(marks, '$.email'), created_at, seq)
  WHERE kind = 'customer' AND json_extract(marks, '$.email') IS NOT NULL;

CREATE INDEX customer_city ON document (json_extract(marks, '$.city'), created_at, seq)
  WHERE kind = 'customer' AND json_extract(marks, '$.city') IS NOT NULL;

CREATE INDEX customer_changed ON document (updated_at, created_at, seq) WHERE kind = 'customer';

CREATE INDEX order_changed ON document (updated_at, created_at, seq) WHERE kind = 'order';

CREATE INDEX redemption_result ON document (json_extract(body, '$.result'), created_at, seq) WHERE kind = 'redemption';

CREATE INDEX redemption_campaign ON document (json_extract(body, '$.voucher.campaign_id'), created_at, seq)
  WHERE kind = 'redemption' AND json_extract(body, '$.voucher.campaign_id') IS NOT NULL;

CREATE INDEX redemption_code ON document (json_extract(body, '$.voucher.code'), created_at, seq) WHERE kind = 'redemption';

CREATE INDEX publication_campaign ON document (parent, created_at, seq) WHERE kind = 'publication' AND parent IS NOT NULL;

-- Counts of documents. The name and the value of a kind as a whole are empty.
CREATE TABLE tally (kind TEXT NOT NULL, name TEXT NOT NULL, value, count INTEGER NOT NULL, PRIMARY KEY (kind, name, value)) WITHOUT ROWID;

CREATE TRIGGER tally_inserted AFTER INSERT ON document WHEN CASE NEW.kind WHEN 'voucher' THEN 1 WHEN 'customer' THEN 1 WHEN 'order' THEN 1
  WHEN 'redemption' THEN 1
  WHEN 'publication' THEN 1 ELSE 0 END
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

CREATE TRIGGER tally_deleted AFTER DELETE ON document WHEN CASE OLD.kind WHEN 'voucher' THEN 1 WHEN 'customer' THEN 1 WHEN 'order' THEN 1
  WHEN 'redemption' THEN 1
  WHEN 'publication' THEN 1 ELSE 0 END
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

-- A retired document is of another kind afterwards.
CREATE TRIGGER tally_left AFTER UPDATE OF kind ON document WHEN OLD.kind IS NOT NEW.kind AND CASE OLD.kind WHEN 'voucher' THEN 1
  WHEN 'customer' THEN 1 WHEN 'order' THEN 1 WHEN 'redemption' THEN 1
  WHEN 'publication' THEN 1 ELSE 0 END
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

CREATE TRIGGER tally_joined AFTER UPDATE OF kind ON document WHEN OLD.kind IS NOT NEW.kind AND CASE NEW.kind WHEN 'voucher' THEN 1
  WHEN 'customer' THEN 1 WHEN 'order' THEN 1 WHEN 'redemption' THEN 1
  WHEN 'publication' THEN 1 ELSE 0 END
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

CREATE TRIGGER tally_changed AFTER UPDATE OF parent, body ON document WHEN OLD.kind IS NEW.kind AND CASE NEW.kind
    WHEN 'voucher' THEN OLD.parent IS NOT NEW.parent OR OLD.body ->> '$.type' IS NOT NEW.body ->> '$.type'
      OR OLD.body ->> '$.category' IS NOT NEW.body ->> '$.category'
      OR OLD.body ->> '$.category_id' IS NOT NEW.body ->> '$.category_id'
    WHEN 'publication' THEN OLD.parent IS NOT NEW.parent
    WHEN 'redemption' THEN OLD.body ->> '$.result' IS NOT NEW.body ->> '$.result'
    ELSE 0 END
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

INSERT INTO tally SELECT kind, '', '', COUNT(*) FROM document WHERE CASE kind WHEN 'voucher' THEN 1 WHEN 'customer' THEN 1
  WHEN 'order' THEN 1 WHEN 'redemption' THEN 1
  WHEN 'publication' THEN 1 ELSE 0 END GROUP BY kind;

INSERT INTO tally SELECT kind, 'hour', created_at / 3600000, COUNT(*) FROM document WHERE CASE kind WHEN 'voucher' THEN 1
  WHEN 'customer' THEN 1 WHEN 'order' THEN 1 WHEN 'redemption' THEN 1
  WHEN 'publication' THEN 1 ELSE 0 END AND CASE document.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END GROUP BY kind, 3;

INSERT INTO tally SELECT kind, 'second', created_at / 1000, COUNT(*) FROM document WHERE CASE kind WHEN 'voucher' THEN 1
  WHEN 'customer' THEN 1 WHEN 'order' THEN 1 WHEN 'redemption' THEN 1
  WHEN 'publication' THEN 1 ELSE 0 END AND CASE document.kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END GROUP BY kind, 3;

INSERT INTO tally SELECT kind, 'parent', parent, COUNT(*) FROM document
  WHERE kind IN ('voucher', 'publication') AND parent IS NOT NULL GROUP BY kind, parent;

INSERT INTO tally SELECT kind, 'type', body ->> '$.type', COUNT(*) FROM document
  WHERE kind = 'voucher' AND body ->> '$.type' IS NOT NULL GROUP BY 3;

INSERT INTO tally SELECT kind, 'category', body ->> '$.category', COUNT(*) FROM document
  WHERE kind = 'voucher' AND body ->> '$.category' IS NOT NULL GROUP BY 3;

INSERT INTO tally SELECT kind, 'category_id', body ->> '$.category_id', COUNT(*) FROM document
  WHERE kind = 'voucher' AND body ->> '$.category_id' IS NOT NULL GROUP BY 3;

INSERT INTO tally SELECT kind, 'result', body ->> '$.result', COUNT(*) FROM document
  WHERE kind = 'redemption' AND body ->> '$.result' IS NOT NULL GROUP BY 3;
