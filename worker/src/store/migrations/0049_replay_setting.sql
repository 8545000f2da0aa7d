-- For how many days inputs of redemptions are kept, and when the project has set that: former settings that arrive later do not count.
CREATE TABLE replay_setting (id INTEGER PRIMARY KEY CHECK (id = 1), days INTEGER NOT NULL, changed_ms INTEGER NOT NULL);

INSERT INTO replay_setting (id, days, changed_ms) SELECT 1, days, 0 FROM redemption_input ORDER BY seq DESC LIMIT 1;

ALTER TABLE redemption_input DROP COLUMN days;
