//! Many vouchers in one request: imported alone or into a campaign, and given metadata. Each is written as a call of its own would.
//! It must not know how a list is worked off.

use crate::api::codes::vouchers::{CREATE, put, taken_before};
use crate::document::fields::KEY;
use crate::document::merge;
use crate::document::part;
use crate::document::shapes;
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Call, Outcome, Route, post};
use crate::http::shape::{Field, Kind, may, must};
use crate::shop::campaigns::CAMPAIGN;
use crate::shop::{assignments, generation, voucher_grant, vouchers};
use crate::store::code::code_key;
use crate::store::document::Document;
use crate::work::batch;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const METADATA: &[Field] = &[must("code", KEY), must("metadata", Kind::Map)];

const SAME_METADATA: &[Field] = &[may("codes", Kind::List(&KEY, 0, 100_000)), may("metadata", Kind::Map)];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/vouchers/import", "Import vouchers", import)
        .scope("vouchers")
        .many(CREATE)
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/campaigns/{campaignId}/import", "Import vouchers into a campaign", import_into)
        .scope("campaigns")
        .many(CREATE)
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/vouchers/bulk/async", "Change the metadata of vouchers", change_metadata)
        .scope("vouchers")
        .many(METADATA)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/vouchers/metadata/async", "Give vouchers the same metadata", give_metadata)
        .scope("vouchers")
        .body(SAME_METADATA)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
];

/// The items of an import: each has a code that nobody has.
fn items(call: &Call<'_, '_>) -> Result<Vec<Map<String, Json>>, CallError> {
    let mut items = batch::items(call)?;
    let case_sensitive = call.caller.settings.case_sensitive_codes;
    let mut keys: Vec<String> = Vec::new();
    for item in &mut items {
        item.retain(|_, value| !value.is_null());
        keys.extend(item.get("code").and_then(Json::as_str).map(|code| code_key(code, case_sensitive)));
    }
    let missing = items.len().saturating_sub(keys.len());
    if missing > 0 {
        let told = format!("Found {missing} voucher(s) without 'code' value");
        return Err(error(400, "invalid_voucher", "Invalid Voucher", told).into());
    }
    let named: Vec<&str> = keys.iter().map(String::as_str).collect();
    let known = call.store.documents_by_names("voucher", &named, &[])?.len();
    keys.sort_unstable();
    let twice = keys.windows(2).filter(|pair| pair.first() == pair.last()).count();
    let taken = known.saturating_add(twice);
    if taken > 0 {
        let told = format!("{taken} voucher codes(s) already exist.");
        return Err(error(400, "duplicate_key", "Duplicate codes", told).into());
    }
    Ok(items)
}

fn import(call: &mut Call<'_, '_>) -> Outcome {
    let items = items(call)?;
    batch::answer(call, "VOUCHERS.IMPORT", items)
}

fn import_into(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = CAMPAIGN.find(call)?;
    generation::check_open(&campaign)?;
    let mut items = items(call)?;
    for item in &mut items {
        item.insert("campaign_id".into(), campaign.id.clone().into());
    }
    batch::answer(call, "CAMPAIGN.VOUCHERS_IMPORT", items)
}

fn change_metadata(call: &mut Call<'_, '_>) -> Outcome {
    let items = batch::items(call)?;
    batch::answer(call, "VOUCHERS.BULK_UPDATE", items)
}

fn give_metadata(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(crate::http::shape::Nulls::Dropped)?;
    let metadata = body.remove("metadata").unwrap_or_else(|| json!({}));
    let codes = body.remove("codes").unwrap_or_default();
    let item = |code: &Json| {
        let mut item = part::one("code", code.clone());
        item.insert("metadata".into(), metadata.clone());
        item
    };
    let items = codes.as_array().into_iter().flatten().map(item).collect();
    batch::answer(call, "VOUCHERS.METADATA_UPDATE", items)
}

/// Makes one voucher without a campaign, or with the one that it names.
pub fn write_alone(call: &mut Call<'_, '_>, item: Map<String, Json>) -> Result<(), CallError> {
    put(call, item).map(drop)
}

