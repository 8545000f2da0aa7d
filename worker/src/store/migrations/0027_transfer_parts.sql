-- A transfer that reverses part of another names that transfer.
ALTER TABLE transfer ADD COLUMN part_of TEXT;

CREATE INDEX transfer_part ON transfer (part_of) WHERE part_of IS NOT NULL;
