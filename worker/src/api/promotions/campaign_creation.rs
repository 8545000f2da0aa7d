//! The creation of campaigns of every type: what each type may say, and what its campaign begins with.
//! It must not know how campaigns are listed or shown, nor how vouchers are made.

use crate::api::promotions::tiers;
use crate::document::fields::{
    CODE_CONFIG, DISCOUNT, GIFT, KEY, LOYALTY_CARD, REDEMPTION, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS,
    VALIDITY_TIMEFRAME, VOUCHER_TYPE,
};
use crate::document::shapes;
use crate::http::reply::{CallError, ErrorBody, duplicate, error};
use crate::http::route::{Answer, Call, Outcome};
use crate::http::shape::{Field, INT_MAX, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::campaigns::{CAMPAIGN, TYPES};
use crate::shop::codes::CodeShape;
use crate::shop::{assignments, bin, generation, metadata_schemas, program_tiers, voucher_grant};
use crate::store::document::Document;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Codes that one request may ask for (errors-and-auth, section 7).
pub const VOUCHERS_MAX: i64 = 100_000;

/// Tiers that a promotion may begin with.
const TIERS_MAX: usize = 100;

/// The types that make vouchers, and the type of these; of two with the same vouchers the first is meant where none is said.
const VOUCHERS_OF: &[(&str, &str)] = &[
    ("DISCOUNT_COUPONS", "DISCOUNT_VOUCHER"),
    ("GIFT_VOUCHERS", "GIFT_VOUCHER"),
    ("LOYALTY_PROGRAM", "LOYALTY_CARD"),
    ("REFERRAL_PROGRAM", "DISCOUNT_VOUCHER"),
];

/// The fields that campaigns of one type alone have.
pub const OWN_FIELDS: &[(&str, &str)] = &[
    ("promotion", "PROMOTION"),
    ("referral_program", "REFERRAL_PROGRAM"),
    ("loyalty_tiers_expiration", "LOYALTY_PROGRAM"),
];

const VOUCHER: &[Field] = &[
    may("type", VOUCHER_TYPE),
    may("discount", DISCOUNT),
    may("gift", GIFT),
    may("loyalty_card", LOYALTY_CARD),
    may("code_config", CODE_CONFIG),
    may("redemption", REDEMPTION),
    may("is_referral_code", Kind::Bool),
];

const PROMOTION: Kind = Kind::Object(&[may("tiers", Kind::List(&Kind::Object(tiers::CREATE), 0, TIERS_MAX))]);

/// What a referral program says beside its codes.
pub const REFERRAL: Kind = Kind::Object(&[
    may("conversion_event_type", Kind::OneOf(&["redemption", "custom_event"])),
    may("custom_event", Kind::Object(&[may("id", KEY), may("name", KEY)])),
    may(
        "referee_reward",
        Kind::Object(&[
            may("type", Kind::OneOf(&["LOYALTY_CARD", "GIFT_VOUCHER"])),
            may("amount", Kind::Int(0, INT_MAX)),
            may("related_object_parent", Kind::Object(&[may("id", KEY), may("name", KEY), may("object", Kind::Text)])),
        ]),
    ),
]);

/// The body of a creation, of any type (endpoints.md section 1, shape S9).
pub const CREATE: &[Field] = &[
    must("name", KEY),
    may("description", Kind::Text),
    may("campaign_type", Kind::OneOf(TYPES)),
    may("type", Kind::OneOf(&["AUTO_UPDATE", "STATIC", "STANDALONE"])),
    may("join_once", Kind::Bool),
    may("auto_join", Kind::Bool),
    may("use_voucher_metadata_schema", Kind::Bool),
    may("vouchers_count", Kind::Int(0, VOUCHERS_MAX)),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("activity_duration_after_publishing", Kind::Duration),
    may("category", KEY),
    may("category_id", KEY),
    may("metadata", Kind::Map),
    may("validation_rules", Kind::List(&KEY, 0, 1)),
    may("voucher", Kind::Object(VOUCHER)),
    may("promotion", PROMOTION),
    may("referral_program", REFERRAL),
    may("loyalty_tiers_expiration", shapes::program_tiers::QUALIFICATION),
];

/// The verb of the route.
pub fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    if body.get("campaign_type").and_then(Json::as_str) == Some("PROMOTION") {
        return create_promotion(call, body);
    }
    create_coded(call, body)
}

/// The verb of the route that makes loyalty programs, whether or not the body says that it does.
pub fn create_program(call: &mut Call<'_, '_>) -> Outcome {
    check_no_rules(&call.source()?, "LOYALTY_PROGRAM")?;
    let mut body = call.body(Nulls::Dropped)?;
    body.insert("campaign_type".into(), "LOYALTY_PROGRAM".into());
    create_coded(call, body)
}

