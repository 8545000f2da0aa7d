//! Checks the definition of a voucher, in a campaign's configuration and in a single voucher: its grant and the rules between its fields.

use crate::domain::categories;
use crate::http::reply::{CallError, ErrorBody, not_found};
use crate::http::route::{Call, RequestBody};
use crate::http::shape::below;
use crate::store::Store;
use crate::store::document::DocumentBody;
use crate::store::records::{DiscountRecord, PointsRecord, ValidityRecord, VoucherConfig};
use scrip::model::discount::SHIPPING;
use scrip::rules::Collection;
use scrip::time::{DayBound, TimeZone};
use scrip::wire::Node;
use scrip::wire::Problem;
use scrip::wire::cursor::read_node;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::loyalty_campaign_expiration::read_expiration_rules;
use scrip::wire::offer::read_discount;
use scrip::wire::problem::shortened;
use scrip::wire::voucher::{read_campaign, read_voucher};
use serde_json::{Value as Json, json};

/// Types of vouchers, each with the member of its grant.
pub const VOUCHER_TYPES: &[(&str, &str)] =
    &[("DISCOUNT_VOUCHER", "discount"), ("GIFT_VOUCHER", "gift"), ("LOYALTY_CARD", "loyalty_card")];

/// Returns the type of a voucher: as declared, else by its grant.
pub fn voucher_type(voucher: &DocumentBody, path: &str) -> Result<&'static str, Problem> {
    let declared = VoucherConfig::of(voucher).voucher_type();
    let found = VOUCHER_TYPES.iter().find(|(kind, grant)| match declared {
        Some(declared) => declared == *kind,
        None => voucher.contains_key(*grant),
    });
    let (own_type, needed) = found.copied().unwrap_or(("DISCOUNT_VOUCHER", "discount"));
    let other = VOUCHER_TYPES.iter().find(|(kind, grant)| *kind != own_type && voucher.contains_key(*grant));
    if let Some((_, other)) = other {
        return Err(Problem::at(below(path, other), format!("must NOT be present on a {own_type}")));
    }
    if !voucher.contains_key(needed) {
        return Err(Problem::missing(path, needed));
    }
    Ok(own_type)
}

/// Checks a discount with the engine's reader: it has the members of its type and no others.
pub fn check_discount(holder: &DocumentBody, path: &str) -> Result<(), Problem> {
    let Some(discount) = VoucherConfig::of(holder).discount() else { return Ok(()) };
    let path = below(path, "discount");
    let read = Node::of(discount, usize::MAX).and_then(|discount| read_node(&discount, read_discount));
    read.map(drop).map_err(|problem| problem.within(&path))
}

/// Checks that the free units of a discount are products or SKUs; units that are added to ordered ones may be a collection.
pub fn check_free_goods(store: &Store<'_>, holder: &DocumentBody, path: &str) -> Result<(), CallError> {
    let Some(discount) = VoucherConfig::of(holder).discount() else { return Ok(()) };
    let path = below(path, "discount");
    let units = match DiscountRecord::of_value(discount).units() {
        Some(units) => units.iter().enumerate().map(|(at, unit)| (format!("{path}.units[{at}]"), unit)).collect(),
        None => vec![(path, discount)],
    };
    for (path, unit) in units {
        let declared = DiscountRecord::of_value(unit);
        let Some(name) = declared.unit_type().filter(|name| *name != SHIPPING) else { continue };
        let is_sent = |kind: &str| unit.get(kind).is_some_and(Json::is_object);
        let adds_same_items = declared.adds_same_items();
        let kinds: &[&str] = match (is_sent("sku"), is_sent("product")) {
            (true, _) => &["sku"],
            (false, true) => &["product"],
            (false, false) if adds_same_items => &["sku", "product", "products_collection"],
            (false, false) => &["sku", "product"],
        };
        let mut is_known = adds_same_items && name == Collection::EVERYTHING;
        for kind in kinds {
            is_known = is_known || store.document_by_name(kind, name, name)?.is_some();
        }
        if !is_known {
            let kind = kinds.join(" or ").replace("products_collection", "collection");
            let message = format!("must be the id of a stored {kind} (actual value is `{}`)", shortened(name));
            return Err(Problem::at(below(&path, "unit_type"), message).into());
        }
    }
    Ok(())
}

/// Completes a gift card or loyalty card: its initial balance is its amount or points, less the subtracted units. Returns the
/// difference to the sent balance, if the caller may send one.
pub fn complete_card(voucher: &mut DocumentBody, path: &str, may_differ: bool) -> Result<i64, Problem> {
    let mut missing = 0;
    for (name, total, subtracted) in
        [("gift", "amount", "subtracted_amount"), ("loyalty_card", "points", "subtracted_points")]
    {
        let Some(card) = voucher.get_mut(name).and_then(Json::as_object_mut) else { continue };
        check_expiration(PointsRecord::of(card), &below(path, name))?;
        // A sent card has 0 of each number that the caller leaves out.
        let number = |field: &str| card.get(field).and_then(Json::as_i64).unwrap_or(0);
        let (total_units, subtracted_units) = (number(total), number(subtracted));
        let path = below(path, name);
        // Expired points reduce the balance like subtracted points.
        let beyond = || Problem::at(path.clone(), "must have numbers that can be counted together".to_owned());
        let subtracted_units = subtracted_units.checked_add(number("expired_points")).ok_or_else(beyond)?;
        if subtracted_units > total_units {
            let message =
                format!("must be <= {total_units}, the {total} of the card (actual value is `{subtracted_units}`)");
            return Err(Problem::at(below(&path, subtracted), message));
        }
        let left = total_units.checked_sub(subtracted_units).ok_or_else(beyond)?;
        let balance = card.remove("balance").and_then(|balance| balance.as_i64()).unwrap_or(left);
        if balance > left || (balance != left && !may_differ) {
            let bound = if may_differ { "must be <=" } else { "must be" };
            let message = format!("{bound} {left}, the {total} of the card (actual value is `{balance}`)");
            return Err(Problem::at(below(&path, "balance"), message));
        }
        missing = left.checked_sub(balance).ok_or_else(beyond)?;
        if name == "gift" {
            card.entry("effect").or_insert_with(|| json!("APPLY_TO_ORDER"));
        }
    }
    Ok(missing)
}

