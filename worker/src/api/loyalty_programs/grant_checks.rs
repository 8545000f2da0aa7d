//! Checks the grants of incentives and rewards when they are saved: goods of the catalogue, codes of campaigns and points of cards
//! must exist, and fit.

use crate::domain::loyalty_programs::kinds;
use crate::domain::loyalty_programs::kinds::CARD_DEFINITION;
use crate::http::reply::{CallError, not_found};
use crate::http::route::Call;
use crate::http::shape::value_text;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// Returns a text member of an object; empty if it is absent.
pub fn text<'b>(object: &'b Map<String, Json>, name: &str) -> &'b str {
    object.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// Checks that the card definition to which an object refers exists.
pub fn check_card(call: &Call<'_, '_>, object: &Map<String, Json>) -> Result<(), CallError> {
    let id = text(object, "card_definition_id");
    match kinds::find_by_id(call.store, &CARD_DEFINITION, id)? {
        Some(_) => Ok(()),
        None => Err(not_found(&CARD_DEFINITION.resource_type(), id).into()),
    }
}

/// Checks goods of the catalogue, and sets their ids.
pub fn normalise_material(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(material) = body.get_mut("material").and_then(Json::as_object_mut) else { return Ok(()) };
    if let Some(goods) = material.get_mut("product").and_then(Json::as_object_mut) {
        let id = find_product_id(call, text(goods, "id"))?;
        goods.insert("id".into(), id.into());
    }
    if let Some(goods) = material.get_mut("sku").and_then(Json::as_object_mut) {
        let product_id = find_product_id(call, text(goods, "product_id"))?;
        let name = text(goods, "id");
        let sku = call.store.document_by_name("sku", name, name)?;
        let sku = sku.filter(|sku| text(&sku.body, "product_id") == product_id);
        let sku = sku.ok_or_else(|| not_found("sku", name))?;
        goods.insert("product_id".into(), product_id.into());
        goods.insert("id".into(), sku.id.into());
    }
    Ok(())
}

fn find_product_id(call: &Call<'_, '_>, name: &str) -> Result<String, CallError> {
    let product = call.store.document_by_name("product", name, name)?;
    Ok(product.ok_or_else(|| not_found("product", name))?.id)
}

/// Checks codes of campaigns and points of cards. The id names the campaign, whose vouchers must match the type.
pub fn normalise_digital(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(digital) = body.get_mut("digital").and_then(Json::as_object_mut) else { return Ok(()) };
    let kind = text(digital, "type").to_owned();
    let block = kind.to_ascii_lowercase();
    let Some(content) = digital.get_mut(&block).and_then(Json::as_object_mut) else { return Ok(()) };
    if kind == "LOYALTY_CARD_POINTS" {
        return check_card(call, content);
    }
    let name = text(content, "campaign_id");
    let campaign = call.store.document_by_name("campaign", name, name)?;
    let campaign = campaign.ok_or_else(|| not_found("campaign", name))?;
    let found = text(&campaign.body, "campaign_type");
    if found != kind {
        let message = format!("must name a campaign of the type {kind} (actual value is `{found}`)");
        return Err(Problem::at(format!("digital.{block}.campaign_id"), message).into());
    }
    content.insert("campaign_id".into(), campaign.id.into());
    Ok(())
}

/// Refuses a list with duplicates.
pub fn check_unique(items: &[Json], path: &str) -> Result<(), Problem> {
    let duplicate = items.iter().enumerate().find(|(at, item)| items.iter().take(*at).any(|other| other == *item));
    match duplicate {
        None => Ok(()),
        Some((at, item)) => Err(Problem::at(
            format!("{path}[{at}]"),
            format!("must NOT be there twice (actual value is `{}`)", value_text(item)),
        )),
    }
}
