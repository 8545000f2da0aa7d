-- A bundle names the objects for whose metadata the project has a schema: a new schema, a deleted one and another name change its
-- revision. The content of a schema is not in a bundle.

CREATE TRIGGER bundle_schema_inserted AFTER INSERT ON document WHEN NEW.kind = 'metadata_schema'
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

CREATE TRIGGER bundle_schema_deleted AFTER DELETE ON document WHEN OLD.kind = 'metadata_schema'
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

CREATE TRIGGER bundle_schema_updated AFTER UPDATE OF kind, key ON document
  WHEN (OLD.kind IS NOT NEW.kind OR OLD.key IS NOT NEW.key) AND (OLD.kind = 'metadata_schema' OR NEW.kind = 'metadata_schema')
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
END;

-- Heads of before name cores that do not say it.
UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
