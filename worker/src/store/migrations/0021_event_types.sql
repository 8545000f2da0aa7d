-- Segments ask how often a customer has had an event of a type.
CREATE INDEX event_type ON document (holder, json_extract(body, '$.type')) WHERE kind = 'event' AND holder IS NOT NULL;
