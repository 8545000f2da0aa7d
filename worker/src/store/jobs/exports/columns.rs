//! Columns of exports that are looked up in other rows than the exported document. The word `each` marks a list of values.

use crate::store::document_list::index::{campaign_name_of_redemption, campaign_of_redemption};
use crate::store::ledger::account_of;
use scrip::facts::redemptions_account;

/// The creation time of a document with leading zeros, so that its text orders like the number.
pub const PADDED_AGE: &str = "printf('%015d', created_at)";

/// True for a redemption that succeeded, and for a transaction that is not a redemption.
pub const HAS_SUCCEEDED: &str = "COALESCE(json_extract(body, '$.result'), 'SUCCESS') = 'SUCCESS'";

/// True for a voucher that is a loyalty card.
pub const IS_LOYALTY_CARD: &str = "json_type(body, '$.loyalty_card') = 'object'";

/// True for a document that is not disabled.
pub const IS_ACTIVE: &str = "flag COALESCE(json_extract(body, '$.active'), 1)";

/// The campaign of a redemption, by name and by id.
pub const CAMPAIGN_OF_REDEMPTION: &str =
    concat!("each json_array(", campaign_name_of_redemption!(), ", ", campaign_of_redemption!(), ")");

/// The holder of a document, by id and by `source_id`.
pub const HOLDER_NAMES: &str = "each json_array(holder, (SELECT json_extract(known.body, '$.source_id') FROM document AS known WHERE known.kind = 'customer' AND known.id = document.holder))";

/// The name of the campaign that a document belongs to.
pub const CAMPAIGN_NAME: &str =
    "(SELECT of.key FROM document AS of WHERE of.kind = 'campaign' AND of.id = document.parent)";

/// The campaign that a document belongs to, by id and by name.
pub const CAMPAIGN_NAMES: &str = "each json_array(document.parent, (SELECT of.key FROM document AS of WHERE of.kind = 'campaign' AND of.id = document.parent))";

/// The campaign of the card that a document belongs to.
pub const CAMPAIGN_OF_CARD: &str =
    "(SELECT card.parent FROM document AS card WHERE card.kind = 'voucher' AND card.id = document.parent)";

/// The type of the published vouchers, in both words that documents have for it.
pub const PUBLISHED_TYPE: &str = "each (SELECT CASE type WHEN 'LOYALTY_CARD' THEN json_array(type, 'loyalty')
     WHEN 'GIFT_VOUCHER' THEN json_array(type, 'gift') ELSE json_array('DISCOUNT_VOUCHER', 'discount') END
   FROM (SELECT COALESCE(json_extract(document.body, '$.voucher.type'), (SELECT json_extract(campaign.body, '$.voucher.type')
     FROM document AS campaign WHERE campaign.kind = 'campaign' AND campaign.id = document.parent)) AS type))";

/// The customers that a voucher was published to.
pub const PUBLISHED_TO: &str =
    "each (SELECT json_group_array(given.holder) FROM document AS given WHERE given.kind = 'publication'
   AND given.parent IN (document.id, document.parent)
   AND EXISTS (SELECT 1 FROM json_each(given.body, '$.vouchers_id') AS named WHERE named.value = document.id))";

/// The time of the last publication to a customer.
pub const LAST_PUBLICATION: &str =
    "(SELECT MAX(json_extract(given.body, '$.created_at')) FROM document AS given WHERE given.kind = 'publication'
   AND given.holder = document.id)";

/// The vouchers that were published to a customer, and their campaigns.
pub const PUBLISHED_OBJECTS: &str = "each (SELECT json_group_array(named.value) FROM document AS given,
   json_each(json_insert(json_extract(given.body, '$.vouchers_id'), '$[#]', given.parent)) AS named
   WHERE given.kind = 'publication' AND given.holder = document.id)";

/// Returns the column of a member of the metadata. The name must not have quotes.
pub fn metadata_member(name: &str) -> String {
    format!("json_extract(body, '$.metadata.\"{name}\"')")
}

/// Returns the column of the redemption status of a voucher.
pub fn redemption_status() -> String {
    let redeemed = account_of(redemptions_account, "document.id");
    format!(
        "each (SELECT CASE WHEN taken = 0 THEN json_array('not_redeemed')
           WHEN taken >= json_extract(document.body, '$.redemption.quantity') THEN json_array('redeemed', 'fully_redeemed')
           ELSE json_array('redeemed', 'partially_redeemed') END
         FROM (SELECT -COALESCE((SELECT balance FROM account WHERE account.id = {redeemed}), 0) AS taken))"
    )
}
