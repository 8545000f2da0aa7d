//! Vouchers: create, get, list, enable, disable, and how one is shown: its document with what the ledger says.
//! It must not know how a redemption is decided.

use crate::api::project::metadata_schemas;
use crate::api::promotions::categories;
use crate::api::rules::assignments;
use crate::document::fields::{
    BEFORE_AFTER, CODE_CONFIG, DAYS, DISCOUNT, GIFT, KEY, LIMIT, OWN_CARD, PAGE_99, REDEMPTION, TIMEFRAME,
    VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME, VOUCHER_TYPE,
};
use crate::document::list::{Clause, Filter, List};
use crate::document::resource::{self, Resource};
use crate::document::shapes;
use crate::http::reply::{CallError, duplicate, invalid_payload, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, get, post};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::moment;
use crate::shop::codes::{self, CodeShape, code_key};
use crate::shop::generation;
use crate::shop::voucher_grant;
use crate::store::document::Document;
use crate::store::ledger::{Post, Standing};
use scrip::facts::{credits_account, points_account, points_spent_account, redemptions_account, spent_account};
use scrip::wire::Problem;
use scrip::wire::voucher::{Counts, show_voucher};
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;

/// A voucher as it is created (endpoints.md section 1, shape S10).
pub const CREATE: &[Field] = &[
    may("code", KEY),
    may("code_config", CODE_CONFIG),
    may("type", VOUCHER_TYPE),
    may("discount", DISCOUNT),
    may("gift", GIFT),
    may("loyalty_card", OWN_CARD),
    may("redemption", REDEMPTION),
    may("campaign", KEY),
    may("campaign_id", KEY),
    may("category", KEY),
    may("category_id", KEY),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("active", Kind::Bool),
    may("additional_info", Kind::Text),
    may("metadata", Kind::Map),
    may("validation_rules", Kind::List(&KEY, 0, 1)),
];

const ORDERS: &[&str] = &["created_at", "-created_at", "updated_at", "-updated_at", "code", "-code"];

/// Vouchers as a resource.
pub const VOUCHER: Resource = Resource {
    object: "voucher",
    shape: scrip::wire::voucher::VOUCHER,
    parameter: "code",
    key: |call, code| code_key(code, call.caller.settings.case_sensitive_codes),
    show,
    list: List {
        data_ref: "vouchers",
        page_max: 99,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("code", "json_extract(body, '$.code')")],
        filters: &[
            Filter::Is("campaign_id", "parent"),
            Filter::Name("campaign", "parent", "campaign"),
            Filter::Is("category", "json_extract(body, '$.category')"),
            Filter::Name("customer", "holder", "customer"),
            Filter::Moment("created_at", "created_at"),
            Filter::Moment("updated_at", "updated_at"),
        ],
        conditions: &[
            ("code", "json_extract(body, '$.code')"),
            ("id", "id"),
            ("campaign_name", "json_extract(body, '$.campaign')"),
            ("campaign_id", "parent"),
            ("campaigns", "json_extract(body, '$.campaign')"),
            ("campaign_ids", "parent"),
            ("is_referral_code", "flag json_extract(body, '$.is_referral_code')"),
            ("active", "state"),
            ("validity_timeframe", TIMEFRAME),
            ("validity_day_of_week", DAYS),
            ("holder_id", "holder"),
            ("voucher_type", "json_extract(body, '$.type')"),
            ("type", "json_extract(body, '$.type')"),
            ("categories", "json_extract(body, '$.category')"),
            ("category_ids", "json_extract(body, '$.category_id')"),
            ("created_at", "json_extract(body, '$.created_at')"),
            ("updated_at", "json_extract(body, '$.updated_at')"),
            ("start_date", "json_extract(body, '$.start_date')"),
            ("expiration_date", "json_extract(body, '$.expiration_date')"),
        ],
    },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/vouchers", "List vouchers", list).of(&VOUCHER).listed(shapes::TOTAL).scope("vouchers").query(&[
        LIMIT,
        PAGE_99,
        may("order", Kind::OneOf(ORDERS)),
        may("campaign", KEY),
        may("campaign_id", KEY),
        may("code", KEY),
        may("category", KEY),
        may("customer", KEY),
        may("ids", Kind::List(&KEY, 0, 100)),
        may("created_at", BEFORE_AFTER),
        may("updated_at", BEFORE_AFTER),
        may("filters", Kind::Map),
    ]),
    post("/v1/vouchers", "Create a voucher", create).of(&VOUCHER).scope("vouchers").body(CREATE),
    get("/v1/vouchers/{code}", "Get a voucher by code or id", get_one).of(&VOUCHER).scope("vouchers"),
    post("/v1/vouchers/{code}", "Create a voucher with a given code", create)
        .of(&VOUCHER)
        .scope("vouchers")
        .body(CREATE),
    post("/v1/vouchers/{code}/enable", "Enable a voucher", enable).of(&VOUCHER).scope("vouchers"),
    post("/v1/vouchers/{code}/disable", "Disable a voucher", disable).of(&VOUCHER).scope("vouchers"),
];

