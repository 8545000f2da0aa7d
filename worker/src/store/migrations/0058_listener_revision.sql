-- The revision of what reacts to changes: webhooks, and earning rules of campaigns.
INSERT INTO edition (subject, drawn) VALUES ('listeners', hex(randomblob(16)));

CREATE TRIGGER listeners_inserted AFTER INSERT ON document WHEN CASE NEW.kind WHEN 'webhook' THEN 1 WHEN 'earning_rule' THEN 1 ELSE 0 END
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'listeners';
END;

CREATE TRIGGER listeners_deleted AFTER DELETE ON document WHEN CASE OLD.kind WHEN 'webhook' THEN 1 WHEN 'earning_rule' THEN 1 ELSE 0 END
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'listeners';
END;

CREATE TRIGGER listeners_updated AFTER UPDATE ON document WHEN CASE NEW.kind WHEN 'webhook' THEN 1 WHEN 'earning_rule' THEN 1 ELSE 0 END
  OR CASE OLD.kind WHEN 'webhook' THEN 1 WHEN 'earning_rule' THEN 1 ELSE 0 END
BEGIN
  UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'listeners';
END;
