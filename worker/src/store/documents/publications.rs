//! Queries of publications, and the columns of their list.

use crate::store::Store;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;
use crate::store::document_rows::select;
use crate::store::sql::Fault;

/// Column of a publication's voucher. A publication of several codes has no voucher: its campaign has their type.
macro_rules! of_voucher {
    ($path:literal) => {
        concat!(
            "COALESCE(json_extract(body, '$.voucher.",
            $path,
            "'),
               (SELECT json_extract(campaign.body, '$.voucher.",
            $path,
            "') FROM document AS campaign
                WHERE campaign.kind = 'campaign' AND campaign.id = document.parent))"
        )
    };
}

/// Code of the first voucher.
pub const VOUCHER_CODE: &str = "COALESCE(json_extract(body, '$.voucher.code'), json_extract(body, '$.vouchers[0]'))";

/// Customer of a publication.
pub const CUSTOMER_ID: &str = member!("customer_id");

/// Type of the vouchers.
pub const VOUCHER_TYPE: &str = concat!(
    "CASE ",
    of_voucher!("type"),
    " WHEN 'LOYALTY_CARD' THEN 'loyalty' WHEN 'GIFT_VOUCHER' THEN 'gift' ELSE 'discount' END"
);

/// 1 for referral codes.
pub const IS_REFERRAL_CODE: &str = of_voucher!("is_referral_code");

/// True for referral codes, as a column of a filter.
pub const REFERRAL_CODE_FLAG: &str = concat!("flag ", of_voucher!("is_referral_code"));

/// Name of the campaign, as it was at the publication.
pub const CAMPAIGN_NAME: &str = "COALESCE(json_extract(body, '$.voucher.campaign'),
               (SELECT json_extract(campaign.body, '$.name') FROM document AS campaign
                WHERE campaign.kind = 'campaign' AND campaign.id = document.parent))";

/// Narrows a list of publications to those of a voucher.
pub fn narrow_to_voucher(clause: &mut Clause, voucher_id: &str) {
    let condition = "id IN (SELECT publication FROM published WHERE voucher = {})";
    clause.and_narrow("document_id", condition, voucher_id);
}

/// Finds the first publication to a customer of a campaign, or of a voucher without one.
pub fn find_first(store: &Store<'_>, parent_id: &str, customer_id: &str) -> Result<Option<Document>, Fault> {
    let statement = select("kind = 'publication' AND holder = +?1 AND parent = +?2 ORDER BY seq LIMIT 1");
    Ok(store.documents(&statement, &[customer_id.into(), parent_id.into()])?.into_iter().next())
}
