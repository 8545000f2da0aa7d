//! Vouchers, as every area that names one finds and shows them: the document with what the ledger says. It must not know any route.

use crate::document::fields::{DAYS, TIMEFRAME};
use crate::http::listing::{Filter, List};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Resource};
use crate::moment;
use crate::shop::campaigns::CAMPAIGN;
use crate::shop::images::Addresses;
use crate::shop::{assignments, categories, metadata_schemas};
use crate::store::code::code_key;
use crate::store::document::Document;
use crate::store::ledger::{Standing, taken};
use crate::store::sql::Fault;
use scrip::facts::{credits_account, points_account, publications_account, redemptions_account};
use scrip::ledger::{AccountId, Entry};
use scrip::model::redemption::Spent;
use scrip::time::Instant;
use scrip::wire::voucher::{Counts, card_of, show_voucher};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;

/// What lists of vouchers are ordered by.
pub const ORDERS: &[&str] = &["created_at", "-created_at", "updated_at", "-updated_at", "code", "-code"];

/// Vouchers as a resource.
pub const VOUCHER: Resource = Resource {
    object: "voucher",
    shape: scrip::wire::voucher::VOUCHER.described(),
    parameter: "code",
    key: |call, code| code_key(code, call.caller.settings.case_sensitive_codes),
    show,
    list: List {
        data_ref: "vouchers",
        page_max: 99,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("code", "key")],
        filters: &[
            Filter::Is("campaign_id", "parent"),
            Filter::Name("campaign", "parent", "campaign"),
            Filter::Is("category", "json_extract(body, '$.category')"),
            Filter::Name("customer", "holder", "customer"),
            Filter::Moment("created_at", "created_at"),
            Filter::Moment("updated_at", "updated_at"),
        ],
        conditions: &[
            ("code", "keyed json_extract(body, '$.code')"),
            ("id", "id"),
            ("campaign_name", "parent campaign json_extract(body, '$.campaign')"),
            ("campaign_id", "parent"),
            ("campaigns", "parent campaign json_extract(body, '$.campaign')"),
            ("campaign_ids", "parent"),
            ("is_referral_code", "flag json_extract(body, '$.is_referral_code')"),
            ("active", "state"),
            ("validity_timeframe", TIMEFRAME),
            ("validity_day_of_week", DAYS),
            ("holder_id", "held json_extract(body, '$.holder_id')"),
            ("voucher_type", "json_extract(body, '$.type')"),
            ("type", "json_extract(body, '$.type')"),
            ("categories", "one json_extract(body, '$.category')"),
            ("category_ids", "one json_extract(body, '$.category_id')"),
            ("created_at", "moment created_at"),
            ("updated_at", "moment updated_at"),
            ("start_date", "json_extract(body, '$.start_date')"),
            ("expiration_date", "json_extract(body, '$.expiration_date')"),
        ],
    },
};

/// The accounts that say what came of a voucher: redemptions, credits, points, publications.
pub fn accounts(voucher_id: &str) -> [String; 4] {
    let accounts = [redemptions_account, credits_account, points_account, publications_account];
    accounts.map(|account: fn(&str) -> AccountId| account(voucher_id).to_string())
}

/// Shows vouchers as they stand, with one look into the ledger for all of them.
pub fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let standings = standings(call, &documents)?;
    show_all(call, documents, &standings)
}

/// Shows a voucher as it stands once a redemption of it is undone.
pub fn show_given_back(call: &mut Call<'_, '_>, document: Document, spent: Option<Spent>) -> Result<Json, CallError> {
    let mut standings = standings(call, std::slice::from_ref(&document))?;
    let [redemptions, credits, points, _] = accounts(&document.id);
    let given_back = match spent {
        Some(Spent::Credits(amount)) => Some((credits, amount)),
        Some(Spent::Points(amount)) => Some((points, amount)),
        None => None,
    };
    for (account, amount) in given_back.into_iter().chain([(redemptions, 1)]) {
        let standing = standings.entry(account).or_default();
        standing.balance = standing.balance.saturating_add(i64::try_from(amount).unwrap_or(i64::MAX));
    }
    let mut shown = show_all(call, vec![document], &standings)?.pop().unwrap_or_default();
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("updated_at".into(), moment::text(call.now_ms()).into());
    }
    Ok(shown)
}

/// Shows vouchers as they stand once each has been handed over, and what waits for the commit is in the ledger.
pub fn show_handed_over(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let mut standings = standings(call, &documents)?;
    for account in documents.iter().flat_map(|document| accounts(&document.id)) {
        let standing = standings.entry(account.clone()).or_default();
        for post in call.store.posted() {
            if post.debit == account {
                standing.balance = standing.balance.saturating_sub(post.amount);
            } else if post.credit == account {
                standing.balance = standing.balance.saturating_add(post.amount);
            }
        }
    }
    show_all(call, documents, &standings)
}

