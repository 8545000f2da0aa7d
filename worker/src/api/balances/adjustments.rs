//! Manual adjustments of gift cards and loyalty cards. Additions raise the total that the card ever had, deductions are counted
//! separately, and each change is stored as a transaction. Redeemed amounts come only from the ledger.

use crate::documents::common_fields::KEY;
use crate::documents::shapes;
use crate::domain::balances::adjustments::{change_refusal, move_balance, record_balance_change};
use crate::domain::balances::kinds::BALANCE_KINDS;
use crate::domain::balances::points;
use crate::domain::balances::transactions::check_new;
use crate::domain::clock;
use crate::domain::clock::LocalTime;
use crate::domain::vouchers::voucher;
use crate::domain::vouchers::voucher::find_card;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Response, Route, post};
use crate::http::shape::{Field, FieldType, INT_MAX, Nulls, may, must};
use crate::store::document::Document;
use crate::store::records::TransactionRecord;
use crate::store::sql::Fault;
use scrip::points::Expiration;
use scrip::time::{DayBound, Instant};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const SOURCE_ID: Field = may("source_id", KEY).description("Identifier of the change in the caller's system, unique per card. A second change with the same value is refused with `duplicate_found`.");

const AMOUNT: &[Field] = &[
    must("amount", FieldType::Int(-INT_MAX, INT_MAX))
        .description("Amount to add to the card, negative to subtract: minor units on a gift card, points on a loyalty card. Zero is refused."),
    SOURCE_ID,
    may("reason", FieldType::Text).description("Reason of the change, stored in the transaction."),
];

const POINTS: &[Field] = &[
    must("points", FieldType::Int(-INT_MAX, INT_MAX))
        .description("Number of points to add to the card, negative to subtract. Zero is refused."),
    may("expiration_type", FieldType::OneOf(&["PROGRAM_RULES", "CUSTOM_DATE", "NON_EXPIRING"]))
        .description("Expiration of added points: by the rules of the campaign, on `expiration_date`, or never. Default `PROGRAM_RULES`."),
    may("expiration_date", FieldType::DateTime)
        .description("Last day on which added points can be spent, today or later in the project's time zone. Required by `CUSTOM_DATE`, refused otherwise."),
    SOURCE_ID,
    may("reason", FieldType::Text).description("Reason of the change, stored in the transaction."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/vouchers/{code}/balance", "Adjust the balance of a card", change_amount)
        .describe(
            "adjustVoucherBalance",
            "Adds to the balance of a gift card or a loyalty card, or subtracts from the balance, and records one transaction. Units that a session has locked cannot be subtracted. The webhook event `voucher.gift.balance_added` or `voucher.loyalty_card.points_added` follows. An amount out of bounds, and a voucher without a balance, is refused with `invalid_add_balance_params`. A `source_id` of an earlier transaction of the card is refused with `duplicate_found`.",
        )
        .returns("The change, the balance after the change, and the total ever loaded.")
        .scope("vouchers")
        .body(AMOUNT)
        .answers(200, shapes::vouchers::BALANCE),
    post("/v1/loyalties/members/{memberId}/balance", "Adjust the points of a loyalty card", change_points)
        .describe(
            "adjustLoyaltyCardBalance",
            "Adds points to a loyalty card or subtracts points from the card, and records one transaction. Points that a session has locked cannot be subtracted. The webhook event `voucher.loyalty_card.points_added` follows. Points out of bounds, and a card without a holder, are refused with `invalid_add_balance_params`. A `source_id` of an earlier transaction of the card is refused with `duplicate_found`.",
        )
        .returns("The change, the balance after the change, and the total ever loaded.")
        .scope("loyalties")
        .body(POINTS)
        .answers(200, shapes::vouchers::BALANCE),
    post("/v1/loyalties/{campaignId}/members/{memberId}/balance", "Adjust the points of a campaign's loyalty card", change_points)
        .describe(
            "adjustLoyaltyCampaignMemberBalance",
            "Adds points to a loyalty card of the named campaign or subtracts points from the card, and records one transaction. Points that a session has locked cannot be subtracted. The webhook event `voucher.loyalty_card.points_added` follows. Points out of bounds, and a card without a holder, are refused with `invalid_add_balance_params`, a card of another campaign with `not_found`.",
        )
        .returns("The change, the balance after the change, and the total ever loaded.")
        .scope("loyalties")
        .body(POINTS)
        .answers(200, shapes::vouchers::BALANCE),
];

fn change_amount(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = voucher::find(call)?;
    apply_change(call, card, "amount")
}

fn change_points(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = find_card(call)?;
    apply_change(call, card, "points")
}

/// Returns the expiration of added points: by the rules of the campaign, on a given day, or never. Deductions have none.
fn expiration(call: &Call<'_, '_>, sent: &Map<String, Json>, card: &Document) -> Result<Expiration, CallError> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str);
    let is_custom = text("expiration_type") == Some("CUSTOM_DATE");
    let zone = clock::zone(call)?;
    let end_of_day = |text| zone.read_instant(text, DayBound::End).map(Instant::millis);
    let Some(date) = text("expiration_date").and_then(end_of_day) else {
        return match text("expiration_type") {
            Some("CUSTOM_DATE") => Err(Problem::missing("", "expiration_date").into()),
            Some("NON_EXPIRING") => Ok(Expiration::Never),
            _ => Ok(points::find_expiration(call.store, card)?),
        };
    };
    let date_sent = text("expiration_date").unwrap_or_default();
    let problem = |message: &str| Problem::bound("expiration_date", message, date_sent);
    if !is_custom {
        return Err(problem("must NOT be present where expiration_type is not CUSTOM_DATE").into());
    }
    points::expiration_at_end_of_day(&LocalTime::of(call)?, date)
        .ok_or_else(|| problem("must NOT lie before today").into())
}

