-- The campaigns whose offers clients may know, for the core of the bundle: not those with private codes, of which there may be many.
CREATE INDEX campaign_with_offers ON document (seq)
  WHERE kind = 'campaign' AND (json_extract(body, '$.type') = 'STANDALONE' OR json_extract(body, '$.campaign_type') = 'PROMOTION');

-- Cores of before lack offers.
UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'bundle';
