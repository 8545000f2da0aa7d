-- A transfer is one entry of one tree, under its chain. It is found by an account and a time only where a decision, a report or a replay asks
-- for that account by time, so most accounts cost no entry.
ALTER TABLE transfer RENAME TO former_transfer;

-- Earlier transfers are found by both of their accounts.
ALTER TABLE former_transfer ADD COLUMN by_debit INTEGER DEFAULT 1;

ALTER TABLE former_transfer ADD COLUMN by_credit INTEGER DEFAULT 1;

CREATE TABLE transfer (
  chain TEXT NOT NULL, id TEXT NOT NULL, debit TEXT NOT NULL, credit TEXT NOT NULL, amount INTEGER NOT NULL, at INTEGER NOT NULL,
  reverses TEXT, part_of TEXT, by_debit INTEGER, by_credit INTEGER, PRIMARY KEY (chain, id)) WITHOUT ROWID;

CREATE INDEX transfer_by_debit ON transfer (debit, at) WHERE by_debit = 1;

CREATE INDEX transfer_by_credit ON transfer (credit, at) WHERE by_credit = 1;

CREATE UNIQUE INDEX transfer_reversal ON transfer (reverses) WHERE reverses IS NOT NULL;

CREATE INDEX transfer_parts ON transfer (part_of) WHERE part_of IS NOT NULL;

-- A job moves the earlier transfers in slices; until then both tables are the ledger. At the end the first view is empty, and the second
-- has one table.
CREATE VIEW earlier_transfer AS
  SELECT chain, id, debit, credit, amount, at, reverses, part_of, by_debit, by_credit FROM former_transfer;

CREATE VIEW every_transfer AS
  SELECT chain, id, debit, credit, amount, at, reverses, part_of, by_debit, by_credit FROM transfer
  UNION ALL SELECT chain, id, debit, credit, amount, at, reverses, part_of, by_debit, by_credit FROM former_transfer;

-- A transfer is stored once, and is reversed once, in both tables together.
CREATE TRIGGER transfer_stored_once BEFORE INSERT ON transfer WHEN EXISTS (SELECT 1 FROM former_transfer WHERE id = NEW.id)
  OR (NEW.reverses IS NOT NULL AND EXISTS (SELECT 1 FROM former_transfer WHERE reverses = NEW.reverses))
BEGIN
  SELECT RAISE(ABORT, 'UNIQUE constraint failed: former_transfer');
END;

INSERT INTO due (id, at, kind, cursor, attempts, owner) SELECT 'MOVE_TRANSFERS', 0, 'MOVE_TRANSFERS', '', 0, '' WHERE EXISTS (SELECT 1 FROM former_transfer);
