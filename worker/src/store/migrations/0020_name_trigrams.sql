-- A full-text index of every three letters of customer names. It stores no name, and deleted entries are overwritten at once.

CREATE VIRTUAL TABLE label_part USING fts5(label, content = 'document', content_rowid = 'seq', tokenize = 'trigram case_sensitive 1',
  detail = 'none', columnsize = 0);

INSERT INTO label_part (label_part, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER label_inserted AFTER INSERT ON document WHEN NEW.label IS NOT NULL
BEGIN
  INSERT INTO label_part (rowid, label) VALUES (NEW.seq, NEW.label);
END;

CREATE TRIGGER label_deleted AFTER DELETE ON document WHEN OLD.label IS NOT NULL
BEGIN
  INSERT INTO label_part (label_part, rowid, label) VALUES ('delete', OLD.seq, OLD.label);
END;

CREATE TRIGGER label_left AFTER UPDATE OF label ON document WHEN OLD.label IS NOT NULL AND OLD.label IS NOT NEW.label
BEGIN
  INSERT INTO label_part (label_part, rowid, label) VALUES ('delete', OLD.seq, OLD.label);
END;

CREATE TRIGGER label_came AFTER UPDATE OF label ON document WHEN NEW.label IS NOT NULL AND OLD.label IS NOT NEW.label
BEGIN
  INSERT INTO label_part (rowid, label) VALUES (NEW.seq, NEW.label);
END;

INSERT INTO label_part (rowid, label) SELECT seq, label FROM document WHERE label IS NOT NULL;
