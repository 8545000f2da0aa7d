//! Changes and deletion of vouchers. A change can set the discount of a voucher; its balance changes by other
//! operations.

use crate::documents::common_fields::{
    DISCOUNT, KEY, REDEMPTION, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME, VOUCHER_TYPE,
};
use crate::documents::merge;
use crate::documents::shapes;
use crate::domain::vouchers::voucher;
use crate::domain::vouchers::voucher::VOUCHER;
use crate::domain::vouchers::{definition, deletion};
use crate::domain::{clock, trash_bin, visibility};
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, put};
use crate::http::shape::{Field, FieldType, Nulls, may};
use crate::store::records::VoucherRecord;
use scrip::wire::voucher::VISIBILITY;
use serde_json::{Map, Value as Json};

const UPDATE: &[Field] = &[
    may("category", KEY)
        .description("Name of the category of the voucher. A category that does not exist is created; `null` removes the voucher from its category."),
    may("category_id", KEY)
        .description("ID of the category of the voucher. The category must exist; `null` removes the voucher from its category."),
    may("start_date", FieldType::DateTime)
        .description("Moment from which the voucher can be redeemed, in UTC. `null` removes this bound."),
    may("expiration_date", FieldType::DateTime)
        .description("Moment after which the voucher can no longer be redeemed, in UTC. `null` means no end."),
    may("validity_timeframe", VALIDITY_TIMEFRAME)
        .description("Recurring windows in which the voucher can be redeemed, counted from its `start_date`. `null` means at any time."),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK)
        .description("Weekdays on which the voucher can be redeemed, from 0 for Sunday to 6 for Saturday. `null` means every day."),
    may("validity_hours", VALIDITY_HOURS)
        .description("Hours of the day in which the voucher can be redeemed. `null` means at any time."),
    may("active", FieldType::Bool).description("`true` if the voucher can be redeemed. `null` leaves the state as is."),
    may("additional_info", FieldType::Text)
        .description("Note of the merchant on the voucher. `null` removes the note."),
    may("visibility", VISIBILITY)
        .description("Disclosure to clients of a voucher without a campaign while it is in force: `public`, `sealed` or `server`. `null` means the default. Refused within a campaign, whose setting applies."),
    may("metadata", FieldType::Map),
    may("type", VOUCHER_TYPE).description("Type of the voucher. Only the current type is accepted."),
    may("discount", DISCOUNT).description("Discount that replaces the present one. Its `type` must stay the same."),
    may("redemption", REDEMPTION)
        .description("Limit on the redemptions of the voucher. `null` removes the limit; an object without `quantity` changes no limit."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    put("/v1/vouchers/{code}", "Update a voucher", update)
        .describe(
            "updateVoucher",
            "Changes the fields that are sent; `null` clears a field, and metadata is merged key by key. The balance of a card is changed by operations of its own. The webhook event `voucher.updated` follows. Another type of voucher or discount is refused with `invalid_voucher`, an inconsistent body with `invalid_payload`.",
        )
        .returns("The voucher after the change.")
        .of(&VOUCHER)
        .scope("vouchers")
        .body(UPDATE),
    delete("/v1/vouchers/{code}", "Delete a voucher", remove)
        .describe(
            "deleteVoucher",
            "Deletes the voucher with its validation rules, holders and locks; its redemptions stay on record. Unless `force` is `true`, the voucher moves to the trash bin and its code stays taken. The webhook event `voucher.deleted` follows. An unknown code or ID is refused with `not_found`.",
        )
        .returns("No content. The voucher is deleted.")
        .of(&VOUCHER)
        .scope("vouchers")
        .query(&[may("force", FieldType::Bool).description("`true` to bypass the trash bin, so that the code can be used again at once. Default `false`.")])
        .answers(204, shapes::EMPTY),
];

fn invalid(details: &str) -> ErrorBody {
    error(400, "invalid_voucher", "Invalid Voucher", details)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::KeptOnTop)?;
    let mut voucher = voucher::find(call)?;
    check_type(&voucher.body, &mut sent)?;
    visibility::check_voucher(VoucherRecord::of(&sent).visibility(), voucher.parent.is_some())?;
    definition::check_discount(&sent, "")?;
    definition::check_free_goods(call.store, &sent, "")?;
    let zone = clock::zone(call)?;
    definition::normalise_dates(&mut sent, &zone);
    definition::normalise_redemption(&mut sent);
    definition::normalise_category(call, &mut sent)?;
    if sent.get("active").is_some_and(Json::is_null) {
        sent.remove("active");
    }
    let metadata_sent = sent.contains_key("metadata");
    merge::merge_cleared(&mut voucher.body, sent);
    definition::check_validity(&voucher.body, &zone)?;
    if metadata_sent {
        let campaign = voucher.parent.as_deref().map(|id| call.store.document("campaign", id)).transpose()?;
        voucher::check_metadata(call, campaign.flatten().as_ref(), voucher.as_voucher())?;
    }
    definition::check_readable(None, &voucher.body, "")?;
    call.touch(&mut voucher);
    call.store.update(VOUCHER.object, &voucher);
    Ok(Response::json(VOUCHER.one_to_json(call, voucher)?))
}

/// Refuses changes of the type of a voucher, and of the type of its discount.
fn check_type(known: &Map<String, Json>, sent: &mut Map<String, Json>) -> Result<(), CallError> {
    let known = VoucherRecord::of(known);
    let kind = sent.remove("type").filter(|kind| !kind.is_null());
    if kind.is_some_and(|kind| known.voucher_type() != kind.as_str()) {
        return Err(invalid("It is not possible to change Voucher type").into());
    }
    match sent.get("discount") {
        Some(Json::Null) => drop(sent.remove("discount")),
        Some(discount) if discount.get("type") != known.discount_type() => {
            return Err(invalid("It is not possible to change Voucher discount type").into());
        }
        _ => {}
    }
    Ok(())
}

/// Deletes the voucher at once, with its rules and locks; its redemptions stay stored.
fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let voucher = voucher::find(call)?;
    let code = voucher.as_voucher().code().unwrap_or_default().to_owned();
    trash_bin::move_to_trash(call, VOUCHER.object, &voucher, &code);
    deletion::delete(call, &voucher);
    Ok(Response::empty(204))
}
