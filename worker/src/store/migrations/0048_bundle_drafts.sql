-- A build of the bundle reads its documents in several slices. Those that change between two slices are read again.

-- One row while a build has read some documents and not all: the revision of the bundle at its last slice.
CREATE TABLE bundle_draft (id INTEGER PRIMARY KEY CHECK (id = 1), revision TEXT NOT NULL);

-- Names of the documents that were written since that slice: the ids before and after, and of goods the keys.
CREATE TABLE bundle_written (kind TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID;

-- Other new documents have names that no build has read.
CREATE TRIGGER bundle_draft_inserted AFTER INSERT ON document
  WHEN NEW.kind IN ('product', 'sku') AND EXISTS (SELECT 1 FROM bundle_draft)
BEGIN
  INSERT INTO bundle_written (kind, name) VALUES (NEW.kind, NEW.id) ON CONFLICT (kind, name) DO NOTHING;
  INSERT INTO bundle_written (kind, name) SELECT NEW.kind, NEW.key WHERE NEW.key IS NOT NULL
    ON CONFLICT (kind, name) DO NOTHING;
END;

CREATE TRIGGER bundle_draft_deleted AFTER DELETE ON document
  WHEN OLD.kind IN ('campaign', 'voucher', 'promotion_tier', 'promotion_stack', 'validation_rules', 'validation_rules_assignment',
      'product', 'sku', 'products_collection', 'segment', 'category')
    AND EXISTS (SELECT 1 FROM bundle_draft)
BEGIN
  INSERT INTO bundle_written (kind, name) VALUES (OLD.kind, OLD.id) ON CONFLICT (kind, name) DO NOTHING;
  INSERT INTO bundle_written (kind, name) SELECT OLD.kind, OLD.key WHERE OLD.key IS NOT NULL AND OLD.kind IN ('product', 'sku')
    ON CONFLICT (kind, name) DO NOTHING;
END;

CREATE TRIGGER bundle_draft_updated AFTER UPDATE ON document
  WHEN (NEW.kind IN ('campaign', 'voucher', 'promotion_tier', 'promotion_stack', 'validation_rules', 'validation_rules_assignment',
      'product', 'sku', 'products_collection', 'segment', 'category') OR OLD.kind IS NOT NEW.kind)
    AND EXISTS (SELECT 1 FROM bundle_draft)
BEGIN
  INSERT INTO bundle_written (kind, name) VALUES (OLD.kind, OLD.id), (NEW.kind, NEW.id) ON CONFLICT (kind, name) DO NOTHING;
  INSERT INTO bundle_written (kind, name) SELECT OLD.kind, OLD.key WHERE OLD.key IS NOT NULL AND OLD.kind IN ('product', 'sku')
    ON CONFLICT (kind, name) DO NOTHING;
  INSERT INTO bundle_written (kind, name) SELECT NEW.kind, NEW.key WHERE NEW.key IS NOT NULL AND NEW.kind IN ('product', 'sku')
    ON CONFLICT (kind, name) DO NOTHING;
END;
