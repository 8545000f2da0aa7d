-- Codes without a campaign that are sealed by default. Triggers keep a table of them, because each redemption would write an index on the body.
CREATE TABLE unlimited_voucher (created_at INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (created_at, seq)) WITHOUT ROWID;

INSERT INTO unlimited_voucher SELECT created_at, seq FROM document INDEXED BY voucher_unlimited
  WHERE kind = 'voucher' AND parent IS NULL AND holder IS NULL AND json_extract(body, '$.visibility') IS NULL
      AND json_extract(body, '$.redemption.quantity') IS NULL AND json_extract(body, '$.type') = 'DISCOUNT_VOUCHER';

DROP INDEX voucher_unlimited;

CREATE TRIGGER unlimited_voucher_inserted AFTER INSERT ON document
  WHEN NEW.kind = 'voucher' AND NEW.parent IS NULL AND NEW.holder IS NULL AND json_extract(NEW.body, '$.visibility') IS NULL
      AND json_extract(NEW.body, '$.redemption.quantity') IS NULL AND json_extract(NEW.body, '$.type') = 'DISCOUNT_VOUCHER'
BEGIN
  INSERT INTO unlimited_voucher (created_at, seq) VALUES (NEW.created_at, NEW.seq);
END;

CREATE TRIGGER unlimited_voucher_deleted AFTER DELETE ON document
  WHEN OLD.kind = 'voucher' AND OLD.parent IS NULL AND OLD.holder IS NULL AND json_extract(OLD.body, '$.visibility') IS NULL
      AND json_extract(OLD.body, '$.redemption.quantity') IS NULL AND json_extract(OLD.body, '$.type') = 'DISCOUNT_VOUCHER'
BEGIN
  DELETE FROM unlimited_voucher WHERE created_at = OLD.created_at AND seq = OLD.seq;
END;

CREATE TRIGGER unlimited_voucher_updated AFTER UPDATE OF kind, parent, holder, body ON document
  WHEN (OLD.kind = 'voucher' OR NEW.kind = 'voucher')
    AND COALESCE(OLD.kind = 'voucher' AND OLD.parent IS NULL AND OLD.holder IS NULL AND json_extract(OLD.body, '$.visibility') IS NULL
      AND json_extract(OLD.body, '$.redemption.quantity') IS NULL AND json_extract(OLD.body, '$.type') = 'DISCOUNT_VOUCHER', 0)
      <> COALESCE(NEW.kind = 'voucher' AND NEW.parent IS NULL AND NEW.holder IS NULL AND json_extract(NEW.body, '$.visibility') IS NULL
      AND json_extract(NEW.body, '$.redemption.quantity') IS NULL AND json_extract(NEW.body, '$.type') = 'DISCOUNT_VOUCHER', 0)
BEGIN
  DELETE FROM unlimited_voucher WHERE created_at = OLD.created_at AND seq = OLD.seq;
  INSERT INTO unlimited_voucher (created_at, seq) SELECT NEW.created_at, NEW.seq
    WHERE NEW.kind = 'voucher' AND NEW.parent IS NULL AND NEW.holder IS NULL AND json_extract(NEW.body, '$.visibility') IS NULL
      AND json_extract(NEW.body, '$.redemption.quantity') IS NULL AND json_extract(NEW.body, '$.type') = 'DISCOUNT_VOUCHER';
END;
