-- Holders of referral codes from before holders had rows of their own.
INSERT INTO document (kind, id, key, parent, holder, created_at, body)
  SELECT 'redeemable_holder', 'rh_' || lower(hex(substr(code.id, 3, 9))), code.id || '/' || code.holder, code.id, code.holder,
    COALESCE(code.updated_at, code.created_at), json_object(
      'id', 'rh_' || lower(hex(substr(code.id, 3, 9))),
      'created_at', COALESCE(json_extract(code.body, '$.updated_at'), json_extract(code.body, '$.created_at')),
      'redeemable_id', code.id, 'redeemable_object', 'voucher', 'customer_id', code.holder, 'holder_role', 'REFERRER',
      'campaign_id', campaign.id, 'campaign_type', 'REFERRAL_PROGRAM', 'voucher_type', json_extract(code.body, '$.type'),
      'metadata', json('{}'), 'object', 'redeemable_holder')
  FROM document AS campaign JOIN document AS code ON code.kind = 'voucher' AND code.parent = campaign.id
  WHERE campaign.kind = 'campaign' AND json_extract(campaign.body, '$.campaign_type') = 'REFERRAL_PROGRAM'
    AND json_extract(code.body, '$.referrer_id') = code.holder;
