-- The head of the bundle, with what it was made of. The row stays, so that no later head has a lower revision.
CREATE TABLE bundle_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  jws TEXT NOT NULL,
  kid TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  rev INTEGER NOT NULL,
  core TEXT NOT NULL,
  issued_ms INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  to_ms INTEGER NOT NULL,
  revision TEXT NOT NULL,
  settings TEXT NOT NULL
);

-- Bytes of cores, of their indexes and of their parts, by SHA-256; with the moment since which no head names them.
CREATE TABLE bundle_part (
  seq INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL,
  unnamed_since INTEGER
);

CREATE INDEX bundle_part_unnamed ON bundle_part (unnamed_since) WHERE unnamed_since IS NOT NULL;
