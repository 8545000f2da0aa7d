//! Finds vouchers and converts them to JSON: the document with the balances of its accounts.

use crate::documents::common_fields::{DAYS, TIMEFRAME};
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::categories;
use crate::domain::metadata::schemas;
use crate::domain::validation_rules::assignments;
use crate::domain::vouchers::image_urls::ImageUrls;
use crate::http::list_options::{List, ListFilter};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Resource};
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::Document;
use crate::store::document_list::column::{flag_member, member, one_member};
use crate::store::document_list::voucher_columns::{CAMPAIGN_NAME, HOLDER_ID, VOUCHER_CODE};
use crate::store::documents::vouchers;
use crate::store::index::code_key::code_key;
use crate::store::ledger::{AccountBalance, net_debit};
use crate::store::records::VoucherRecord;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::facts::{credits_account, points_account, publications_account, redemptions_account};
use scrip::ledger::{AccountId, Entry};
use scrip::model::redemption::SpentUnits;
use scrip::time::Instant;
use scrip::wire::voucher::{VoucherCounts, card_of, voucher_json};
use serde_json::Value as Json;
use std::collections::HashMap;

/// Orders of lists of vouchers.
pub const ORDERS: &[&str] = &["created_at", "-created_at", "updated_at", "-updated_at", "code", "-code"];

/// Vouchers as a resource.
pub const VOUCHER: Resource = Resource {
    object: "voucher",
    shape: scrip::wire::voucher::VOUCHER.described(),
    parameter: "code",
    key: |call, code| code_key(code, call.caller.settings.case_sensitive_codes),
    to_json,
    list: List {
        data_ref: "vouchers",
        page_max: 99,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("code", "key")],
        filters: &[
            ListFilter::Is("campaign_id", "parent"),
            ListFilter::Name("campaign", "parent", "campaign"),
            ListFilter::Is("category", member!("category")),
            ListFilter::Name("customer", "holder", "customer"),
            ListFilter::Instant("created_at", "created_at"),
            ListFilter::Instant("updated_at", "updated_at"),
        ],
        conditions: &[
            ("code", VOUCHER_CODE),
            ("id", "id"),
            ("campaign_name", CAMPAIGN_NAME),
            ("campaign_id", "parent"),
            ("campaigns", CAMPAIGN_NAME),
            ("campaign_ids", "parent"),
            ("is_referral_code", flag_member!("is_referral_code")),
            ("active", "state"),
            ("validity_timeframe", TIMEFRAME),
            ("validity_day_of_week", DAYS),
            ("holder_id", HOLDER_ID),
            ("voucher_type", member!("type")),
            ("type", member!("type")),
            ("categories", one_member!("category")),
            ("category_ids", one_member!("category_id")),
            ("created_at", "moment created_at"),
            ("updated_at", "moment updated_at"),
            ("start_date", member!("start_date")),
            ("expiration_date", member!("expiration_date")),
        ],
    },
};

/// Returns the accounts of a voucher: redemptions, credits, points, publications.
pub fn accounts(voucher_id: &str) -> [String; 4] {
    let accounts = [redemptions_account, credits_account, points_account, publications_account];
    accounts.map(|account: fn(&str) -> AccountId| account(voucher_id).to_string())
}

/// Returns vouchers with their current balances, read in one statement.
pub fn to_json(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let balances = load_balances(call, &documents)?;
    list_to_json(call, documents, &balances)
}

/// Returns a voucher in its state after the rollback of a redemption.
pub fn to_json_after_rollback(
    call: &mut Call<'_, '_>,
    document: Document,
    spent: Option<SpentUnits>,
) -> Result<Json, CallError> {
    let mut balances = load_balances(call, std::slice::from_ref(&document))?;
    let [redemptions, credits, points, _] = accounts(&document.id);
    let refund = match spent {
        Some(SpentUnits::Credits(amount)) => Some((credits, amount)),
        Some(SpentUnits::Points(amount)) => Some((points, amount)),
        None => None,
    };
    for (account, amount) in refund.into_iter().chain([(redemptions, 1)]) {
        let account_state = balances.entry(account).or_default();
        account_state.balance = account_state.balance.plus(amount::signed(amount)?)?;
    }
    let mut json = list_to_json(call, vec![document], &balances)?.pop().unwrap_or_default();
    if let Some(json) = json.as_object_mut() {
        json.insert("updated_at".into(), timestamp::text(call.now_ms()).into());
    }
    Ok(json)
}

/// Returns vouchers in their state after publication, with queued transfers applied.
pub fn to_json_after_publication(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let mut balances = load_balances(call, &documents)?;
    for account in documents.iter().flat_map(|document| accounts(&document.id)) {
        let account_state = balances.entry(account.clone()).or_default();
        for post in call.store.queued_transfers() {
            if post.debit == account {
                account_state.balance = account_state.balance.minus(post.amount)?;
            } else if post.credit == account {
                account_state.balance = account_state.balance.plus(post.amount)?;
            }
        }
    }
    list_to_json(call, documents, &balances)
}

