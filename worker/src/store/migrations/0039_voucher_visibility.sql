-- A voucher without a campaign that is set to `public` or `sealed` is in the bundle: its changes change the revision too. Others
-- without a campaign, such as a million of codes in an import, leave the revision as it is. So does a change of a campaign's count or
-- of the state of its codes: generated codes change both.

CREATE INDEX voucher_visible ON document (created_at, seq)
  WHERE kind = 'voucher' AND parent IS NULL AND json_extract(body, '$.visibility') IN ('public', 'sealed');

DROP TRIGGER bundle_inserted;

DROP TRIGGER bundle_deleted;

DROP TRIGGER bundle_updated;

CREATE TRIGGER bundle_inserted AFTER INSERT ON document WHEN CASE NEW.kind
  WHEN 'campaign' THEN 1 WHEN 'promotion_tier' THEN 1 WHEN 'promotion_stack' THEN 1 WHEN 'validation_rules' THEN 1
  WHEN 'validation_rules_assignment' THEN 1 WHEN 'product' THEN 1 WHEN 'sku' THEN 1 WHEN 'products_collection' THEN 1
  WHEN 'segment' THEN 1 WHEN 'category' THEN 1 WHEN 'stacking_rules' THEN 1
  WHEN 'voucher' THEN NEW.parent IS NULL AND json_extract(NEW.body, '$.visibility') IN ('public', 'sealed')
    OR EXISTS (SELECT 1 FROM document INDEXED BY campaign_public
    WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE' AND id = NEW.parent)
  ELSE 0 END
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

CREATE TRIGGER bundle_deleted AFTER DELETE ON document WHEN CASE OLD.kind
  WHEN 'campaign' THEN 1 WHEN 'promotion_tier' THEN 1 WHEN 'promotion_stack' THEN 1 WHEN 'validation_rules' THEN 1
  WHEN 'validation_rules_assignment' THEN 1 WHEN 'product' THEN 1 WHEN 'sku' THEN 1 WHEN 'products_collection' THEN 1
  WHEN 'segment' THEN 1 WHEN 'category' THEN 1 WHEN 'stacking_rules' THEN 1
  WHEN 'voucher' THEN OLD.parent IS NULL AND json_extract(OLD.body, '$.visibility') IN ('public', 'sealed')
    OR EXISTS (SELECT 1 FROM document INDEXED BY campaign_public
    WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE' AND id = OLD.parent)
  ELSE 0 END
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

CREATE TRIGGER bundle_updated AFTER UPDATE OF kind, id, key, parent, body ON document WHEN (OLD.body IS NOT NEW.body
  OR OLD.kind IS NOT NEW.kind OR OLD.id IS NOT NEW.id OR OLD.key IS NOT NEW.key OR OLD.parent IS NOT NEW.parent) AND (CASE NEW.kind
      WHEN 'campaign' THEN 1 WHEN 'promotion_tier' THEN 1 WHEN 'promotion_stack' THEN 1 WHEN 'validation_rules' THEN 1
      WHEN 'validation_rules_assignment' THEN 1 WHEN 'product' THEN 1 WHEN 'sku' THEN 1 WHEN 'products_collection' THEN 1
      WHEN 'segment' THEN 1 WHEN 'category' THEN 1 WHEN 'stacking_rules' THEN 1
      WHEN 'voucher' THEN NEW.parent IS NULL AND json_extract(NEW.body, '$.visibility') IN ('public', 'sealed')
        OR EXISTS (SELECT 1 FROM document INDEXED BY campaign_public
        WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE' AND id = NEW.parent)
      ELSE 0 END OR CASE OLD.kind
      WHEN 'campaign' THEN 1 WHEN 'promotion_tier' THEN 1 WHEN 'promotion_stack' THEN 1 WHEN 'validation_rules' THEN 1
      WHEN 'validation_rules_assignment' THEN 1 WHEN 'product' THEN 1 WHEN 'sku' THEN 1 WHEN 'products_collection' THEN 1
      WHEN 'segment' THEN 1 WHEN 'category' THEN 1 WHEN 'stacking_rules' THEN 1
      WHEN 'voucher' THEN OLD.parent IS NULL AND json_extract(OLD.body, '$.visibility') IN ('public', 'sealed')
        OR EXISTS (SELECT 1 FROM document INDEXED BY campaign_public
        WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE' AND id = OLD.parent)
      ELSE 0 END)
  AND (OLD.kind IS NOT NEW.kind OR NEW.kind NOT IN ('voucher', 'campaign')
  OR OLD.id IS NOT NEW.id OR OLD.key IS NOT NEW.key OR OLD.parent IS NOT NEW.parent
  OR json_remove(OLD.body, '$.updated_at', '$.vouchers_count', '$.vouchers_generation_status', '$.creation_status')
    IS NOT json_remove(NEW.body, '$.updated_at', '$.vouchers_count', '$.vouchers_generation_status', '$.creation_status'))
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

-- Cores of before contain offers of every visibility.
UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
