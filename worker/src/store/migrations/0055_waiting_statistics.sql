-- What happens in loyalty programs waits: the rules that fire in a call in one row, other events in one each. The 128th row adds all to the
-- statistics, and so does each report before it reads them: an order by which ten rules fire costs one row instead of forty.
CREATE TABLE statistic_waiting (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, events TEXT NOT NULL);

DROP TRIGGER statistic_counted;

CREATE TRIGGER statistic_counted INSTEAD OF INSERT ON statistic_event
BEGIN
  INSERT INTO statistic_waiting (at, events) VALUES (NEW.at, json_array(json_array(NEW.program, NEW.kind, NEW.earning_rule, NEW.earning,
    NEW.card_definition, NEW.tier_structure, NEW.tier, NEW.count, NEW.points, NEW.amount)));
END;

-- The events that wait, in the order in which they happened. One that lacks a value would keep all others from being added.
CREATE VIEW statistic_waiting_event AS
  SELECT statistic_waiting.id * 1000000 + event.key AS place, at / 900000 AS quarter, COALESCE(event.value ->> 0, '') AS program,
    COALESCE(event.value ->> 1, '') AS kind, COALESCE(event.value ->> 2, '') AS earning_rule, COALESCE(event.value ->> 3, '') AS earning,
    COALESCE(event.value ->> 4, '') AS card_definition, COALESCE(event.value ->> 5, '') AS tier_structure,
    COALESCE(event.value ->> 6, '') AS tier, COALESCE(event.value ->> 7, 0) AS count, COALESCE(event.value ->> 8, 0) AS points,
    COALESCE(event.value ->> 9, 0) AS amount
  FROM statistic_waiting CROSS JOIN json_each(events) AS event;

CREATE VIEW statistic_addition AS SELECT 0 AS number;

CREATE TRIGGER statistic_added INSTEAD OF INSERT ON statistic_addition
BEGIN
  INSERT INTO statistic (program, kind, earning_rule, earning, card_definition, tier_structure, tier, count, points, amount)
  SELECT program, kind, earning_rule, earning, card_definition, tier_structure, tier, SUM(count), SUM(points), SUM(amount)
  FROM statistic_waiting_event WHERE TRUE GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY MIN(place)
  ON CONFLICT (program, kind, earning_rule, earning, card_definition, tier_structure, tier) DO UPDATE
  SET count = count + excluded.count, points = points + excluded.points, amount = amount + excluded.amount;
  INSERT INTO statistic_quarter (statistic, quarter, count, points, amount)
  SELECT statistic.id, event.quarter, SUM(event.count), SUM(event.points), SUM(event.amount)
  FROM statistic_waiting_event AS event CROSS JOIN statistic
  WHERE statistic.program = event.program AND statistic.kind = event.kind AND statistic.earning_rule = event.earning_rule
    AND statistic.earning = event.earning AND statistic.card_definition = event.card_definition
    AND statistic.tier_structure = event.tier_structure AND statistic.tier = event.tier
  GROUP BY 1, 2
  ON CONFLICT (statistic, quarter) DO UPDATE
  SET count = count + excluded.count, points = points + excluded.points, amount = amount + excluded.amount;
  DELETE FROM statistic_waiting;
END;

CREATE TRIGGER statistic_waited AFTER INSERT ON statistic_waiting WHEN NEW.id % 128 = 0
BEGIN
  INSERT INTO statistic_addition VALUES (0);
END;
