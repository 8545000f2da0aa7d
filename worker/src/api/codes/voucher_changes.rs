//! Vouchers changed and deleted. What a voucher is worth to whom has it changes only by its discount, and its balance elsewhere.
//! It must not know how a redemption is decided.

use crate::document::fields::{DISCOUNT, KEY, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME, VOUCHER_TYPE};
use crate::document::merge;
use crate::document::shapes;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Answer, Call, Outcome, Route, delete, put};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::shop::vouchers::{self, VOUCHER};
use crate::shop::{bin, voucher_grant, voucher_removal};
use serde_json::{Map, Value as Json};

const UPDATE: &[Field] = &[
    may("category", KEY),
    may("category_id", KEY),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("active", Kind::Bool),
    may("additional_info", Kind::Text),
    may("metadata", Kind::Map),
    may("type", VOUCHER_TYPE),
    may("discount", DISCOUNT),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    put("/v1/vouchers/{code}", "Update a voucher", update).of(&VOUCHER).scope("vouchers").body(UPDATE),
    delete("/v1/vouchers/{code}", "Delete a voucher", remove)
        .of(&VOUCHER)
        .scope("vouchers")
        .query(&[may("force", Kind::Bool)])
        .answers(204, shapes::EMPTY),
];

fn invalid(details: &str) -> ErrorBody {
    error(400, "invalid_voucher", "Invalid Voucher", details)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let mut voucher = vouchers::find(call)?;
    check_type(&voucher.body, &mut sent)?;
    voucher_grant::check_discount(&sent, "")?;
    voucher_grant::settle_dates(&mut sent);
    voucher_grant::settle_category(call, &mut sent)?;
    if sent.get("active").is_some_and(Json::is_null) {
        sent.remove("active");
    }
    let metadata_sent = sent.contains_key("metadata");
    merge::merge(&mut voucher.body, sent);
    voucher_grant::check_validity(&voucher.body)?;
    if metadata_sent {
        let campaign = voucher.parent.as_deref().map(|id| call.store.document("campaign", id)).transpose()?;
        vouchers::check_metadata(call, campaign.flatten().as_ref(), voucher.body.get("metadata"))?;
    }
    voucher_grant::check_readable(None, &voucher.body, "")?;
    call.touch(&mut voucher);
    call.store.update(VOUCHER.object, &voucher);
    Ok(Answer::json(VOUCHER.show_one(call, voucher)?))
}

/// A voucher stays of its type, and its discount of its own.
fn check_type(known: &Map<String, Json>, sent: &mut Map<String, Json>) -> Result<(), CallError> {
    let kind = sent.remove("type").filter(|kind| !kind.is_null());
    if kind.is_some_and(|kind| known.get("type") != Some(&kind)) {
        return Err(invalid("It is not possible to change Voucher type").into());
    }
    match sent.get("discount") {
        Some(Json::Null) => drop(sent.remove("discount")),
        Some(discount) if discount.get("type") != known.get("discount").and_then(|discount| discount.get("type")) => {
            return Err(invalid("It is not possible to change Voucher discount type").into());
        }
        _ => {}
    }
    Ok(())
}

/// The voucher is gone at once, with its rules and locks; what was redeemed of it stays written down.
fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let voucher = vouchers::find(call)?;
    let code = voucher.body.get("code").and_then(Json::as_str).unwrap_or_default().to_owned();
    bin::throw(call, VOUCHER.object, &voucher, &code);
    voucher_removal::remove(call, &voucher);
    Ok(Answer::empty(204))
}
