-- The goods of the bundle: products and SKUs in buckets by the hash of their names, and the tree of hashes over them.

-- The tree: the number of its buckets, a power of two; the number of rows in goods_name; its root, NULL while it is not complete; and
-- the hash of what its buckets show beside the documents.
CREATE TABLE goods_tree (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  buckets INTEGER NOT NULL,
  names INTEGER NOT NULL,
  root TEXT,
  shown TEXT NOT NULL
);

-- The names of each product and SKU, id and source_id, as the first 32 bits of their SHA-256. The bits above are the number of the bucket.
CREATE TABLE goods_name (prefix INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (prefix, seq)) WITHOUT ROWID;

CREATE INDEX goods_name_document ON goods_name (seq);

-- The hashes of the tree: level 0 has the buckets, each level above the pages of 64 of the level below. A marked one is built anew.
CREATE TABLE goods_node (
  level INTEGER NOT NULL,
  place INTEGER NOT NULL,
  hash TEXT NOT NULL,
  is_marked INTEGER NOT NULL,
  PRIMARY KEY (level, place)
) WITHOUT ROWID;

CREATE INDEX goods_node_marked ON goods_node (level, place) WHERE is_marked = 1;

-- Products and SKUs that have changed since their buckets were built.
CREATE TABLE goods_mark (seq INTEGER PRIMARY KEY);

CREATE TRIGGER goods_inserted AFTER INSERT ON document WHEN NEW.kind IN ('product', 'sku')
BEGIN
  INSERT INTO goods_mark (seq) VALUES (NEW.seq) ON CONFLICT (seq) DO NOTHING;
END;

CREATE TRIGGER goods_updated AFTER UPDATE OF kind, id, key, body ON document
  WHEN (OLD.body IS NOT NEW.body OR OLD.kind IS NOT NEW.kind OR OLD.id IS NOT NEW.id OR OLD.key IS NOT NEW.key)
    AND (OLD.kind IN ('product', 'sku') OR NEW.kind IN ('product', 'sku'))
BEGIN
  INSERT INTO goods_mark (seq) VALUES (NEW.seq) ON CONFLICT (seq) DO NOTHING;
END;

-- Of deleted goods without a bucket no mark stays.
CREATE TRIGGER goods_deleted AFTER DELETE ON document WHEN OLD.kind IN ('product', 'sku')
BEGIN
  DELETE FROM goods_mark WHERE seq = OLD.seq;
  INSERT INTO goods_mark (seq) SELECT OLD.seq WHERE EXISTS (SELECT 1 FROM goods_name WHERE seq = OLD.seq);
END;

INSERT INTO goods_mark (seq) SELECT seq FROM document WHERE kind IN ('product', 'sku');

-- Buckets and pages are parts that the core does not name.
ALTER TABLE bundle_part ADD COLUMN is_goods INTEGER NOT NULL DEFAULT 0;

CREATE INDEX bundle_part_core ON bundle_part (seq) WHERE is_goods = 0 AND unnamed_since IS NULL;

-- Cores of before contain the goods.
UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