/// Changes a balance by the amount in a field of the body; locked amounts are never deducted.
fn apply_change(call: &mut Call<'_, '_>, mut card: Document, field: &str) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let delta = sent.get(field).and_then(Json::as_i64).ok_or_else(|| Fault(format!("a request has no `{field}`")))?;
    let balance_kind =
        BALANCE_KINDS.iter().find(|balance_kind| card.body.get(balance_kind.block).is_some_and(Json::is_object));
    let balance_kind = balance_kind.ok_or_else(|| {
        let kind = card.as_voucher().voucher_type().unwrap_or_default();
        change_refusal(format!("A GIFT_VOUCHER or a LOYALTY_CARD has a balance (the type of this voucher is `{kind}`)"))
    })?;
    if balance_kind.block == "loyalty_card" && card.holder.is_none() {
        return Err(
            change_refusal("A LOYALTY_CARD must be held by a customer before its balance changes".into()).into()
        );
    }
    if delta == 0 {
        return Err(change_refusal(format!("Property .{field} must NOT be 0 (actual value is `0`)")).into());
    }
    check_new(call.store, &card, TransactionRecord::of(&sent).source_id())?;
    let expiration = expiration(call, &sent, &card)?;
    let (total, balance) = move_balance(call, &mut card, balance_kind, delta, field, &expiration)?;
    call.touch(&mut card);
    call.store.update(voucher::VOUCHER.object, &card);
    let mut json = json!({
        "total": total, "balance": balance, "type": balance_kind.kind, "operation_type": "MANUAL", "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    });
    if let Some(json) = json.as_object_mut() {
        json.insert(field.into(), delta.into());
    }
    let action = if delta > 0 { "ADDITION" } else { "REMOVAL" };
    let request = TransactionRecord::of(&sent);
    let source_and_reason = [request.source_id(), request.reason()].map(Json::from);
    record_balance_change(call, &card, format!("{}_{action}", balance_kind.unit), source_and_reason, &json);
    Ok(Response::json(json))
}