/// The account of how often a voucher was published.
pub fn publications_account(voucher_id: &str) -> String {
    format!("voucher/{voucher_id}/publications")
}

fn accounts(voucher_id: &str) -> [String; 4] {
    [
        redemptions_account(voucher_id).to_string(),
        credits_account(voucher_id).to_string(),
        points_account(voucher_id).to_string(),
        publications_account(voucher_id),
    ]
}

/// Shows vouchers as they stand, with one look into the ledger for all of them.
pub fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let named: Vec<String> = documents.iter().flat_map(|document| accounts(&document.id)).collect();
    let standings = call.store.standings(&named, call.now_ms(), "")?;
    let mut assigned = assignments::assigned(call, &documents)?;
    let categories = categories::Shown::of(call, &documents)?;
    let shown = documents.into_iter().map(|document| {
        let rules = assigned.remove(&document.id).unwrap_or_default();
        show_standing(document, &standings, rules, &categories)
    });
    Ok(shown.collect())
}

/// A voucher with what the ledger says of it.
fn show_standing(
    document: Document,
    standings: &HashMap<String, Standing>,
    rules: Vec<Json>,
    categories: &categories::Shown,
) -> Json {
    let taken = |account: &String| {
        standings.get(account).map_or(0, |standing| u64::try_from(standing.balance.saturating_neg()).unwrap_or(0))
    };
    let [redemptions, credits, points, publications] = accounts(&document.id);
    let counts = Counts {
        redeemed_quantity: taken(&redemptions),
        redeemed_amount: taken(&credits),
        published: Some(taken(&publications)),
    };
    let mut body = show_voucher(&document.body, counts);
    if let Some(gift) = body.get_mut("gift").and_then(Json::as_object_mut) {
        gift.entry("subtracted_amount").or_insert(json!(0));
    }
    show_card(&mut body, taken(&points));
    body.insert("categories".into(), categories.list(&document));
    body.insert("validation_rules_assignments".into(), assignments::listed(rules));
    Json::Object(body)
}