/// A campaign whose codes are what is redeemed.
pub fn create_coded(call: &mut Call<'_, '_>, mut body: Map<String, Json>) -> Outcome {
    let config = body.remove("voucher").ok_or_else(|| Problem::missing("", "voucher"))?;
    let mut config = config.as_object().cloned().unwrap_or_default();
    let campaign_type = settle_types(&body, &mut config)?;
    check_own_fields(&body, campaign_type)?;
    voucher_grant::check_discount(&config, "voucher")?;
    voucher_grant::complete_card(&mut config, "voucher", false)?;
    program_tiers::complete(&mut body);
    let rules = settle(call, &mut body)?;
    let kind = body.get("type").and_then(Json::as_str).unwrap_or("AUTO_UPDATE").to_owned();
    let is_standalone = kind == "STANDALONE";
    if is_standalone && !matches!(campaign_type, "DISCOUNT_COUPONS" | "GIFT_VOUCHERS") {
        return Err(not_standalone(campaign_type).into());
    }
    let wanted = body.remove("vouchers_count").and_then(|count| count.as_u64());
    if let Some(count) = wanted.filter(|count| is_standalone && *count != 1) {
        let told = format!("must be 1 for a STANDALONE campaign (actual value is `{count}`)");
        return Err(Problem::at("vouchers_count", told).into());
    }
    let wanted = wanted.unwrap_or(u64::from(is_standalone));
    let quantity = config.get("redemption").and_then(|redemption| redemption.get("quantity")).cloned();
    // A code of its own for each customer is meant to be used once; a public code and a card are not (objects.md, section 2).
    let once = matches!(campaign_type, "DISCOUNT_COUPONS" | "REFERRAL_PROGRAM") && !is_standalone;
    let quantity_default = if once { json!(1) } else { Json::Null };
    config.insert("redemption".into(), json!({ "quantity": quantity.unwrap_or(quantity_default) }));
    let shape = CodeShape::of(config.get("code_config").and_then(Json::as_object), &call.caller.settings)?;
    config.insert("code_config".into(), shape.document());
    config.insert("is_referral_code".into(), (campaign_type == "REFERRAL_PROGRAM").into());
    match campaign_type {
        _ if is_standalone => drop(body.insert("join_once".into(), false.into())),
        "LOYALTY_PROGRAM" => drop(body.insert("join_once".into(), true.into())),
        _ => {}
    }
    body.insert("voucher".into(), Json::Object(config));
    body.insert("vouchers_count".into(), u64::from(wanted == 1).into());
    let status = if wanted > 1 { "IN_PROGRESS" } else { "DONE" };
    let document = begin(call, body, (campaign_type, &kind, status))?;
    let template = generation::template(&document, &Map::new(), document.created_at);
    voucher_grant::check_readable(Some(&document.body), &template, "voucher")?;
    call.store.insert(CAMPAIGN.object, &document);
    match wanted {
        0 => {}
        1 => drop(generation::make_one(call, &document, &Map::new(), None)?),
        many => drop(generation::make_many(call, &document, &Map::new(), many)?),
    }
    answer(call, document, rules, None)
}

/// A campaign without codes: its tiers are what is redeemed.
fn create_promotion(call: &mut Call<'_, '_>, mut body: Map<String, Json>) -> Outcome {
    check_own_fields(&body, "PROMOTION")?;
    if body.contains_key("voucher") {
        return Err(Problem::at("voucher", "must NOT be present on a PROMOTION campaign").into());
    }
    let kind = body.get("type").and_then(Json::as_str).unwrap_or("AUTO_UPDATE").to_owned();
    if kind == "STANDALONE" {
        return Err(not_standalone("PROMOTION").into());
    }
    let rules = settle(call, &mut body)?;
    let sent = body.remove("promotion").and_then(|promotion| promotion.get("tiers").cloned()).unwrap_or_default();
    let mut drafts = Vec::new();
    let mut last = 0;
    for (place, tier) in sent.as_array().into_iter().flatten().enumerate() {
        let tier = tier.as_object().cloned().unwrap_or_default();
        let draft = tiers::draft(call, tier, last, &format!("promotion.tiers[{place}]"))?;
        last = last.max(draft.hierarchy);
        drafts.push(draft);
    }
    body.insert("vouchers_count".into(), 0.into());
    let document = begin(call, body, ("PROMOTION", &kind, "DONE"))?;
    voucher_grant::check_campaign(&document.body)?;
    call.store.insert(CAMPAIGN.object, &document);
    let mut tiers = Vec::new();
    for draft in drafts {
        tiers.push(tiers::insert(call, &document, draft)?);
    }
    tiers.sort_by_key(|tier| tier.get("hierarchy").and_then(Json::as_i64).unwrap_or(0));
    answer(call, document, rules, Some(crate::shop::tiers::envelope(tiers)))
}

