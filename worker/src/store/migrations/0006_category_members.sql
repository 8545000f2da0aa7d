-- The deletion of a category looks for its members among all codes.
CREATE INDEX document_category ON document (json_extract(body, '$.category_id'))
  WHERE kind IN ('campaign', 'voucher') AND json_extract(body, '$.category_id') IS NOT NULL;