/// Checks expiration rules of points: points with unreadable rules would never expire.
pub fn check_expiration(declared: PointsRecord<'_>, path: &str) -> Result<(), Problem> {
    let Some(rules) = declared.expiration_members() else { return Ok(()) };
    let read = read_fields(rules, read_expiration_rules).map(drop);
    read.map_err(|problem| problem.within(&below(path, "expiration_rules")))
}

/// Checks the rules between the dates of a campaign or a voucher in `zone`.
pub fn check_validity(body: &DocumentBody, zone: &TimeZone) -> Result<(), Problem> {
    let text = |name: &str| body.get(name).and_then(Json::as_str);
    let validity = ValidityRecord::of(body);
    if validity.has_timeframe() && validity.start_date().is_none() {
        return Err(Problem::at("", "must have required property 'start_date' when validity_timeframe is sent"));
    }
    let time = |(name, bound)| text(name).and_then(|text| zone.read_instant(text, bound));
    if let [Some(start), Some(end)] = DATES.map(time)
        && end <= start
    {
        let message = format!(
            "must be later than start_date (actual value is `{}`)",
            validity.expiration_date().unwrap_or_default()
        );
        return Err(Problem::at("expiration_date", message));
    }
    let hours = validity.daily_hours().and_then(Json::as_array);
    for (index, daily) in hours.into_iter().flatten().enumerate() {
        let clock = |name: &str| daily.get(name).and_then(Json::as_str);
        if let Some(end) = clock("expiration_time").filter(|end| Some(*end) < clock("start_time")) {
            let place = format!("validity_hours.daily[{index}].expiration_time");
            return Err(Problem::at(place, format!("must be >= start_time (actual value is `{end}`)")));
        }
    }
    Ok(())
}

/// Dates of a validity.
const DATES: [(&str, DayBound); 2] = [("start_date", DayBound::Start), ("expiration_date", DayBound::End)];

/// Converts the dates of a body to instants in UTC, as they are stored and returned. A date without a time is the start of that
/// day in `zone` for a start, and its end for an end.
pub fn normalise_dates(body: &mut DocumentBody, zone: &TimeZone) {
    normalise_times(body, zone, &DATES);
}

/// Converts the named dates of a body to instants.
pub fn normalise_times(body: &mut DocumentBody, zone: &TimeZone, dates: &[(&str, DayBound)]) {
    for (name, bound) in dates {
        if let Some(at) = body.get(*name).and_then(Json::as_str).and_then(|text| zone.read_instant(text, *bound)) {
            body.insert((*name).to_owned(), at.text().into());
        }
    }
}

/// Completes the quantity of an update: an object without it changes nothing, and a null object removes the limit.
pub fn normalise_redemption(sent: &mut RequestBody) {
    let Some(redemption) = sent.remove("redemption") else { return };
    let quantity = if redemption.is_null() { Some(&Json::Null) } else { redemption.get("quantity") };
    if let Some(quantity) = quantity {
        sent.insert("redemption".into(), json!({ "quantity": quantity }));
    }
}

/// Finds the category of a body by id or name, and sets both. A name with an id must be the category's own name, as in a
/// response that is sent back. A new name creates a category; a null in an update removes it.
pub fn normalise_category(call: &mut Call<'_, '_>, body: &mut DocumentBody) -> Result<(), CallError> {
    let (name, id) = (body.remove("category"), body.remove("category_id"));
    if name.is_some() || id.is_some() {
        body.insert("category".into(), Json::Null);
        body.insert("category_id".into(), Json::Null);
    }
    let (name, id) = (name.filter(|value| !value.is_null()), id.filter(|value| !value.is_null()));
    let category = match (&name, &id) {
        (None, None) => return Ok(()),
        (Some(name), None) => {
            let name = name.as_str().unwrap_or_default();
            if name.trim().is_empty() {
                return Err(Problem::bound("category", "must NOT be blank", name).into());
            }
            categories::find_or_create(call, name)?
        }
        (name, Some(id)) => {
            let id = id.as_str().unwrap_or_default();
            let found = categories::find(call, id)?.ok_or_else(|| not_found("category", id))?;
            if let Some(name) = name.as_ref().filter(|name| found.as_category().name() != name.as_str()) {
                let bound = format!("must be the name of the category `{}` where both are sent", found.id);
                return Err(Problem::bound("category", &bound, name.as_str().unwrap_or_default()).into());
            }
            found
        }
    };
    body.insert("category".into(), category.as_category().name().into());
    body.insert("category_id".into(), category.id.into());
    Ok(())
}

/// Refuses a voucher that the engine cannot read: it could never be redeemed.
pub fn check_readable(
    campaign: Option<&DocumentBody>,
    voucher: &DocumentBody,
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

/// Refuses a campaign that the engine cannot read.
pub fn check_campaign(campaign: &DocumentBody) -> Result<(), Problem> {
    read_fields(campaign, read_campaign).map(drop)
}