/// What every type of campaign settles first: dates, category, rules, and that its name is free.
fn settle(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<Vec<String>, CallError> {
    voucher_grant::check_validity(body)?;
    voucher_grant::settle_dates(body);
    voucher_grant::settle_category(call, body)?;
    let rules = assignments::take_rules(call, body)?;
    let name = body.get("name").and_then(Json::as_str).unwrap_or_default();
    match call.store.document_by_name(CAMPAIGN.object, name, "")? {
        Some(_) => Err(duplicate(CAMPAIGN.object, "name", name).into()),
        None => bin::check_free(call, CAMPAIGN.object, name, ("name", name)).map(|()| rules),
    }
}

/// The document of a new campaign: what was sent over what a campaign begins with.
fn begin(
    call: &mut Call<'_, '_>,
    body: Map<String, Json>,
    (campaign_type, kind, status): (&str, &str, &str),
) -> Result<Document, CallError> {
    let id = call.ids.alphanumeric("camp_", 24).to_string();
    let defaults = json!({
        "id": id, "type": kind, "campaign_type": campaign_type, "auto_join": false, "use_voucher_metadata_schema": false, "active": true,
        "metadata": {}, "category": null, "category_id": null, "start_date": null, "expiration_date": null, "validity_timeframe": null,
        "validity_day_of_week": null, "validity_hours": null, "activity_duration_after_publishing": null, "description": null,
        "creation_status": status, "vouchers_generation_status": status, "protected": false,
        "created_at": moment::text(call.now_ms()), "updated_at": null, "object": CAMPAIGN.object, "join_once": false,
    });
    let mut whole = defaults.as_object().cloned().unwrap_or_default();
    whole.extend(body);
    whole.insert("campaign_type".into(), campaign_type.into());
    let key = whole.get("name").and_then(Json::as_str).map(str::to_owned);
    let created_at = call.now_ms();
    let document = Document { id, key, parent: None, holder: None, created_at, updated_at: None, body: whole };
    metadata_schemas::check(call.store, &[(CAMPAIGN.object, document.body.get("metadata"))])?;
    Ok(document)
}

/// The campaign as it will be; its rules and tiers are written at the commit, so that nothing finds them yet.
fn answer(call: &mut Call<'_, '_>, document: Document, rules: Vec<String>, tiers: Option<Json>) -> Outcome {
    let assigned = assignments::assign(call, rules, &document.id, CAMPAIGN.object);
    let mut shown = CAMPAIGN.show_one(call, document)?;
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("validation_rules_assignments".into(), assignments::listed(assigned));
        if let Some(tiers) = tiers {
            shown.insert("promotion".into(), tiers);
        }
    }
    Ok(Answer::json(shown))
}

fn not_standalone(campaign_type: &str) -> Problem {
    let told =
        format!("must be one of AUTO_UPDATE, STATIC for a {campaign_type} campaign (actual value is `STANDALONE`)");
    Problem::at("type", told)
}

/// Refuses what belongs to campaigns of another type.
fn check_own_fields(body: &Map<String, Json>, campaign_type: &str) -> Result<(), Problem> {
    let foreign = OWN_FIELDS.iter().find(|(field, of)| *of != campaign_type && body.contains_key(*field));
    let foreign = foreign.map(|(field, _)| *field);
    match foreign {
        Some(field) => Err(Problem::at(field, format!("must NOT be present on a {campaign_type} campaign"))),
        None => check_no_rules(body, campaign_type),
    }
}

/// The rules of a program are those of its rewards and earnings (endpoints.md section 1, shape S9).
fn check_no_rules(sent: &Map<String, Json>, campaign_type: &str) -> Result<(), Problem> {
    if campaign_type == "LOYALTY_PROGRAM" && sent.contains_key("validation_rules") {
        return Err(Problem::at("validation_rules", "must NOT be present on a LOYALTY_PROGRAM campaign"));
    }
    Ok(())
}

/// The campaign's type and its voucher's follow from one another when only one is said.
fn settle_types(body: &Map<String, Json>, config: &mut Map<String, Json>) -> Result<&'static str, ErrorBody> {
    let referral = config.get("is_referral_code").and_then(Json::as_bool);
    let said = body.get("campaign_type").and_then(Json::as_str);
    let said = said.or_else(|| Some("REFERRAL_PROGRAM").filter(|_| referral == Some(true)));
    if said == Some("REFERRAL_PROGRAM") && !config.contains_key("discount") {
        let told = "Property 'discount' is required for REFERRAL_PROGRAM campaign";
        return Err(error(400, "invalid_campaign", "Invalid Campaign", told));
    }
    let of_said = VOUCHERS_OF.iter().find(|(campaign, _)| Some(*campaign) == said);
    if let Some((_, voucher)) = of_said.filter(|_| !config.contains_key("type")) {
        config.insert("type".into(), (*voucher).into());
    }
    let voucher_type = voucher_grant::voucher_type(config, "voucher")?;
    config.insert("type".into(), voucher_type.into());
    let follows = of_said.or_else(|| VOUCHERS_OF.iter().find(|(_, voucher)| *voucher == voucher_type));
    let (campaign_type, wanted) = follows.copied().unwrap_or(("DISCOUNT_COUPONS", voucher_type));
    if wanted != voucher_type {
        let told =
            format!("must be the type of a {campaign_type} campaign's vouchers (actual value is `{voucher_type}`)");
        return Err(Problem::at("voucher.type", told).into());
    }
    if let Some(said) = referral.filter(|said| *said != (campaign_type == "REFERRAL_PROGRAM")) {
        let told = format!("must be {} on a {campaign_type} campaign (actual value is `{said}`)", !said);
        return Err(Problem::at("voucher.is_referral_code", told).into());
    }
    Ok(campaign_type)
}
