-- Statistics of loyalty programs: triggers count each event in its own transaction, in all and by quarters of an hour. Days of all
-- time zones begin with a quarter, so that the sums give the days of any zone.

-- The number of events of each kind, in all. A column that a kind has no value for is the empty text.
CREATE TABLE statistic (
  id INTEGER PRIMARY KEY, program TEXT NOT NULL, kind TEXT NOT NULL, earning_rule TEXT NOT NULL, earning TEXT NOT NULL,
  card_definition TEXT NOT NULL, tier_structure TEXT NOT NULL, tier TEXT NOT NULL,
  count INTEGER NOT NULL, points INTEGER NOT NULL, amount INTEGER NOT NULL);

CREATE UNIQUE INDEX statistic_of ON statistic (program, kind, earning_rule, earning, card_definition, tier_structure, tier);

-- The same numbers for each quarter of an hour since 1970.
CREATE TABLE statistic_quarter (
  statistic INTEGER NOT NULL, quarter INTEGER NOT NULL, count INTEGER NOT NULL, points INTEGER NOT NULL, amount INTEGER NOT NULL,
  PRIMARY KEY (statistic, quarter)) WITHOUT ROWID;

CREATE VIEW statistic_event AS
  SELECT program, kind, earning_rule, earning, card_definition, tier_structure, tier, 0 AS at, count, points, amount FROM statistic;

CREATE TRIGGER statistic_counted INSTEAD OF INSERT ON statistic_event
BEGIN
  INSERT INTO statistic (program, kind, earning_rule, earning, card_definition, tier_structure, tier, count, points, amount)
  VALUES (NEW.program, NEW.kind, NEW.earning_rule, NEW.earning, NEW.card_definition, NEW.tier_structure, NEW.tier,
    NEW.count, NEW.points, NEW.amount)
  ON CONFLICT (program, kind, earning_rule, earning, card_definition, tier_structure, tier) DO UPDATE
  SET count = count + excluded.count, points = points + excluded.points, amount = amount + excluded.amount;
  INSERT INTO statistic_quarter (statistic, quarter, count, points, amount)
  SELECT id, NEW.at / 900000, NEW.count, NEW.points, NEW.amount FROM statistic
  WHERE program = NEW.program AND kind = NEW.kind AND earning_rule = NEW.earning_rule AND earning = NEW.earning
    AND card_definition = NEW.card_definition AND tier_structure = NEW.tier_structure AND tier = NEW.tier
  ON CONFLICT (statistic, quarter) DO UPDATE
  SET count = count + excluded.count, points = points + excluded.points, amount = amount + excluded.amount;
END;

INSERT INTO statistic_event SELECT earning_firing.program, 'FIRED', earning_firing.rule, '', '', '', '', earning_firing.at, 1, 0, 0
  FROM earning_firing;

INSERT INTO statistic_event SELECT earning_firing.program, CASE WHEN value ->> 'pending' IS NULL THEN 'EARNED' ELSE 'WAITING' END,
  earning_firing.rule, earning_firing.earning, value ->> 'card_definition_id', '', '', earning_firing.at, 1, SUM(value ->> 'points'), 0
  FROM earning_firing, json_each(earning_firing.points)
  GROUP BY member, rule, earning_firing.at, occasion, 2, 5;

INSERT INTO statistic_event SELECT document.body ->> 'program_id', 'REWARD', '', '', document.body ->> 'card_definition_id', '', '',
  document.created_at, 1, document.body ->> '$.details.points.total', 0 FROM document
  WHERE kind = 'card_transaction' AND body ->> 'type' = 'POINTS_SPENT_ON_REWARD';

INSERT INTO statistic_event SELECT document.body ->> 'program_id', 'ORDER', '', '', document.body ->> 'card_definition_id', '', '',
  document.created_at, 1, document.body ->> '$.details.payment.points_spent', document.body ->> '$.details.payment.amount' FROM document
  WHERE kind = 'order_transaction' AND body ->> 'status' = 'APPROVED';

INSERT INTO statistic_event SELECT document.body ->> 'program_id', document.body ->> 'type', '', '', '',
  document.body ->> 'tier_structure_id', COALESCE(document.body ->> 'tier_id', document.body ->> '$.details.tier_from', ''),
  document.created_at, 1, 0, 0 FROM document WHERE kind = 'tier_transaction';

CREATE TRIGGER statistic_reward AFTER INSERT ON document
  WHEN NEW.kind = 'card_transaction' AND NEW.body ->> 'type' = 'POINTS_SPENT_ON_REWARD'
BEGIN
  INSERT INTO statistic_event SELECT NEW.body ->> 'program_id', 'REWARD', '', '', NEW.body ->> 'card_definition_id', '', '', NEW.created_at,
    1, NEW.body ->> '$.details.points.total', 0;
END;

CREATE TRIGGER statistic_order AFTER INSERT ON document
  WHEN NEW.kind = 'order_transaction' AND NEW.body ->> 'status' = 'APPROVED'
BEGIN
  INSERT INTO statistic_event SELECT NEW.body ->> 'program_id', 'ORDER', '', '', NEW.body ->> 'card_definition_id', '', '', NEW.created_at,
    1, NEW.body ->> '$.details.payment.points_spent', NEW.body ->> '$.details.payment.amount';
END;

CREATE TRIGGER statistic_passed AFTER INSERT ON document WHEN NEW.kind = 'tier_transaction'
BEGIN
  INSERT INTO statistic_event SELECT NEW.body ->> 'program_id', NEW.body ->> 'type', '', '', '', NEW.body ->> 'tier_structure_id',
    COALESCE(NEW.body ->> 'tier_id', NEW.body ->> '$.details.tier_from', ''), NEW.created_at, 1, 0, 0;
END;

-- A tier transaction may be written again, or deleted, while its moment lasts.
CREATE TRIGGER statistic_passed_anew AFTER UPDATE ON document WHEN NEW.kind = 'tier_transaction'
BEGIN
  INSERT INTO statistic_event SELECT OLD.body ->> 'program_id', OLD.body ->> 'type', '', '', '', OLD.body ->> 'tier_structure_id',
    COALESCE(OLD.body ->> 'tier_id', OLD.body ->> '$.details.tier_from', ''), OLD.created_at, -1, 0, 0;
  INSERT INTO statistic_event SELECT NEW.body ->> 'program_id', NEW.body ->> 'type', '', '', '', NEW.body ->> 'tier_structure_id',
    COALESCE(NEW.body ->> 'tier_id', NEW.body ->> '$.details.tier_from', ''), NEW.created_at, 1, 0, 0;
END;

CREATE TRIGGER statistic_not_passed AFTER DELETE ON document WHEN OLD.kind = 'tier_transaction'
BEGIN
  INSERT INTO statistic_event SELECT OLD.body ->> 'program_id', OLD.body ->> 'type', '', '', '', OLD.body ->> 'tier_structure_id',
    COALESCE(OLD.body ->> 'tier_id', OLD.body ->> '$.details.tier_from', ''), OLD.created_at, -1, 0, 0;
END;