/// Makes one voucher of a campaign: what the campaign's vouchers begin with, and over it what was sent.
pub fn write_into(call: &mut Call<'_, '_>, item: Map<String, Json>) -> Result<(), CallError> {
    put_into(call, item).map(drop)
}

/// The same; gives the voucher.
pub fn put_into(call: &mut Call<'_, '_>, mut item: Map<String, Json>) -> Result<Document, CallError> {
    let id = item.remove("campaign_id").and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
    let code = item.remove("code").and_then(|code| code.as_str().map(str::to_owned)).unwrap_or_default();
    let campaign = call.store.document(CAMPAIGN.object, &id)?.ok_or_else(|| not_found(CAMPAIGN.object, &id))?;
    generation::check_free(call, &code)?;
    voucher_grant::check_discount(&item, "")?;
    // Credits of its own pay for what those of the campaign do.
    let pays_for = campaign.body.get("voucher").and_then(|config| config.get("gift")?.get("effect"));
    if let Some((gift, effect)) = item.get_mut("gift").and_then(Json::as_object_mut).zip(pays_for) {
        gift.entry("effect").or_insert_with(|| effect.clone());
    }
    let spent = voucher_grant::complete_card(&mut item, "", true)?;
    voucher_grant::settle_category(call, &mut item)?;
    let rules = assignments::take_rules(call, &mut item)?;
    let mut body = generation::template(&campaign, &item, call.now_ms());
    let kind = body.get("type").cloned().unwrap_or(Json::Null);
    if item.get("type").is_some_and(|said| *said != kind) {
        let told = format!("must be {kind}, the type of the campaign's vouchers");
        return Err(Problem::at("type", told).into());
    }
    let lapses = body.get("loyalty_card").and_then(|card| card.get("expiration_rules")).cloned();
    let own = voucher_grant::VOUCHER_TYPES.iter().find(|(of, _)| kind == *of).map(|(_, grant)| *grant);
    for name in ["active", "validity_timeframe", "validity_day_of_week", "validity_hours"].into_iter().chain(own) {
        if let Some(value) = item.get(name) {
            body.insert(name.into(), value.clone());
        }
    }
    // Points of its own lapse as those of the campaign do.
    if let Some((card, lapses)) = body.get_mut("loyalty_card").and_then(Json::as_object_mut).zip(lapses) {
        card.entry("expiration_rules").or_insert(lapses);
    }
    voucher_grant::check_validity(&body)?;
    let voucher = generation::voucher(call, body, &code, Some(&campaign.id));
    store(call, &campaign, &voucher)?;
    if spent > 0 {
        let post = taken_before(call, &voucher, Some(&campaign), spent);
        call.store.post(vec![post]);
    }
    assignments::assign(call, rules, &voucher.id, "voucher");
    Ok(voucher)
}

fn store(call: &mut Call<'_, '_>, campaign: &Document, voucher: &Document) -> Result<(), CallError> {
    vouchers::check_metadata(call, Some(campaign), voucher.body.get("metadata"))?;
    voucher_grant::check_readable(None, &voucher.body, "")?;
    call.store.insert("voucher", voucher);
    generation::count(call, &campaign.id, 1);
    Ok(())
}

/// Merges metadata into one voucher, which must be there.
pub fn write_metadata(call: &mut Call<'_, '_>, mut item: Map<String, Json>) -> Result<(), CallError> {
    let code = item.remove("code").and_then(|code| code.as_str().map(str::to_owned)).unwrap_or_default();
    let mut voucher = vouchers::find_named(call, &code)?;
    merge::merge(&mut voucher.body, item);
    let campaign = voucher.parent.as_deref().map(|id| call.store.document(CAMPAIGN.object, id)).transpose()?;
    vouchers::check_metadata(call, campaign.flatten().as_ref(), voucher.body.get("metadata"))?;
    call.touch(&mut voucher);
    call.store.update("voucher", &voucher);
    Ok(())
}
