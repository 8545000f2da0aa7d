//! Vouchers: create, get, list, enable, disable, and how one is shown: its document with what the ledger says.
//! It must not know how a redemption is decided.

use crate::document::clause::Clause;
use crate::document::fields::{
    BEFORE_AFTER, CODE_CONFIG, DISCOUNT, GIFT, KEY, LIMIT, OWN_CARD, PAGE_99, REDEMPTION, VALIDITY_DAY_OF_WEEK,
    VALIDITY_HOURS, VALIDITY_TIMEFRAME, VOUCHER_TYPE,
};
use crate::document::resource;
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, duplicate, invalid_payload, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, get, post};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::moment;
use crate::shop::codes::{self, CodeShape};
use crate::shop::images::Addresses;
use crate::shop::vouchers::{ORDERS, VOUCHER, check_metadata, find, show, show_standing};
use crate::shop::{assignments, bin, categories, generation, voucher_grant, zone};
use crate::store::code::code_key;
use crate::store::document::Document;
use crate::store::ledger::Standing;
use crate::store::post::Post;
use scrip::facts::{credits_account, points_account, points_spent_account, spent_account};
use scrip::wire::Problem;
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

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let clause = Clause::of_kind(VOUCHER.object).at(call.now_ms());
    list_within(call, &VOUCHER.list, clause)
}

/// A code is looked up as it is stored, which the index has.
pub fn list_within(call: &mut Call<'_, '_>, list: &List, mut clause: Clause) -> Outcome {
    let ids = call.query.listed("ids");
    if !ids.is_empty() {
        clause.and("id IN (SELECT value FROM json_each({}))", Json::from(ids).to_string());
    }
    if let Some(code) = call.query.get("code") {
        clause.and("key = {}", code_key(code, call.caller.settings.case_sensitive_codes));
    }
    let clause = zone::asked(call, clause)?;
    let page = list.select(call.store, &call.query, clause)?;
    let shown = show(call, page.documents)?;
    Ok(Answer::json(Json::Object(list.envelope(shown, page.total))))
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

/// A voucher that is made at the commit.
pub struct Made {
    /// The voucher.
    pub voucher: Document,
    rules: Vec<Json>,
    standings: HashMap<String, Standing>,
}

/// Makes a voucher at the commit, as it was sent; gives it as it will be shown.
fn make(call: &mut Call<'_, '_>, body: Map<String, Json>) -> Result<Json, CallError> {
    let Made { voucher, rules, standings } = put(call, body)?;
    let categories = categories::Shown::of(call, std::slice::from_ref(&voucher))?;
    let assets = Addresses::of(call)?.show(&voucher)?;
    let mut shown = show_standing(voucher, (call.context.now, &standings), rules, &categories);
    shown.insert("assets".into(), assets);
    Ok(Json::Object(shown))
}

/// Makes a voucher at the commit, as it was sent.
pub fn put(call: &mut Call<'_, '_>, mut body: Map<String, Json>) -> Result<Made, CallError> {
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
    let rules = assignments::assign(call, rules, &voucher.id, "voucher");
    if let Some(campaign) = &campaign {
        generation::count(call, &campaign.id, 1);
    }
    let mut standings = HashMap::new();
    if spent > 0 {
        let post = taken_before(call, &voucher, campaign.as_ref(), spent);
        standings.insert(post.debit.clone(), Standing { balance: spent.saturating_neg(), held: 0 });
        call.store.post(vec![post]);
    }
    Ok(Made { voucher, rules, standings })
}

/// What a card had lost before it came here, as a transfer.
pub fn taken_before(call: &mut Call<'_, '_>, voucher: &Document, campaign: Option<&Document>, amount: i64) -> Post {
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
        bin::check_free(call, "voucher", &code_key(&code, case_sensitive), ("id", &code))?;
        return Ok(code);
    }
    let shape = CodeShape::of(config.as_ref().and_then(Json::as_object), &call.caller.settings)?;
    let made = codes::make(call.store, &mut call.ids, "project", &shape, 1, case_sensitive)?;
    Ok(made.into_iter().next().unwrap_or_default())
}
