-- Limits of a day, a week or a month sum the transfers since a moment.
CREATE INDEX transfer_debit ON transfer (debit, at);

CREATE INDEX transfer_credit ON transfer (credit, at);

-- Clients may list codes without a campaign, in the order of creation.
CREATE INDEX document_open ON document (created_at, seq) WHERE kind = 'voucher' AND parent IS NULL;
