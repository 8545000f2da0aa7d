-- Incentives are found by their names, which are unique.
UPDATE document SET key = json_extract(body, '$.name') WHERE kind = 'incentive';

-- The spendable and the pending points of a card, among all that expired or were activated in years.
CREATE INDEX document_lot ON document (parent, seq) WHERE kind = 'card_points_bucket'
  AND json_extract(body, '$.status') = 'ACTIVE' AND json_extract(body, '$.points.total') > 0;

CREATE INDEX document_waiting ON document (parent, seq) WHERE kind = 'card_pending_points_bucket'
  AND json_extract(body, '$.status') = 'PENDING';
