-- The newest order of a customer among those that count.
CREATE INDEX order_counted ON document (holder, created_at, seq)
  WHERE kind = 'order' AND holder IS NOT NULL AND json_extract(body, '$.status') IN ('PAID', 'FULFILLED');
