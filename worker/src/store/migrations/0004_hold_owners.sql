-- The owner of a hold: the empty text for servers, which all owners were before. The origin of a client is stored as a digest.
CREATE TABLE hold_of_owner (
  key TEXT NOT NULL, owner TEXT NOT NULL, account TEXT NOT NULL, amount INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  created_at INTEGER, origin TEXT, PRIMARY KEY (key, owner, account)) WITHOUT ROWID;

INSERT INTO hold_of_owner (key, owner, account, amount, expires_at) SELECT key, '', account, amount, expires_at FROM hold;

DROP TABLE hold;

ALTER TABLE hold_of_owner RENAME TO hold;

CREATE INDEX hold_account ON hold (account, expires_at);

CREATE INDEX hold_expiry ON hold (expires_at);

CREATE INDEX hold_origin ON hold (origin, expires_at) WHERE origin IS NOT NULL;
