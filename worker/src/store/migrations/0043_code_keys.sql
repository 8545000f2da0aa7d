-- Sealed boxes: a client opens that of a code by a key which is derived from the code, slowly and with the salt of the project.

-- The salt stays for as long as the project. `has_too_many` is 1 while the project has more codes that are sealed by default than a
-- bundle takes: then further ones change nothing.
CREATE TABLE box_salt (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  salt TEXT NOT NULL,
  has_too_many INTEGER NOT NULL DEFAULT 0
);

INSERT INTO box_salt (id, salt) VALUES (1, lower(hex(randomblob(32))));

-- The derived keys by the normal forms of the codes that the last build sealed or left out for want of a key. NULL: not derived yet.
CREATE TABLE box_key (code TEXT PRIMARY KEY, derived TEXT) WITHOUT ROWID;

CREATE INDEX box_key_awaited ON box_key (code) WHERE derived IS NULL;

-- A key that is there at last is sealed with by the next build.
CREATE TRIGGER box_key_derived AFTER UPDATE OF derived ON box_key WHEN OLD.derived IS NOT NEW.derived
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

-- Codes without a campaign that are sealed by default.
CREATE INDEX voucher_unlimited ON document (created_at, seq)
  WHERE kind = 'voucher' AND parent IS NULL AND holder IS NULL AND json_extract(body, '$.visibility') IS NULL
    AND json_extract(body, '$.redemption.quantity') IS NULL AND json_extract(body, '$.type') = 'DISCOUNT_VOUCHER';

CREATE TRIGGER bundle_code_inserted AFTER INSERT ON document
  WHEN NEW.kind = 'voucher' AND NEW.parent IS NULL AND NEW.holder IS NULL AND json_extract(NEW.body, '$.visibility') IS NULL
    AND json_extract(NEW.body, '$.redemption.quantity') IS NULL AND json_extract(NEW.body, '$.type') = 'DISCOUNT_VOUCHER'
    AND NOT (SELECT has_too_many FROM box_salt)
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

CREATE TRIGGER bundle_code_deleted AFTER DELETE ON document
  WHEN OLD.kind = 'voucher' AND OLD.parent IS NULL AND OLD.holder IS NULL AND json_extract(OLD.body, '$.visibility') IS NULL
    AND json_extract(OLD.body, '$.redemption.quantity') IS NULL AND json_extract(OLD.body, '$.type') = 'DISCOUNT_VOUCHER'
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

CREATE TRIGGER bundle_code_updated AFTER UPDATE OF kind, id, key, parent, holder, body ON document
  WHEN (OLD.kind = 'voucher' AND OLD.parent IS NULL AND OLD.holder IS NULL AND json_extract(OLD.body, '$.visibility') IS NULL
      AND json_extract(OLD.body, '$.redemption.quantity') IS NULL AND json_extract(OLD.body, '$.type') = 'DISCOUNT_VOUCHER'
    OR NEW.kind = 'voucher' AND NEW.parent IS NULL AND NEW.holder IS NULL AND json_extract(NEW.body, '$.visibility') IS NULL
      AND json_extract(NEW.body, '$.redemption.quantity') IS NULL AND json_extract(NEW.body, '$.type') = 'DISCOUNT_VOUCHER')
    AND (OLD.kind IS NOT NEW.kind OR OLD.id IS NOT NEW.id OR OLD.key IS NOT NEW.key OR OLD.parent IS NOT NEW.parent
      OR OLD.holder IS NOT NEW.holder OR json_remove(OLD.body, '$.updated_at') IS NOT json_remove(NEW.body, '$.updated_at'))
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

-- Cores of before name codes by a fast hash.
UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