/// Returns a voucher in its state after the transfers of a request, and after its publication when `published` is true.
pub fn to_json_after_transfers(
    call: &mut Call<'_, '_>,
    document: Document,
    moved: &[Entry],
    published: bool,
) -> Result<Json, CallError> {
    let mut balances = load_balances(call, std::slice::from_ref(&document))?;
    for account in accounts(&document.id) {
        let used = net_debit(moved, &account)?;
        let account_state = balances.entry(account).or_default();
        account_state.balance = account_state.balance.minus(used)?;
    }
    let [_, _, _, publications] = accounts(&document.id);
    let account_state = balances.entry(publications).or_default();
    account_state.balance = account_state.balance.minus(published.into())?;
    Ok(list_to_json(call, vec![document], &balances)?.pop().unwrap_or_default())
}

fn load_balances(call: &Call<'_, '_>, documents: &[Document]) -> Result<HashMap<String, AccountBalance>, Fault> {
    let accounts: Vec<String> = documents.iter().flat_map(|document| accounts(&document.id)).collect();
    call.store.account_balances(&accounts, call.now_ms(), "")
}

fn list_to_json(
    call: &mut Call<'_, '_>,
    documents: Vec<Document>,
    balances: &HashMap<String, AccountBalance>,
) -> Result<Vec<Json>, CallError> {
    let mut assigned = assignments::load_json(call, &documents)?;
    let categories = categories::CategoryLookup::of(call, &documents)?;
    let images = ImageUrls::of(call)?;
    let now = call.context.now;
    let json = documents.into_iter().map(|document| {
        let rules = assigned.remove(&document.id).unwrap_or_default();
        let assets = images.to_json(&document)?;
        Ok(to_json_with_balances(document, now, balances, rules, &categories, assets))
    });
    json.collect()
}

/// Returns a voucher at an instant, with the balances of its accounts.
pub fn to_json_with_balances(
    document: Document,
    now: Instant,
    balances: &HashMap<String, AccountBalance>,
    rules: Vec<Json>,
    categories: &categories::CategoryLookup,
    assets: Json,
) -> Json {
    // A new voucher has only the accounts that its creation posts to; the others are empty.
    let used =
        |account: &String| balances.get(account).map_or(0, |account_state| account_state.balance.min(0).unsigned_abs());
    let [redemptions, credits, points, publications] = accounts(&document.id);
    let counts = VoucherCounts {
        redeemed_quantity: used(&redemptions),
        redeemed_amount: used(&credits),
        redeemed_points: used(&points),
        published: Some(used(&publications)),
    };
    let categories = categories.list(&document);
    let grant = card_of(&document.body, now);
    let mut body = voucher_json(document.body, grant.as_ref(), counts);
    body.entry("loyalty_card").or_insert(Json::Null);
    body.insert("categories".into(), categories);
    body.insert("validation_rules_assignments".into(), assignments::list_json(rules));
    body.insert("assets".into(), assets);
    Json::Object(body)
}

/// Queues the update time of vouchers whose redemptions or balances change.
pub fn mark_updated(call: &mut Call<'_, '_>, ids: Vec<&str>) {
    if ids.is_empty() {
        return;
    }
    vouchers::mark_updated(call.store, ids, call.context.now.millis());
}

/// Finds the voucher that the path names.
pub fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    find_by_name(call, call.param(VOUCHER.parameter))
}

/// Finds a voucher by code or id; one whose campaign is being deleted counts as deleted.
pub fn find_by_name(call: &Call<'_, '_>, name: &str) -> Result<Document, CallError> {
    let key = code_key(name, call.caller.settings.case_sensitive_codes);
    let voucher = call.store.document_by_name(VOUCHER.object, &key, name)?;
    let voucher = voucher.ok_or_else(|| not_found(VOUCHER.object, name))?;
    match &voucher.parent {
        Some(campaign) if call.store.document("campaign", campaign)?.is_none() => {
            Err(not_found(VOUCHER.object, name).into())
        }
        _ => Ok(voucher),
    }
}

/// Returns the name of the metadata schema of a voucher: that of campaigns, or that of vouchers without a campaign or when
/// the campaign declares it (docs/spec/validation-rules.md#13).
pub fn schema_of(campaign: Option<&Document>) -> &'static str {
    let is_own = |campaign: &Document| campaign.as_campaign().uses_voucher_schema();
    if campaign.is_none_or(is_own) { "voucher" } else { "campaign" }
}

/// Checks the metadata of a voucher against its schema.
pub fn check_metadata(
    call: &Call<'_, '_>,
    campaign: Option<&Document>,
    voucher: VoucherRecord<'_>,
) -> Result<(), CallError> {
    schemas::check(call.store, &[(schema_of(campaign), voucher.metadata())])
}

/// Finds the voucher that the path names as a member, in the campaign of the path if there is one.
pub fn find_member(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let name = call.param("memberId");
    let code = find_by_name(call, name)?;
    let campaign = call.param(CAMPAIGN.parameter);
    if !campaign.is_empty() {
        let found = call.store.document_by_name(CAMPAIGN.object, campaign, campaign)?;
        let found = found.ok_or_else(|| not_found(CAMPAIGN.object, campaign))?;
        if code.parent.as_ref() != Some(&found.id) {
            return Err(not_found(VOUCHER.object, name).into());
        }
    }
    Ok(code)
}

/// Finds the loyalty card that the path names, in the campaign of the path if there is one.
pub fn find_card(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let card = find_member(call)?;
    if !card.as_voucher().is_loyalty_card() {
        return Err(not_found("loyalty_card", call.param("memberId")).into());
    }
    Ok(card)
}
