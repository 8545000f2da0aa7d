-- The job that builds the bundle after a change, and what of the bundle is still to be copied to KV.

-- What a build needs of the project beside its documents, as the entry sent it when a client asked for the bundle. No row: nobody
-- has asked, and nothing is built.
CREATE TABLE bundle_project (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  project TEXT NOT NULL,
  settings TEXT NOT NULL
);

ALTER TABLE bundle_head ADD COLUMN is_copied INTEGER NOT NULL DEFAULT 0;

ALTER TABLE bundle_part ADD COLUMN is_copied INTEGER NOT NULL DEFAULT 0;

CREATE INDEX bundle_part_uncopied ON bundle_part (seq) WHERE is_copied = 0;

-- Hashes of deleted parts that KV may still have.
CREATE TABLE bundle_removal (hash TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TRIGGER bundle_part_deleted AFTER DELETE ON bundle_part
BEGIN
  INSERT INTO bundle_removal (hash) VALUES (OLD.hash) ON CONFLICT (hash) DO NOTHING;
END;

CREATE TRIGGER bundle_part_inserted AFTER INSERT ON bundle_part
BEGIN
  DELETE FROM bundle_removal WHERE hash = NEW.hash;
END;

-- A new revision, a change of the signing keys and a raised epoch make the job due in their own transaction. At the moment 0 it is due at
-- once. A job that waits for the end of changes has a cursor and keeps its moment.
CREATE TRIGGER bundle_due_by_revision AFTER UPDATE OF drawn ON edition
  WHEN NEW.subject = 'bundle' AND EXISTS (SELECT 1 FROM bundle_project)
BEGIN
  INSERT INTO due (id, at, kind, cursor, attempts, owner) VALUES ('BUNDLE', 0, 'BUNDLE', '', 0, '')
    ON CONFLICT (id) DO UPDATE SET at = 0 WHERE due.cursor = '';
END;

CREATE TRIGGER bundle_due_by_key AFTER UPDATE OF signs_from, signs_until, retired_at ON bundle_key
  WHEN EXISTS (SELECT 1 FROM bundle_project)
BEGIN
  INSERT INTO due (id, at, kind, cursor, attempts, owner) VALUES ('BUNDLE', 0, 'BUNDLE', '', 0, '')
    ON CONFLICT (id) DO UPDATE SET at = 0 WHERE due.cursor = '';
END;

CREATE TRIGGER bundle_due_by_epoch AFTER UPDATE OF epoch ON bundle_epoch
  WHEN NEW.epoch IS NOT OLD.epoch AND EXISTS (SELECT 1 FROM bundle_project)
BEGIN
  INSERT INTO due (id, at, kind, cursor, attempts, owner) VALUES ('BUNDLE', 0, 'BUNDLE', '', 0, '')
    ON CONFLICT (id) DO UPDATE SET at = 0 WHERE due.cursor = '';
END;
