-- A rule that gave nothing so far, but may give points when the order changes, has not fired.
ALTER TABLE earning_firing ADD COLUMN fired INTEGER NOT NULL DEFAULT 1;
