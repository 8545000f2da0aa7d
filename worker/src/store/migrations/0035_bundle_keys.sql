-- The pairs that sign a project's bundle. A key that has signed its last loses its private half at the next change of keys.
CREATE TABLE bundle_key (
  seq INTEGER PRIMARY KEY,
  kid TEXT NOT NULL UNIQUE,
  public_x TEXT NOT NULL,
  private_seed TEXT,
  created_at INTEGER NOT NULL,
  signs_from INTEGER NOT NULL,
  signs_until INTEGER,
  retired_at INTEGER,
  vouching_kid TEXT,
  vouched_by TEXT
);

-- The moment at which a key was last retired or an archive restored; 0 before the first time.
CREATE TABLE bundle_epoch (epoch INTEGER NOT NULL);

INSERT INTO bundle_epoch (epoch) VALUES (0);
