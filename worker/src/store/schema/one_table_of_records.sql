-- Ends the move of `0053_records.sql`: each view has one table of records from then on, and no document is one.
DROP VIEW every_event;

DROP VIEW every_order;

DROP VIEW every_redemption;

DROP VIEW every_card_transaction;

DROP VIEW every_voucher_transaction;

DROP INDEX event_type;

DROP INDEX order_changed;

DROP INDEX order_counted;

DROP INDEX redemption_result;

DROP INDEX redemption_code;

DROP INDEX redemption_campaign;

DROP INDEX document_failed;

CREATE VIEW every_event AS
  SELECT seq, CAST('event' AS TEXT) AS kind, is_named, id, key, parent, holder, created_at, updated_at, body FROM event WHERE +seq >= 0;

CREATE VIEW every_order AS
  SELECT seq, CAST('order' AS TEXT) AS kind, is_named, id, key, parent, holder, created_at, updated_at, body FROM orders WHERE +seq >= 0;

CREATE VIEW every_redemption AS
  SELECT seq, CAST('redemption' AS TEXT) AS kind, is_named, id, key, parent, holder, created_at, updated_at, body FROM redemption WHERE +seq >= 0;

CREATE VIEW every_card_transaction AS
  SELECT seq, CAST('redemption' AS TEXT) AS kind, is_named, id, key, parent, holder, created_at, updated_at, body FROM redemption WHERE +seq >= 0
  UNION ALL SELECT seq, CAST('voucher_transaction' AS TEXT), is_named, id, key, parent, holder, created_at, updated_at, body FROM voucher_transaction WHERE +seq >= 0;

CREATE VIEW every_voucher_transaction AS
  SELECT seq, CAST('voucher_transaction' AS TEXT) AS kind, is_named, id, key, parent, holder, created_at, updated_at, body FROM voucher_transaction WHERE +seq >= 0;
