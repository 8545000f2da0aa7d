-- Publications to an address on a day. The address is a hash that differs from day to day.
CREATE TABLE handed_out (
  day INTEGER NOT NULL, place TEXT NOT NULL, who TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (day, place, who)) WITHOUT ROWID;
