-- The revision of the documents by which loyalty programs are run. Every change of one draws a new value, so that a cached reading
-- of one revision stays true: a revision that is rolled back never comes again.
CREATE TABLE edition (subject TEXT PRIMARY KEY, drawn TEXT NOT NULL) WITHOUT ROWID;

INSERT INTO edition (subject, drawn) VALUES ('programs', hex(randomblob(16)));

CREATE TRIGGER edition_inserted AFTER INSERT ON document WHEN NEW.kind IN ('program', 'program_earning_rule', 'loyalty_earning_rule',
  'card_definition', 'program_tier_structure', 'tier_structure', 'loyalty_tier')
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'programs';
END;

CREATE TRIGGER edition_deleted AFTER DELETE ON document WHEN OLD.kind IN ('program', 'program_earning_rule', 'loyalty_earning_rule',
  'card_definition', 'program_tier_structure', 'tier_structure', 'loyalty_tier')
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'programs';
END;

CREATE TRIGGER edition_updated AFTER UPDATE ON document WHEN NEW.kind IN ('program', 'program_earning_rule', 'loyalty_earning_rule',
  'card_definition', 'program_tier_structure', 'tier_structure', 'loyalty_tier') OR OLD.kind IN ('program', 'program_earning_rule',
  'loyalty_earning_rule', 'card_definition', 'program_tier_structure', 'tier_structure', 'loyalty_tier')
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'programs';
END;
