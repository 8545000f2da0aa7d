-- Numbers of documents are given by the statement that inserts one, so that SQLite need not record the last one in a row of its own with each insertion.
-- The number of a document that was the last one when it was deleted does not come back either.
CREATE TABLE document_floor (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL);

INSERT INTO document_floor (id, seq) SELECT 1, COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'document'), 0);

CREATE VIEW next_document AS
  SELECT MAX(COALESCE((SELECT MAX(seq) FROM document), 0), (SELECT seq FROM document_floor)) + 1 AS seq;

-- SQLite records a number only when it is above the recorded one, which lies far above all others from now on.
INSERT INTO document (seq, kind, id, created_at, body) VALUES (1125899906842624, 'filler', 'last', 0, '{}');

DELETE FROM document WHERE seq = 1125899906842624;

CREATE TRIGGER document_number_kept AFTER DELETE ON document WHEN OLD.seq > COALESCE((SELECT MAX(seq) FROM document), 0)
BEGIN
  UPDATE document_floor SET seq = MAX(seq, OLD.seq);
END;

-- The insertion has moved the mark of the counts.
UPDATE count_mark SET seq = COALESCE((SELECT MAX(seq) FROM document), 0);
