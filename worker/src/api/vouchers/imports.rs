//! Many vouchers in one request: import without a campaign or into one, and updates of metadata. Each voucher is written like
//! a separate call.

use crate::api::vouchers::vouchers::{CREATE, insert_voucher, transfer_of_earlier_use};
use crate::documents::common_fields::KEY;
use crate::documents::json_members;
use crate::documents::merge;
use crate::documents::shapes;
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::validation_rules::assignments;
use crate::domain::vouchers::code_checks::check_code;
use crate::domain::vouchers::{creation, definition, voucher};
use crate::domain::{clock, visibility};
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Call, HandlerResult, Route, post};
use crate::http::shape::{Field, FieldType, may, must};
use crate::jobs::bulk_items;
use crate::store::document::Document;
use crate::store::index::code_key::code_key;
use crate::store::records::VoucherRecord;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const METADATA: &[Field] =
    &[must("code", KEY).description("Code or ID of a stored voucher."), must("metadata", FieldType::Map)];

const SAME_METADATA: &[Field] = &[
    may("codes", FieldType::List(&KEY, 0, 100_000))
        .description("Codes or IDs of the vouchers to change. Absent means that no voucher changes."),
    may("metadata", FieldType::Map),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/vouchers/import", "Import vouchers", import)
        .describe(
            "importVouchers",
            "Starts a job that creates one voucher for each item of the list. Every item is created separately: a refused item is reported in the result and does not affect the others. A code that is taken or sent twice refuses the whole list with `duplicate_key`, a missing code with `invalid_voucher`.",
        )
        .returns("The ID of the async action that creates the vouchers.")
        .scope("vouchers")
        .many(CREATE)
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/campaigns/{campaignId}/import", "Import vouchers into a campaign", import_into)
        .describe(
            "importCampaignVouchers",
            "Starts a job that creates one voucher of the campaign for each item. An item takes over the configuration of the campaign, except for the fields that the item sets. A refused item is reported in the result and does not affect the others. A promotion or standalone campaign is refused with `invalid_campaign`, a taken code with `duplicate_key`.",
        )
        .returns("The ID of the async action that creates the vouchers.")
        .scope("campaigns")
        .many(CREATE)
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/vouchers/bulk/async", "Update the metadata of vouchers one by one", change_metadata)
        .describe(
            "updateVouchersInBulk",
            "Starts a job that merges the metadata of each item into the voucher with its code. Only metadata is changed, and no voucher is created. An unknown code is reported in the result with `not_found` and does not affect the other items. A malformed list is refused with `invalid_payload`.",
        )
        .returns("The ID of the async action that changes the vouchers.")
        .scope("vouchers")
        .many(METADATA)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/vouchers/metadata/async", "Update the metadata of vouchers together", update_metadata)
        .describe(
            "updateVouchersMetadata",
            "Starts a job that merges the same metadata into every voucher of the list, at most 100,000. No voucher is created. An unknown code is reported in the result with `not_found` and does not affect the others. A malformed body is refused with `invalid_payload`.",
        )
        .returns("The ID of the async action that changes the vouchers.")
        .scope("vouchers")
        .body(SAME_METADATA)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
];

/// Returns the items of an import: each has an unused code.
fn items(call: &Call<'_, '_>) -> Result<Vec<Map<String, Json>>, CallError> {
    let mut items = bulk_items::items(call)?;
    let case_sensitive = call.caller.settings.case_sensitive_codes;
    let mut keys: Vec<String> = Vec::new();
    for (position, item) in items.iter_mut().enumerate() {
        item.retain(|_, value| !value.is_null());
        if let Some(code) = VoucherRecord::of(item).code() {
            check_code(code, &format!("[{position}].code"))?;
        }
        keys.extend(VoucherRecord::of(item).code().map(|code| code_key(code, case_sensitive)));
    }
    // No item has two codes.
    let missing = items.len().saturating_sub(keys.len());
    if missing > 0 {
        let message = format!("Found {missing} voucher(s) without 'code' value");
        return Err(error(400, "invalid_voucher", "Invalid Voucher", message).into());
    }
    let named: Vec<&str> = keys.iter().map(String::as_str).collect();
    let known = call.store.documents_by_names("voucher", &named, &[])?.len();
    keys.sort_unstable();
    let twice = keys.windows(2).filter(|pair| pair.first() == pair.last()).count();
    // The size of a body bounds both.
    let taken = known.saturating_add(twice);
    if taken > 0 {
        let message = format!("{taken} voucher codes(s) already exist.");
        return Err(error(400, "duplicate_key", "Duplicate codes", message).into());
    }
    Ok(items)
}

fn import(call: &mut Call<'_, '_>) -> HandlerResult {
    let items = items(call)?;
    bulk_items::answer(call, "VOUCHERS.IMPORT", items)
}

fn import_into(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = CAMPAIGN.find(call)?;
    creation::check_open(&campaign)?;
    let mut items = items(call)?;
    for item in &mut items {
        item.insert("campaign_id".into(), campaign.id.clone().into());
    }
    bulk_items::answer(call, "CAMPAIGN.VOUCHERS_IMPORT", items)
}

