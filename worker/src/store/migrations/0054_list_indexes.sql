-- Indexes that only lists need are made when a list first needs one, and dropped after 30 days without use. The day is counted from 1970.
CREATE TABLE list_index (name TEXT PRIMARY KEY, used_day INTEGER NOT NULL) WITHOUT ROWID;

-- Those of earlier versions are dropped one by one, unless a list uses them before.
INSERT INTO list_index (name, used_day) SELECT name, 0 FROM sqlite_schema WHERE type = 'index' AND name IN
  ('voucher_type', 'voucher_category', 'voucher_category_id', 'voucher_start', 'voucher_end', 'voucher_referral', 'voucher_inactive',
   'voucher_changed', 'customer_city', 'customer_changed', 'orders_by_change', 'orders_by_age', 'redemption_by_result', 'redemption_by_code',
   'redemption_by_age');

INSERT INTO due (id, at, kind, cursor, attempts, owner) VALUES ('sweep', 0, 'SWEEP', '', 0, '') ON CONFLICT (id) DO UPDATE SET at = 0;
