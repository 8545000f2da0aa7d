//! What a voucher grants, and the rules between its fields: the same for a campaign's configuration and a single voucher.
//! It must not know where the result is stored.

use crate::http::reply::{CallError, ErrorBody, invalid_payload, not_found};
use crate::http::route::Call;
use crate::http::shape::below;
use scrip::wire::Node;
use scrip::wire::Problem;
use scrip::wire::cursor::read_node;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::program_expiration::read_expiration_rules;
use scrip::wire::offer::read_discount;
use scrip::wire::voucher::{read_campaign, read_voucher};
use serde_json::{Map, Value as Json, json};

/// The types of vouchers, and the field that says what each grants.
pub const VOUCHER_TYPES: &[(&str, &str)] =
    &[("DISCOUNT_VOUCHER", "discount"), ("GIFT_VOUCHER", "gift"), ("LOYALTY_CARD", "loyalty_card")];

/// The type of a voucher: as said, or as what it grants tells.
pub fn voucher_type(voucher: &Map<String, Json>, path: &str) -> Result<&'static str, Problem> {
    let said = voucher.get("type").and_then(Json::as_str);
    let found = VOUCHER_TYPES.iter().find(|(kind, grant)| match said {
        Some(said) => said == *kind,
        None => voucher.contains_key(*grant),
    });
    let (wanted, needed) = found.copied().unwrap_or(("DISCOUNT_VOUCHER", "discount"));
    let other = VOUCHER_TYPES.iter().find(|(kind, grant)| *kind != wanted && voucher.contains_key(*grant));
    if let Some((_, other)) = other {
        return Err(Problem::at(below(path, other), format!("must NOT be present on a {wanted}")));
    }
    if !voucher.contains_key(needed) {
        return Err(Problem::missing(path, needed));
    }
    Ok(wanted)
}

/// Checks a discount as the engine reads it: what its type needs, and nothing that belongs to another type.
pub fn check_discount(holder: &Map<String, Json>, path: &str) -> Result<(), Problem> {
    let Some(discount) = holder.get("discount") else { return Ok(()) };
    let path = below(path, "discount");
    let read = Node::of(discount, usize::MAX).and_then(|discount| read_node(&discount, read_discount));
    read.map(drop).map_err(|problem| problem.within(&path))
}

/// Completes a gift card or a loyalty card: what it holds at first is its amount or its points, less what was taken off
/// by hand. Gives what is missing from that, where the caller may say so.
pub fn complete_card(voucher: &mut Map<String, Json>, path: &str, may_differ: bool) -> Result<i64, Problem> {
    let mut missing = 0;
    for (name, total, subtracted) in
        [("gift", "amount", "subtracted_amount"), ("loyalty_card", "points", "subtracted_points")]
    {
        let Some(card) = voucher.get_mut(name).and_then(Json::as_object_mut) else { continue };
        check_expiration(card, &below(path, name))?;
        let number = |card: &Map<String, Json>, field: &str| card.get(field).and_then(Json::as_i64);
        let whole = number(card, total).unwrap_or(0);
        let path = below(path, name);
        let taken = number(card, subtracted).unwrap_or(0);
        // What was lost to time is gone like what was taken off by hand.
        let taken = taken.saturating_add(number(card, "expired_points").unwrap_or(0));
        if taken > whole {
            let told = format!("must be <= {whole}, the {total} of the card (actual value is `{taken}`)");
            return Err(Problem::at(below(&path, subtracted), told));
        }
        let left = whole.saturating_sub(taken);
        let balance = card.remove("balance").and_then(|balance| balance.as_i64()).unwrap_or(left);
        if balance > left || (balance != left && !may_differ) {
            let bound = if may_differ { "must be <=" } else { "must be" };
            let told = format!("{bound} {left}, the {total} of the card (actual value is `{balance}`)");
            return Err(Problem::at(below(&path, "balance"), told));
        }
        missing = left.saturating_sub(balance);
        if name == "gift" {
            card.entry("effect").or_insert_with(|| json!("APPLY_TO_ORDER"));
        }
    }
    Ok(missing)
}