/// Shows a voucher as it stands after what a request moves, and once it has been handed over where it is `published`.
pub fn show_moved(
    call: &mut Call<'_, '_>,
    document: Document,
    moved: &[Entry],
    published: bool,
) -> Result<Json, CallError> {
    let mut standings = standings(call, std::slice::from_ref(&document))?;
    for account in accounts(&document.id) {
        let taken = taken(moved, &account);
        let standing = standings.entry(account).or_default();
        standing.balance = standing.balance.saturating_sub(taken);
    }
    let [_, _, _, publications] = accounts(&document.id);
    let standing = standings.entry(publications).or_default();
    standing.balance = standing.balance.saturating_sub(published.into());
    Ok(show_all(call, vec![document], &standings)?.pop().unwrap_or_default())
}

fn standings(call: &Call<'_, '_>, documents: &[Document]) -> Result<HashMap<String, Standing>, Fault> {
    let named: Vec<String> = documents.iter().flat_map(|document| accounts(&document.id)).collect();
    call.store.standings(&named, call.now_ms(), "")
}

fn show_all(
    call: &mut Call<'_, '_>,
    documents: Vec<Document>,
    standings: &HashMap<String, Standing>,
) -> Result<Vec<Json>, CallError> {
    let mut assigned = assignments::assigned(call, &documents)?;
    let categories = categories::Shown::of(call, &documents)?;
    let images = Addresses::of(call)?;
    let now = call.context.now;
    let shown = documents.into_iter().map(|document| {
        let rules = assigned.remove(&document.id).unwrap_or_default();
        let assets = images.show(&document)?;
        let mut shown = show_standing(document, (now, standings), rules, &categories);
        shown.insert("assets".into(), assets);
        Ok(Json::Object(shown))
    });
    shown.collect()
}

/// A voucher at a moment, with what the ledger says of it.
pub fn show_standing(
    document: Document,
    (now, standings): (Instant, &HashMap<String, Standing>),
    rules: Vec<Json>,
    categories: &categories::Shown,
) -> Map<String, Json> {
    let taken = |account: &String| {
        standings.get(account).map_or(0, |standing| u64::try_from(standing.balance.saturating_neg()).unwrap_or(0))
    };
    let [redemptions, credits, points, publications] = accounts(&document.id);
    let counts = Counts {
        redeemed_quantity: taken(&redemptions),
        redeemed_amount: taken(&credits),
        redeemed_points: taken(&points),
        published: Some(taken(&publications)),
    };
    let categories = categories.list(&document);
    let grant = card_of(&document.body, now);
    let mut body = show_voucher(document.body, grant.as_ref(), counts);
    body.entry("loyalty_card").or_insert(Json::Null);
    body.insert("categories".into(), categories);
    body.insert("validation_rules_assignments".into(), assignments::listed(rules));
    body
}

/// Notes at the commit that vouchers change now, by what was redeemed of them or given back.
pub fn touch(call: &mut Call<'_, '_>, ids: Vec<&str>) {
    if ids.is_empty() {
        return;
    }
    let now_ms = call.now_ms();
    call.store.write(
        "UPDATE document SET updated_at = ?2, body = json_set(body, '$.updated_at', ?3)
         WHERE kind = 'voucher' AND id IN (SELECT value FROM json_each(?1))",
        vec![Json::from(ids).to_string().into(), now_ms.into(), moment::text(now_ms).into()],
    );
}

/// The voucher that a path names.
pub fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    find_named(call, call.param(VOUCHER.parameter))
}

/// The voucher with a code or an id; one whose campaign is being deleted is gone already.
pub fn find_named(call: &Call<'_, '_>, name: &str) -> Result<Document, CallError> {
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

/// The schema that the metadata of a voucher is held against: its campaign's, or the vouchers' where it has no campaign or the campaign
/// says so (validation-rules.md section 13).
pub fn schema_of(campaign: Option<&Document>) -> &'static str {
    let is_own =
        |campaign: &Document| campaign.body.get("use_voucher_metadata_schema").and_then(Json::as_bool).unwrap_or(false);
    if campaign.is_none_or(is_own) { "voucher" } else { "campaign" }
}

/// Holds the metadata of a voucher against the schema that it has.
pub fn check_metadata(
    call: &Call<'_, '_>,
    campaign: Option<&Document>,
    metadata: Option<&Json>,
) -> Result<(), CallError> {
    metadata_schemas::check(call.store, &[(schema_of(campaign), metadata)])
}

/// The code that a path names as a member, within the campaign when it names one.
pub fn find_member(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let name = call.param("memberId");
    let code = find_named(call, name)?;
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

/// The loyalty card that a path names, within the program when it names one.
pub fn find_card(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let card = find_member(call)?;
    if card.body.get("loyalty_card").is_none_or(|block| !block.is_object()) {
        return Err(not_found("loyalty_card", call.param("memberId")).into());
    }
    Ok(card)
}
