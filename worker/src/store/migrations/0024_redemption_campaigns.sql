-- Promotion tiers have a campaign as well.
DROP INDEX redemption_campaign;

CREATE INDEX redemption_campaign ON document
    (COALESCE(json_extract(body, '$.related_object_parent_id'), json_extract(body, '$.voucher.campaign_id')), created_at, seq)
  WHERE kind = 'redemption' AND COALESCE(json_extract(body, '$.related_object_parent_id'), json_extract(body,
    '$.voucher.campaign_id')) IS NOT NULL;
