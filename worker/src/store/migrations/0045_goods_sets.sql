-- The conditions on goods, by the numbers of the sets that the goods buckets are to show, as JSON. The buckets show them once the tree has
-- a root.
ALTER TABLE goods_tree ADD COLUMN sets TEXT NOT NULL DEFAULT '{}';

-- Cores of before contain the filters and members of collections.
UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
