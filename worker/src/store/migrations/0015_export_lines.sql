-- The lines of exports, in the order of the file. A line that is longer than a row is stored in parts.
CREATE TABLE export_line (
  export TEXT NOT NULL, place TEXT NOT NULL, seq INTEGER NOT NULL, part INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (export, place, seq, part)) WITHOUT ROWID;
