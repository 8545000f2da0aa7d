//! What incentives and rewards give, when it is saved: goods of the catalogue, codes of campaigns and points of cards must be there, and
//! fit. It must not know when anything is given.

use crate::http::reply::{CallError, not_found};
use crate::http::route::Call;
use crate::http::shape::shown;
use crate::shop::lives::{self, CARD_DEFINITION};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// A text of an object; the empty one where there is none.
pub fn text<'b>(object: &'b Map<String, Json>, name: &str) -> &'b str {
    object.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// Checks that the card definition that an object names is there.
pub fn check_card(call: &Call<'_, '_>, object: &Map<String, Json>) -> Result<(), CallError> {
    let id = text(object, "card_definition_id");
    match lives::named(call.store, &CARD_DEFINITION, id)? {
        Some(_) => Ok(()),
        None => Err(not_found(&CARD_DEFINITION.resource_type(), id).into()),
    }
}

/// Checks goods of the catalogue, and names them by their ids.
pub fn settle_material(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(material) = body.get_mut("material").and_then(Json::as_object_mut) else { return Ok(()) };
    if let Some(given) = material.get_mut("product").and_then(Json::as_object_mut) {
        let id = product(call, text(given, "id"))?;
        given.insert("id".into(), id.into());
    }
    if let Some(given) = material.get_mut("sku").and_then(Json::as_object_mut) {
        let product_id = product(call, text(given, "product_id"))?;
        let name = text(given, "id");
        let sku = call.store.document_by_name("sku", name, name)?;
        let sku = sku.filter(|sku| text(&sku.body, "product_id") == product_id);
        let sku = sku.ok_or_else(|| not_found("sku", name))?;
        given.insert("product_id".into(), product_id.into());
        given.insert("id".into(), sku.id.into());
    }
    Ok(())
}

fn product(call: &Call<'_, '_>, name: &str) -> Result<String, CallError> {
    let product = call.store.document_by_name("product", name, name)?;
    Ok(product.ok_or_else(|| not_found("product", name))?.id)
}

/// Checks codes of campaigns and points of cards. The campaign is named by its id, and must hand out what the type says.
pub fn settle_digital(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(digital) = body.get_mut("digital").and_then(Json::as_object_mut) else { return Ok(()) };
    let kind = text(digital, "type").to_owned();
    let block = kind.to_ascii_lowercase();
    let Some(given) = digital.get_mut(&block).and_then(Json::as_object_mut) else { return Ok(()) };
    if kind == "LOYALTY_CARD_POINTS" {
        return check_card(call, given);
    }
    let name = text(given, "campaign_id");
    let campaign = call.store.document_by_name("campaign", name, name)?;
    let campaign = campaign.ok_or_else(|| not_found("campaign", name))?;
    let found = text(&campaign.body, "campaign_type");
    if found != kind {
        let told = format!("must name a campaign of the type {kind} (actual value is `{found}`)");
        return Err(Problem::at(format!("digital.{block}.campaign_id"), told).into());
    }
    given.insert("campaign_id".into(), campaign.id.into());
    Ok(())
}

/// Refuses a list that has something twice.
pub fn check_unique(items: &[Json], path: &str) -> Result<(), Problem> {
    let is_twice = |(at, item): &(usize, &Json)| items.iter().take(*at).any(|other| other == *item);
    match items.iter().enumerate().find(is_twice) {
        None => Ok(()),
        Some((at, item)) => Err(Problem::at(
            format!("{path}[{at}]"),
            format!("must NOT be there twice (actual value is `{}`)", shown(item)),
        )),
    }
}
