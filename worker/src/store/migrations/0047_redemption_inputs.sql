-- What a redemption read, by the number of its record in `document`. Other indexes would cost each redemption a second row.
CREATE TABLE redemption_input (
  seq INTEGER PRIMARY KEY, redemption TEXT NOT NULL, created_at INTEGER NOT NULL, days INTEGER NOT NULL, bytes INTEGER NOT NULL,
  body TEXT NOT NULL);