fn change_metadata(call: &mut Call<'_, '_>) -> HandlerResult {
    let items = bulk_items::items(call)?;
    bulk_items::answer(call, "VOUCHERS.BULK_UPDATE", items)
}

fn update_metadata(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(crate::http::shape::Nulls::Dropped)?;
    let metadata = body.remove("metadata").unwrap_or_else(|| json!({}));
    let codes = body.remove("codes").unwrap_or_default();
    let item = |code: &Json| {
        let mut item = json_members::object_of("code", code.clone());
        item.insert("metadata".into(), metadata.clone());
        item
    };
    let items = codes.as_array().into_iter().flatten().map(item).collect();
    bulk_items::answer(call, "VOUCHERS.METADATA_UPDATE", items)
}

/// Creates one voucher without a campaign, or in the campaign that it names.
pub fn write_standalone(call: &mut Call<'_, '_>, item: Map<String, Json>) -> Result<(), CallError> {
    insert_voucher(call, item).map(drop)
}

/// Creates one voucher of a campaign: the campaign's template with the sent members over it.
pub fn write_into(call: &mut Call<'_, '_>, item: Map<String, Json>) -> Result<(), CallError> {
    create_in_campaign(call, item).map(drop)
}

/// Creates one voucher of a campaign and returns it.
pub fn create_in_campaign(call: &mut Call<'_, '_>, mut item: Map<String, Json>) -> Result<Document, CallError> {
    let id = item.remove("campaign_id").and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
    let code = item.remove("code").and_then(|code| code.as_str().map(str::to_owned)).unwrap_or_default();
    let campaign = call.store.document(CAMPAIGN.object, &id)?.ok_or_else(|| not_found(CAMPAIGN.object, &id))?;
    creation::check_code_free(call, &code, "code")?;
    visibility::check_voucher(VoucherRecord::of(&item).visibility(), true)?;
    definition::check_discount(&item, "")?;
    definition::check_free_goods(call.store, &item, "")?;
    // Credits of the voucher have the effect of the campaign's credits.
    let pays_for = campaign.as_campaign().vouchers().gift_effect();
    if let Some((gift, effect)) = item.get_mut("gift").and_then(Json::as_object_mut).zip(pays_for) {
        gift.entry("effect").or_insert_with(|| effect.clone());
    }
    let spent = definition::complete_card(&mut item, "", true)?;
    let zone = clock::zone(call)?;
    definition::normalise_dates(&mut item, &zone);
    definition::normalise_category(call, &mut item)?;
    let rules = assignments::find_rules(call, item.remove("validation_rules").as_ref())?;
    let mut body = creation::template(&campaign, &item, call.now_ms());
    let kind = body.get("type").cloned().unwrap_or(Json::Null);
    if item.get("type").is_some_and(|declared| *declared != kind) {
        let message = format!("must be {kind}, the type of the campaign's vouchers");
        return Err(Problem::at("type", message).into());
    }
    let expiration_rules = VoucherRecord::of(&body).expiration_rules().cloned();
    let own = definition::VOUCHER_TYPES.iter().find(|(of, _)| kind == *of).map(|(_, grant)| *grant);
    for name in ["active", "validity_timeframe", "validity_day_of_week", "validity_hours"].into_iter().chain(own) {
        if let Some(value) = item.get(name) {
            body.insert(name.into(), value.clone());
        }
    }
    // Points of the voucher expire by the rules of the campaign.
    if let Some((card, expiration_rules)) =
        body.get_mut("loyalty_card").and_then(Json::as_object_mut).zip(expiration_rules)
    {
        card.entry("expiration_rules").or_insert(expiration_rules);
    }
    definition::check_validity(&body, &zone)?;
    let voucher = creation::new_voucher(call, body, &code, Some(&campaign.id));
    store(call, &campaign, &voucher)?;
    if spent > 0 {
        let post = transfer_of_earlier_use(call, &voucher, Some(&campaign), spent);
        call.store.post(vec![post]);
    }
    assignments::assign(call, rules, &voucher.id, "voucher");
    Ok(voucher)
}

fn store(call: &mut Call<'_, '_>, campaign: &Document, voucher: &Document) -> Result<(), CallError> {
    voucher::check_metadata(call, Some(campaign), voucher.as_voucher())?;
    definition::check_readable(None, &voucher.body, "")?;
    call.store.insert("voucher", voucher);
    creation::update_count(call, &campaign.id, 1);
    Ok(())
}

/// Merges metadata into one voucher, which must exist.
pub fn write_metadata(call: &mut Call<'_, '_>, mut item: Map<String, Json>) -> Result<(), CallError> {
    let code = item.remove("code").and_then(|code| code.as_str().map(str::to_owned)).unwrap_or_default();
    let mut voucher = voucher::find_by_name(call, &code)?;
    merge::merge(&mut voucher.body, item);
    let campaign = voucher.parent.as_deref().map(|id| call.store.document(CAMPAIGN.object, id)).transpose()?;
    voucher::check_metadata(call, campaign.flatten().as_ref(), voucher.as_voucher())?;
    call.touch(&mut voucher);
    call.store.update("voucher", &voucher);
    Ok(())
}
