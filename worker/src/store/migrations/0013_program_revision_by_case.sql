-- The triggers of migration 0009 with CASE: a list behind IN would become a table of its own at each write of a row.

DROP TRIGGER edition_inserted;

DROP TRIGGER edition_deleted;

DROP TRIGGER edition_updated;

CREATE TRIGGER edition_inserted AFTER INSERT ON document WHEN CASE NEW.kind WHEN 'program' THEN 1 WHEN 'program_earning_rule' THEN 1
  WHEN 'loyalty_earning_rule' THEN 1
  WHEN 'card_definition' THEN 1 WHEN 'program_tier_structure' THEN 1 WHEN 'tier_structure' THEN 1 WHEN 'loyalty_tier' THEN 1
  ELSE 0 END
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'programs';
END;

CREATE TRIGGER edition_deleted AFTER DELETE ON document WHEN CASE OLD.kind WHEN 'program' THEN 1 WHEN 'program_earning_rule' THEN 1
  WHEN 'loyalty_earning_rule' THEN 1
  WHEN 'card_definition' THEN 1 WHEN 'program_tier_structure' THEN 1 WHEN 'tier_structure' THEN 1 WHEN 'loyalty_tier' THEN 1
  ELSE 0 END
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'programs';
END;

CREATE TRIGGER edition_updated AFTER UPDATE ON document WHEN CASE NEW.kind WHEN 'program' THEN 1 WHEN 'program_earning_rule' THEN 1
  WHEN 'loyalty_earning_rule' THEN 1
  WHEN 'card_definition' THEN 1 WHEN 'program_tier_structure' THEN 1 WHEN 'tier_structure' THEN 1 WHEN 'loyalty_tier' THEN 1
  ELSE 0 END OR CASE OLD.kind WHEN 'program' THEN 1 WHEN 'program_earning_rule' THEN 1 WHEN 'loyalty_earning_rule' THEN 1
  WHEN 'card_definition' THEN 1 WHEN 'program_tier_structure' THEN 1 WHEN 'tier_structure' THEN 1 WHEN 'loyalty_tier' THEN 1
  ELSE 0 END
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'programs';
END;
