-- The revision of the documents that a bundle shows. Of vouchers it shows only those of a public campaign, without the moment of
-- their change: redeemed codes and new private codes leave the revision as it is.

CREATE INDEX campaign_public ON document (id) WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE';

INSERT INTO edition (subject, drawn) VALUES ('bundle', hex(randomblob(16)));

CREATE TRIGGER bundle_inserted AFTER INSERT ON document WHEN CASE NEW.kind
  WHEN 'campaign' THEN 1 WHEN 'promotion_tier' THEN 1 WHEN 'promotion_stack' THEN 1 WHEN 'validation_rules' THEN 1
  WHEN 'validation_rules_assignment' THEN 1 WHEN 'product' THEN 1 WHEN 'sku' THEN 1 WHEN 'products_collection' THEN 1
  WHEN 'segment' THEN 1 WHEN 'category' THEN 1 WHEN 'stacking_rules' THEN 1
  WHEN 'voucher' THEN EXISTS (SELECT 1 FROM document INDEXED BY campaign_public
    WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE' AND id = NEW.parent)
  ELSE 0 END
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

CREATE TRIGGER bundle_deleted AFTER DELETE ON document WHEN CASE OLD.kind
  WHEN 'campaign' THEN 1 WHEN 'promotion_tier' THEN 1 WHEN 'promotion_stack' THEN 1 WHEN 'validation_rules' THEN 1
  WHEN 'validation_rules_assignment' THEN 1 WHEN 'product' THEN 1 WHEN 'sku' THEN 1 WHEN 'products_collection' THEN 1
  WHEN 'segment' THEN 1 WHEN 'category' THEN 1 WHEN 'stacking_rules' THEN 1
  WHEN 'voucher' THEN EXISTS (SELECT 1 FROM document INDEXED BY campaign_public
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
      WHEN 'voucher' THEN EXISTS (SELECT 1 FROM document INDEXED BY campaign_public
        WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE' AND id = NEW.parent)
      ELSE 0 END OR CASE OLD.kind
      WHEN 'campaign' THEN 1 WHEN 'promotion_tier' THEN 1 WHEN 'promotion_stack' THEN 1 WHEN 'validation_rules' THEN 1
      WHEN 'validation_rules_assignment' THEN 1 WHEN 'product' THEN 1 WHEN 'sku' THEN 1 WHEN 'products_collection' THEN 1
      WHEN 'segment' THEN 1 WHEN 'category' THEN 1 WHEN 'stacking_rules' THEN 1
      WHEN 'voucher' THEN EXISTS (SELECT 1 FROM document INDEXED BY campaign_public
        WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE' AND id = OLD.parent)
      ELSE 0 END) AND (OLD.kind IS NOT 'voucher' OR NEW.kind IS NOT 'voucher'
  OR OLD.id IS NOT NEW.id OR OLD.key IS NOT NEW.key OR OLD.parent IS NOT NEW.parent
  OR json_remove(OLD.body, '$.updated_at') IS NOT json_remove(NEW.body, '$.updated_at'))
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;
