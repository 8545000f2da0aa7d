-- What the supplement of a customer needs of the core of the present head: the ids of its offers, and its conditions about the
-- customer by number.
CREATE TABLE bundle_offers (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  core TEXT NOT NULL,
  offers TEXT NOT NULL,
  conditions TEXT NOT NULL
);

-- A core that is older names what a supplement must not depend on any more.
UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