/// A loyalty card with what is left on it: points, less those that were spent, taken off by hand or lost to time.
fn show_card(body: &mut Map<String, Json>, redeemed: u64) {
    let Some(card) = body.entry("loyalty_card").or_insert(Json::Null).as_object_mut() else { return };
    for (name, default) in [
        ("subtracted_points", json!(0)),
        ("expired_points", json!(0)),
        ("pending_points", json!(0)),
        ("next_expiration_date", Json::Null),
        ("next_expiration_points", Json::Null),
    ] {
        card.entry(name).or_insert(default);
    }
    let number = |name: &str| card.get(name).and_then(Json::as_u64).unwrap_or(0);
    let gone = number("subtracted_points").saturating_add(number("expired_points")).saturating_add(redeemed);
    let balance = number("points").saturating_sub(gone);
    card.insert("balance".into(), balance.into());
    if let Some(redemption) = body.get_mut("redemption").and_then(Json::as_object_mut) {
        redemption.insert("redeemed_points".into(), redeemed.into());
    }
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

/// A code is looked up as it is stored, which the index has.
fn list(call: &mut Call<'_, '_>) -> Outcome {
    let mut clause = Clause::of_kind(VOUCHER.object).at(call.now_ms());
    let ids = call.query.listed("ids");
    if !ids.is_empty() {
        clause.and("id IN (SELECT value FROM json_each({}))", Json::from(ids).to_string());
    }
    if let Some(code) = call.query.get("code") {
        clause.and("key = {}", code_key(code, call.caller.settings.case_sensitive_codes));
    }
    let page = VOUCHER.list.select(call.store, &call.query, clause)?;
    let shown = show(call, page.documents)?;
    Ok(Answer::json(Json::Object(VOUCHER.list.envelope(shown, page.total))))
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    let voucher = find(call)?;
    Ok(Answer::json(VOUCHER.show_one(call, voucher)?))
}

fn enable(call: &mut Call<'_, '_>) -> Outcome {
    set_active(call, true)
}

fn disable(call: &mut Call<'_, '_>) -> Outcome {
    set_active(call, false)
}

fn set_active(call: &mut Call<'_, '_>, active: bool) -> Outcome {
    find(call)?;
    let voucher = resource::set_active(call, active)?;
    Ok(Answer::json(VOUCHER.show_one(call, voucher)?))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    Ok(Answer::json(make(call, body)?))
}

/// Makes a voucher at the commit, as it was sent; gives it as it will be shown.
pub fn make(call: &mut Call<'_, '_>, mut body: Map<String, Json>) -> Result<Json, CallError> {
    let kind = voucher_grant::voucher_type(&body, "")?;
    voucher_grant::check_discount(&body, "")?;
    let spent = voucher_grant::complete_card(&mut body, "", true)?;
    voucher_grant::check_validity(&body)?;
    voucher_grant::settle_dates(&mut body);
    voucher_grant::settle_category(call, &mut body)?;
    let rules = assignments::take_rules(call, &mut body)?;
    let campaign = find_campaign(call, &mut body, kind)?;
    let code = settle_code(call, &mut body)?;
    let defaults = json!({
        "type": kind, "discount": null, "gift": null, "loyalty_card": null, "campaign": null, "campaign_id": null, "category": null, "category_id": null,
        "start_date": null, "expiration_date": null, "validity_timeframe": null, "validity_day_of_week": null, "validity_hours": null,
        "active": true, "additional_info": null, "metadata": {}, "is_referral_code": false, "created_at": moment::text(call.now_ms()),
        "updated_at": null, "object": "voucher", "redemption": { "quantity": null },
    });
    let mut whole = defaults.as_object().cloned().unwrap_or_default();
    whole.extend(body);
    if let Some(campaign) = &campaign {
        whole.insert("campaign".into(), campaign.body.get("name").cloned().unwrap_or(Json::Null));
        whole.insert("campaign_id".into(), campaign.id.clone().into());
        whole.insert("is_referral_code".into(), generation::is_referral(campaign).into());
    }
    let voucher = generation::voucher(call, whole, &code, campaign.as_ref().map(|campaign| campaign.id.as_str()));
    check_metadata(call, campaign.as_ref(), voucher.body.get("metadata"))?;
    voucher_grant::check_readable(None, &voucher.body, "")?;
    call.store.insert("voucher", &voucher);
    let assigned = assignments::assign(call, rules, &voucher.id, "voucher");
    if let Some(campaign) = &campaign {
        generation::count(call, &campaign.id, 1);
    }
    let mut standings = HashMap::new();
    if spent > 0 {
        let post = taken_before(call, &voucher, campaign.as_ref(), spent);
        standings.insert(post.debit.clone(), Standing { balance: spent.saturating_neg(), held: 0 });
        call.store.post(&[post]);
    }
    let categories = categories::Shown::of(call, std::slice::from_ref(&voucher))?;
    Ok(show_standing(voucher, &standings, assigned, &categories))
}

/// Holds the metadata of a voucher against its campaign's schema, or against the vouchers' where it has no campaign or the campaign
/// says so (validation-rules.md section 13).
pub fn check_metadata(
    call: &Call<'_, '_>,
    campaign: Option<&Document>,
    metadata: Option<&Json>,
) -> Result<(), CallError> {
    let is_own =
        |campaign: &Document| campaign.body.get("use_voucher_metadata_schema").and_then(Json::as_bool).unwrap_or(false);
    let schema = if campaign.is_none_or(is_own) { "voucher" } else { "campaign" };
    metadata_schemas::check(call.store, &[(schema, metadata)])
}

/// What a card had lost before it came here, as a transfer.
fn taken_before(call: &mut Call<'_, '_>, voucher: &Document, campaign: Option<&Document>, amount: i64) -> Post {
    let id = call.ids.hex18("tr_").to_string();
    let campaign_id = campaign.map(|campaign| campaign.id.as_str());
    let is_card = voucher.body.get("loyalty_card").is_some_and(Json::is_object);
    let (debit, credit) = if is_card {
        (points_account(&voucher.id), points_spent_account(campaign_id))
    } else {
        (credits_account(&voucher.id), spent_account(campaign_id))
    };
    let (debit, credit) = (debit.to_string(), credit.to_string());
    Post { chain: id.clone(), id, debit, credit, amount, reverses: None, at: call.now_ms() }
}

fn find_campaign(call: &Call<'_, '_>, body: &mut Map<String, Json>, kind: &str) -> Result<Option<Document>, CallError> {
    let by_name = body.remove("campaign");
    let by_id = body.remove("campaign_id");
    let Some(name) = by_id.or(by_name).and_then(|name| name.as_str().map(str::to_owned)) else {
        // A loyalty card belongs to a program (endpoints.md, vouchers).
        return if kind == "LOYALTY_CARD" { Err(Problem::missing("", "campaign").into()) } else { Ok(None) };
    };
    let campaign =
        call.store.document_by_name("campaign", &name, &name)?.ok_or_else(|| not_found("campaign", &name))?;
    generation::check_open(&campaign)?;
    let wanted =
        campaign.body.get("voucher").and_then(|voucher| voucher.get("type")).and_then(Json::as_str).unwrap_or_default();
    if wanted != kind {
        let told =
            format!("Property .type must be {wanted}, the type of the campaign's vouchers (actual value is `{kind}`)");
        return Err(invalid_payload(told).into());
    }
    Ok(Some(campaign))
}

fn settle_code(call: &mut Call<'_, '_>, body: &mut Map<String, Json>) -> Result<String, CallError> {
    let config = body.remove("code_config");
    let said = body.remove("code").and_then(|code| code.as_str().map(str::to_owned));
    let in_path = Some(call.param("code").to_owned()).filter(|code| !code.is_empty());
    let case_sensitive = call.caller.settings.case_sensitive_codes;
    if let Some(code) = in_path.or(said) {
        if call.store.document_by_name("voucher", &code_key(&code, case_sensitive), "")?.is_some() {
            return Err(duplicate("voucher", "id", &code).into());
        }
        return Ok(code);
    }
    let shape = CodeShape::read(config.as_ref().and_then(Json::as_object), case_sensitive)?;
    let made = codes::make(call.store, &mut call.ids, "project", &shape, 1, case_sensitive)?;
    Ok(made.into_iter().next().unwrap_or_default())
}