/// Checks how points are said to lapse: what does not read would let them be spent for ever.
pub fn check_expiration(said: &Map<String, Json>, path: &str) -> Result<(), Problem> {
    let Some(rules) = said.get("expiration_rules").and_then(Json::as_object) else { return Ok(()) };
    let read = read_fields(rules, read_expiration_rules).map(drop);
    read.map_err(|problem| problem.within(&below(path, "expiration_rules")))
}

/// Checks the rules between the dates of a campaign or a voucher.
pub fn check_validity(body: &Map<String, Json>) -> Result<(), Problem> {
    let text = |name: &str| body.get(name).and_then(Json::as_str);
    if body.get("validity_timeframe").is_some_and(Json::is_object) && text("start_date").is_none() {
        return Err(Problem::at("", "must have required property 'start_date' when validity_timeframe is sent"));
    }
    let moment = |name: &str| text(name).and_then(crate::moment::parse);
    if let (Some(start), Some(end)) = (moment("start_date"), moment("expiration_date"))
        && end <= start
    {
        let told = format!(
            "must be later than start_date (actual value is `{}`)",
            text("expiration_date").unwrap_or_default()
        );
        return Err(Problem::at("expiration_date", told));
    }
    let hours = body.get("validity_hours").and_then(|hours| hours.get("daily")).and_then(Json::as_array);
    for (index, daily) in hours.into_iter().flatten().enumerate() {
        let clock = |name: &str| daily.get(name).and_then(Json::as_str).unwrap_or_default();
        if clock("expiration_time") < clock("start_time") {
            let place = format!("validity_hours.daily[{index}].expiration_time");
            return Err(Problem::at(
                place,
                format!("must be >= start_time (actual value is `{}`)", clock("expiration_time")),
            ));
        }
    }
    Ok(())
}

/// Turns the dates of a body into moments in UTC, as they are stored and shown.
pub fn settle_dates(body: &mut Map<String, Json>) {
    for name in ["start_date", "expiration_date"] {
        if let Some(at) = body.get(name).and_then(Json::as_str).and_then(crate::moment::parse) {
            body.insert(name.into(), crate::moment::text(at).into());
        }
    }
}

/// Finds the category that a body names by id or by name and puts both into it; naming both ways at once is refused.
/// A null, where the body of an update has kept it, takes the category away.
pub fn settle_category(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let (name, id) = (body.remove("category"), body.remove("category_id"));
    if name.is_some() || id.is_some() {
        body.insert("category".into(), Json::Null);
        body.insert("category_id".into(), Json::Null);
    }
    let (name, id) = (name.filter(|value| !value.is_null()), id.filter(|value| !value.is_null()));
    if name.is_some() && id.is_some() {
        return Err(invalid_payload(
            "Property .category must NOT be present together with category_id: send one of the two",
        )
        .into());
    }
    if let Some(wanted) = name.or(id) {
        let wanted = wanted.as_str().unwrap_or_default();
        let found = call.store.document_by_name("category", wanted, wanted)?;
        let found = found.ok_or_else(|| not_found("category", wanted))?;
        body.insert("category".into(), found.body.get("name").cloned().unwrap_or(Json::Null));
        body.insert("category_id".into(), found.id.into());
    }
    Ok(())
}

/// What the engine would not read must not be stored: it could never be redeemed.
pub fn check_readable(
    campaign: Option<&Map<String, Json>>,
    voucher: &Map<String, Json>,
    grant_path: &str,
) -> Result<(), ErrorBody> {
    if let Some(campaign) = campaign {
        check_campaign(campaign)?;
    }
    read_fields(voucher, |at| read_voucher(at, "")).map_err(|problem| {
        let is_grant = VOUCHER_TYPES.iter().any(|(_, grant)| problem.path.starts_with(grant));
        if is_grant && !grant_path.is_empty() { problem.within(grant_path) } else { problem }
    })?;
    Ok(())
}

/// A campaign that the engine would not read must not be stored.
pub fn check_campaign(campaign: &Map<String, Json>) -> Result<(), Problem> {
    read_fields(campaign, read_campaign).map(drop)
}
