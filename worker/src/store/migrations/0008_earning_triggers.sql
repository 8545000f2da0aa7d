-- Earning rules are found by the event that triggers them.
UPDATE document SET parent = json_extract(body, '$.trigger.event') WHERE kind = 'loyalty_earning_rule';
