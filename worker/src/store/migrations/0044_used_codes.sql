-- A code that nobody got and that cannot be given away any more, because its bearers have used it up, is marked. A publication looks
-- for the oldest code that is left without reading those before it.

ALTER TABLE document ADD COLUMN used_up INTEGER;

UPDATE document SET used_up = 1
  WHERE kind = 'voucher' AND holder IS NULL AND parent IS NOT NULL AND EXISTS (
    SELECT 1 FROM account WHERE account.id = 'voucher/' || document.id || '/redemptions' AND (
      json_type(body, '$.gift') = 'object' OR json_type(body, '$.loyalty_card') = 'object'
      OR json_extract(body, '$.redemption.quantity') + account.balance <= 0));

DROP INDEX document_free;

CREATE INDEX document_free ON document (parent, seq) WHERE kind = 'voucher' AND holder IS NULL AND used_up IS NULL;

CREATE TRIGGER code_used_first AFTER INSERT ON account WHEN NEW.id GLOB 'voucher/*/redemptions'
BEGIN
  UPDATE document SET used_up = 1
    WHERE kind = 'voucher' AND id = substr(NEW.id, 9, length(NEW.id) - 20) AND holder IS NULL AND parent IS NOT NULL AND (
      json_type(body, '$.gift') = 'object' OR json_type(body, '$.loyalty_card') = 'object'
      OR json_extract(body, '$.redemption.quantity') + NEW.balance <= 0);
END;

CREATE TRIGGER code_used AFTER UPDATE OF balance ON account
  WHEN NEW.balance < OLD.balance AND NEW.id GLOB 'voucher/*/redemptions'
BEGIN
  UPDATE document SET used_up = 1
    WHERE kind = 'voucher' AND id = substr(NEW.id, 9, length(NEW.id) - 20) AND holder IS NULL AND parent IS NOT NULL
      AND used_up IS NULL AND json_extract(body, '$.redemption.quantity') + NEW.balance <= 0;
END;

-- A rollback gives redemptions back. That of a card changes nothing: its bearer knows the code.
CREATE TRIGGER code_left AFTER UPDATE OF balance ON account
  WHEN NEW.balance > OLD.balance AND NEW.id GLOB 'voucher/*/redemptions'
BEGIN
  UPDATE document SET used_up = NULL
    WHERE kind = 'voucher' AND id = substr(NEW.id, 9, length(NEW.id) - 20) AND used_up IS NOT NULL
      AND json_type(body, '$.gift') IS NOT 'object' AND json_type(body, '$.loyalty_card') IS NOT 'object'
      AND (json_extract(body, '$.redemption.quantity') + NEW.balance <= 0) IS NOT 1;
END;

-- A changed code may have more redemptions. The search for codes tests it again.
CREATE TRIGGER code_changed AFTER UPDATE OF body ON document WHEN NEW.used_up IS NOT NULL AND OLD.body IS NOT NEW.body
BEGIN
  UPDATE document SET used_up = NULL WHERE seq = NEW.seq
    AND json_extract(OLD.body, '$.redemption.quantity') IS NOT json_extract(NEW.body, '$.redemption.quantity');
END;
