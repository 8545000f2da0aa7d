//! What a voucher grants, and the rules between its fields: the same for a campaign's configuration and a single voucher.
//! It must not know where the result is stored.

use crate::reply::{ErrorBody, Stop, error, invalid_payload, not_found};
use crate::route::Call;
use crate::shape::{below, shown};
use scrip::wire::Problem;
use scrip::wire::at::read_document;
use scrip::wire::voucher::{read_campaign, read_stored_voucher};
use serde_json::{Map, Value as Json, json};

fn problem(path: &str, text: impl Into<String>) -> ErrorBody {
    Problem::at(path, text).into()
}

/// The type of a voucher: as said, or as what it grants tells.
pub fn voucher_type(voucher: &Map<String, Json>, path: &str) -> Result<&'static str, ErrorBody> {
    let wanted = match voucher.get("type").and_then(Json::as_str) {
        Some("GIFT_VOUCHER") => "GIFT_VOUCHER",
        Some(_) => "DISCOUNT_VOUCHER",
        None if voucher.contains_key("gift") && !voucher.contains_key("discount") => "GIFT_VOUCHER",
        None => "DISCOUNT_VOUCHER",
    };
    let (needed, other) = if wanted == "GIFT_VOUCHER" { ("gift", "discount") } else { ("discount", "gift") };
    if voucher.contains_key(other) {
        return Err(problem(&below(path, other), format!("must NOT be present on a {wanted}")));
    }
    if !voucher.contains_key(needed) {
        return Err(Problem::missing(path, needed).into());
    }
    Ok(wanted)
}

/// Checks what the type of a discount needs.
pub fn check_discount(voucher: &Map<String, Json>, path: &str) -> Result<(), ErrorBody> {
    let Some(discount) = voucher.get("discount").and_then(Json::as_object) else { return Ok(()) };
    let path = below(path, "discount");
    let kind = discount.get("type").and_then(Json::as_str).unwrap_or_default();
    let (needed, others): (&str, &[&str]) = if kind == "AMOUNT" {
        ("amount_off", &["percent_off", "amount_limit"])
    } else {
        ("percent_off", &["amount_off"])
    };
    if !discount.contains_key(needed) {
        return Err(problem(&path, format!("should have required property '{needed}'")));
    }
    for other in others {
        if discount.contains_key(*other) {
            return Err(problem(
                &format!("{path}.{other}"),
                format!("must NOT be present on a discount of type {kind}"),
            ));
        }
    }
    for formula in ["amount_off_formula", "percent_off_formula"] {
        if discount.contains_key(formula) {
            return Err(problem(&format!("{path}.{formula}"), "must NOT be present: formulas are not supported yet"));
        }
    }
    let effect = discount.get("effect").and_then(Json::as_str).unwrap_or_default();
    if kind == "PERCENT" && !matches!(effect, "" | "APPLY_TO_ORDER" | "APPLY_TO_ITEMS") {
        let told = format!(
            "must be one of APPLY_TO_ORDER, APPLY_TO_ITEMS for a discount of type PERCENT (actual value is `{effect}`)"
        );
        return Err(problem(&format!("{path}.effect"), told));
    }
    Ok(())
}

/// Completes a gift card: what it holds at first is its amount. Gives what is missing from the amount, when the caller says so.
pub fn complete_gift(voucher: &mut Map<String, Json>, path: &str, may_differ: bool) -> Result<i64, ErrorBody> {
    let Some(gift) = voucher.get_mut("gift").and_then(Json::as_object_mut) else { return Ok(0) };
    let amount = gift.get("amount").and_then(Json::as_i64).unwrap_or(0);
    let balance = gift.remove("balance").and_then(|balance| balance.as_i64()).unwrap_or(amount);
    if balance > amount {
        return Err(problem(
            &below(path, "gift.balance"),
            format!("must be <= {amount}, the amount of the card (actual value is `{balance}`)"),
        ));
    }
    if balance != amount && !may_differ {
        return Err(problem(
            &below(path, "gift.balance"),
            format!("must be {amount}, the amount of the card (actual value is `{balance}`)"),
        ));
    }
    gift.entry("effect").or_insert_with(|| json!("APPLY_TO_ORDER"));
    Ok(amount.saturating_sub(balance))
}

/// Checks the rules between the dates of a campaign or a voucher.
pub fn check_validity(body: &Map<String, Json>) -> Result<(), ErrorBody> {
    let text = |name: &str| body.get(name).and_then(Json::as_str);
    if body.get("validity_timeframe").is_some_and(Json::is_object) && text("start_date").is_none() {
        return Err(problem("", "must have required property 'start_date' when validity_timeframe is sent"));
    }
    let moment = |name: &str| text(name).and_then(crate::moment::parse);
    if let (Some(start), Some(end)) = (moment("start_date"), moment("expiration_date"))
        && end <= start
    {
        let told = format!(
            "must be later than start_date (actual value is `{}`)",
            text("expiration_date").unwrap_or_default()
        );
        return Err(problem("expiration_date", told));
    }
    let hours = body.get("validity_hours").and_then(|hours| hours.get("daily")).and_then(Json::as_array);
    for (index, daily) in hours.into_iter().flatten().enumerate() {
        let clock = |name: &str| daily.get(name).and_then(Json::as_str).unwrap_or_default();
        if clock("expiration_time") < clock("start_time") {
            let place = format!("validity_hours.daily[{index}].expiration_time");
            return Err(problem(
                &place,
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
pub fn settle_category(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), Stop> {
    let name = body.remove("category").filter(|value| !value.is_null());
    let id = body.remove("category_id").filter(|value| !value.is_null());
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
        read_document(&Json::Object(campaign.clone()).to_string(), read_campaign)?;
    }
    read_stored_voucher(&Json::Object(voucher.clone()).to_string()).map_err(|problem| {
        let is_grant = problem.path.starts_with("discount") || problem.path.starts_with("gift");
        if is_grant && !grant_path.is_empty() { problem.within(grant_path) } else { problem }
    })?;
    Ok(())
}

/// A campaign type or voucher type that exists in the interface and not yet here.
pub fn not_supported(path: &str, supported: &str, value: &Json) -> ErrorBody {
    let told = format!(
        "Property {path} must be one of {supported} (actual value is `{}`); other types are not supported yet",
        shown(value).trim_matches('"')
    );
    error(400, "invalid_payload", "Invalid payload", told)
}
