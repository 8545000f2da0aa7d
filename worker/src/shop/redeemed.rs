//! What a redemption shows of its voucher or tier where that is expanded: what the service keeps beside the document. It must not
//! know what was redeemed of it.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::tiers::{self, TIER};
use crate::shop::vouchers::{self, VOUCHER};
use scrip::ledger::Entry;
use scrip::model::incentive::IncentiveObject;

/// Images, rules and counts of a voucher or tier, printed, as they stand after what the request moves.
pub fn stored(
    call: &mut Call<'_, '_>,
    (object, id): (IncentiveObject, &str),
    moved: &[Entry],
) -> Result<Vec<(&'static str, String)>, CallError> {
    let (resource, names) = match object {
        IncentiveObject::Voucher => (&VOUCHER, ["assets", "publish", "validation_rules_assignments"]),
        IncentiveObject::PromotionTier => (&TIER, ["campaign", "summary", "validation_rule_assignments"]),
    };
    let Some(document) = call.store.document(resource.object, id)? else { return Ok(Vec::new()) };
    let shown = match object {
        IncentiveObject::Voucher => vouchers::show_moved(call, document, moved, false)?,
        IncentiveObject::PromotionTier => tiers::show_moved(call, vec![document], moved)?.pop().unwrap_or_default(),
    };
    Ok(names.into_iter().filter_map(|name| Some((name, shown.get(name)?.to_string()))).collect())
}
