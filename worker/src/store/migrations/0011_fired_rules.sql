-- The occasions of earning, and the rules that fired by them: found by member, rule and moment, or by occasion.
CREATE TABLE earning_occasion (
  id TEXT PRIMARY KEY, customer TEXT NOT NULL, standing TEXT NOT NULL, bought INTEGER, created_at INTEGER NOT NULL,
  updated_at INTEGER) WITHOUT ROWID;

CREATE TABLE earning_firing (
  member TEXT NOT NULL, rule TEXT NOT NULL, at INTEGER NOT NULL, occasion TEXT NOT NULL, place INTEGER NOT NULL,
  program TEXT NOT NULL, earning TEXT NOT NULL, points TEXT NOT NULL, PRIMARY KEY (member, rule, at, occasion)) WITHOUT ROWID;

CREATE INDEX earning_firing_occasion ON earning_firing (occasion, place);

INSERT INTO earning_occasion SELECT id, COALESCE(holder, ''), body ->> 'standing', body ->> '$.bought.amount', created_at, updated_at
  FROM document WHERE kind = 'earning_occasion';

INSERT INTO earning_firing SELECT body ->> 'member_id', body ->> 'earning_rule_id', created_at, parent, seq, body ->> 'program_id',
  body ->> 'earning_id', body -> 'points' FROM document WHERE kind = 'earning_firing';

DELETE FROM document WHERE kind IN ('earning_occasion', 'earning_firing');
