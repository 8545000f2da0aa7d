-- The publications to a customer, and the publications by which a code was assigned.
CREATE INDEX publication_customer ON document (json_extract(body, '$.customer_id'), created_at, seq)
  WHERE kind = 'publication' AND json_extract(body, '$.customer_id') IS NOT NULL;

CREATE TABLE published (voucher TEXT NOT NULL, publication TEXT NOT NULL, PRIMARY KEY (voucher, publication)) WITHOUT ROWID;

CREATE TRIGGER published_inserted AFTER INSERT ON document WHEN NEW.kind = 'publication'
BEGIN
  INSERT OR IGNORE INTO published SELECT value, NEW.id FROM json_each(NEW.body, '$.vouchers_id');
END;

CREATE TRIGGER published_deleted AFTER DELETE ON document WHEN OLD.kind = 'publication'
BEGIN
  DELETE FROM published WHERE voucher IN (SELECT value FROM json_each(OLD.body, '$.vouchers_id')) AND publication = OLD.id;
END;

INSERT OR IGNORE INTO published SELECT named.value, document.id FROM document, json_each(body, '$.vouchers_id') AS named
  WHERE kind = 'publication';
