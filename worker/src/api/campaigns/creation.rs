//! The creation of campaigns of every type: the fields of each type, and the initial state of its campaign.

use crate::api::promotions::tiers;
use crate::documents::common_fields::{CODE_CONFIG, DISCOUNT, GIFT, KEY, LOYALTY_CARD, REDEMPTION, VOUCHER_TYPE};
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::loyalty_campaigns;
use crate::domain::metadata::schemas;
use crate::domain::validation_rules::assignments;
use crate::domain::vouchers::code_generator::CodeShape;
use crate::domain::vouchers::creation::RequestedCode;
use crate::domain::vouchers::{creation, definition};
use crate::domain::{clock, trash_bin, visibility};
use crate::http::reply::{CallError, ErrorBody, duplicate, error};
use crate::http::route::{Call, HandlerResult, Response};
use crate::http::shape::{Field, FieldType, Nulls, may};
use crate::store::document::Document;
use crate::store::records::{CampaignRecord, PromotionTierRecord, VoucherConfig};
use crate::timestamp;
use scrip::wire::Problem;
use scrip::wire::voucher::campaign_fields;
use serde_json::{Map, Value as Json, json};

/// Maximum number of codes in one request (errors-and-auth, section 7).
pub const VOUCHERS_MAX: i64 = 100_000;

/// Types of campaigns with vouchers, and the type of these. Of two with equal vouchers the first is the default.
const VOUCHERS_OF: &[(&str, &str)] = &[
    ("DISCOUNT_COUPONS", "DISCOUNT_VOUCHER"),
    ("GIFT_VOUCHERS", "GIFT_VOUCHER"),
    ("LOYALTY_PROGRAM", "LOYALTY_CARD"),
    ("REFERRAL_PROGRAM", "DISCOUNT_VOUCHER"),
];

const VOUCHER: &[Field] = &[
    may("code", KEY)
        .description("Code of the only voucher of a `STANDALONE` campaign. Absent means a generated code. Refused on other campaigns."),
    may("type", VOUCHER_TYPE)
        .description("Type of the vouchers. Default is the type that `campaign_type` needs, or else the type of the grant that is sent."),
    may("discount", DISCOUNT)
        .description("Discount of each voucher. Required for discount coupons and referral codes, refused for other vouchers."),
    may("gift", GIFT).description("Amount on each gift card. Required for gift vouchers, refused for other vouchers."),
    may("loyalty_card", LOYALTY_CARD)
        .description("Points on each new card and their expiration rules. Required for loyalty campaigns, refused for other vouchers."),
    may("code_config", CODE_CONFIG)
        .description("Form of the generated codes. Default is 8 characters, drawn from the project's character set."),
    may("redemption", REDEMPTION)
        .description("Limit on the redemptions of each voucher. Default is one redemption for generated discount and referral codes, and no limit for other vouchers."),
    may("is_referral_code", FieldType::Bool)
        .description("`true` for referral codes. Without `campaign_type`, `true` makes the campaign a `REFERRAL_PROGRAM`; otherwise both fields must agree."),
];

const PROMOTION: FieldType =
    FieldType::Object(&[may("tiers", FieldType::List(&FieldType::Object(tiers::CREATE), 0, tiers::TIERS_MAX))
        .description("Tiers of the promotion. A tier without `hierarchy` ranks after those before.")]);

/// The body of a creation, of any type (docs/spec/endpoints.md section 1, shape S9).
pub const CREATE: &[Field] = scrip::fields_of!(
    campaign_fields::CREATION,
    &[
        may("vouchers_count", FieldType::Int(0, VOUCHERS_MAX)).description(
            "Number of vouchers to create. Default 0, and 1 for a `STANDALONE` campaign, which accepts no other number."
        ),
        may("validation_rules", FieldType::List(&KEY, 0, 1))
            .description("ID of the validation rule that is assigned to the campaign. Refused for a loyalty campaign."),
        may("voucher", FieldType::Object(VOUCHER))
            .description("Configuration of the vouchers. Required, except for a promotion, which refuses the field."),
        may("promotion", PROMOTION).description("Tiers of a campaign of type `PROMOTION`. Refused for other types."),
    ]
);

/// Handles the creation of a campaign.
pub fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    if CampaignRecord::of(&body).is_promotion() {
        return create_promotion(call, body);
    }
    create_coded(call, body)
}

/// Handles the creation of a loyalty campaign, with or without the type in the body.
pub fn create_loyalty_campaign(call: &mut Call<'_, '_>) -> HandlerResult {
    check_no_rules(&call.source()?, "LOYALTY_PROGRAM")?;
    let mut body = call.body(Nulls::Dropped)?;
    body.insert("campaign_type".into(), "LOYALTY_PROGRAM".into());
    create_coded(call, body)
}

/// Creates a campaign with redeemable codes.
pub fn create_coded(call: &mut Call<'_, '_>, mut body: Map<String, Json>) -> HandlerResult {
    let config = body.remove("voucher").ok_or_else(|| Problem::missing("", "voucher"))?;
    let mut config = config.as_object().cloned().unwrap_or_default();
    let campaign_type = complete_types(&body, &mut config)?;
    check_own_fields(&body, campaign_type)?;
    definition::check_discount(&config, "voucher")?;
    definition::check_free_goods(call.store, &config, "voucher")?;
    if let Some(card) = config.get_mut("loyalty_card").and_then(Json::as_object_mut) {
        // The cards of a campaign begin with its points; a balance that is sent with them is ignored (docs/spec/clients.md).
        card.remove("balance");
    }
    definition::complete_card(&mut config, "voucher", false)?;
    loyalty_campaigns::tiers::fill_qualification(&mut body);
    let rules = normalise(call, &mut body)?;
    let kind = CampaignRecord::of(&body).supply().unwrap_or("AUTO_UPDATE").to_owned();
    let is_standalone = kind == "STANDALONE";
    visibility::check_codes(CampaignRecord::of(&body).visibility(), is_standalone)?;
    if is_standalone && !matches!(campaign_type, "DISCOUNT_COUPONS" | "GIFT_VOUCHERS") {
        return Err(not_standalone(campaign_type).into());
    }
    let code = config.remove("code").and_then(|code| code.as_str().map(str::to_owned));
    if code.is_some() && !is_standalone {
        let message = format!("must NOT be present on a campaign of the type {kind}, whose codes are generated");
        return Err(Problem::at("voucher.code", message).into());
    }
    let count_requested = body.remove("vouchers_count").and_then(|count| count.as_u64());
    if let Some(count) = count_requested.filter(|count| is_standalone && *count != 1) {
        let message = format!("must be 1 for a STANDALONE campaign (actual value is `{count}`)");
        return Err(Problem::at("vouchers_count", message).into());
    }
    let count_requested = count_requested.unwrap_or(u64::from(is_standalone));
    let quantity = VoucherConfig::of(&config).quantity().cloned();
    // A unique code for each customer is for one use; a generic code and a card are not (docs/spec/objects.md#2).
    let is_single_use = matches!(campaign_type, "DISCOUNT_COUPONS" | "REFERRAL_PROGRAM") && !is_standalone;
    let quantity_default = if is_single_use { json!(1) } else { Json::Null };
    config.insert("redemption".into(), json!({ "quantity": quantity.unwrap_or(quantity_default) }));
    let shape = CodeShape::of(VoucherConfig::of(&config).code_config(), &call.caller.settings)?;
    config.insert("code_config".into(), shape.document());
    config.insert("is_referral_code".into(), (campaign_type == "REFERRAL_PROGRAM").into());
    match campaign_type {
        _ if is_standalone => drop(body.insert("join_once".into(), false.into())),
        "LOYALTY_PROGRAM" => drop(body.insert("join_once".into(), true.into())),
        _ => {}
    }
    body.insert("voucher".into(), Json::Object(config));
    body.insert("vouchers_count".into(), u64::from(count_requested == 1).into());
    let status = if count_requested > 1 { "IN_PROGRESS" } else { "DONE" };
    let document = new_campaign(call, body, campaign_type, &kind, status)?;
    let template = creation::template(&document, &Map::new(), document.created_at);
    definition::check_readable(Some(&document.body), &template, "voucher")?;
    call.store.insert(CAMPAIGN.object, &document);
    match count_requested {
        0 => {}
        1 => {
            let code = code.as_deref().map(|code| RequestedCode { code, path: "voucher.code" });
            drop(creation::create_one(call, &document, &Map::new(), code)?);
        }
        many => drop(creation::create_many(call, &document, &Map::new(), many)?),
    }
    respond(call, document, rules, None)
}

/// Creates a campaign without codes, with redeemable promotion tiers.
fn create_promotion(call: &mut Call<'_, '_>, mut body: Map<String, Json>) -> HandlerResult {
    check_own_fields(&body, "PROMOTION")?;
    visibility::check_promotion(CampaignRecord::of(&body).visibility())?;
    if body.contains_key("voucher") {
        return Err(Problem::at("voucher", "must NOT be present on a PROMOTION campaign").into());
    }
    let kind = CampaignRecord::of(&body).supply().unwrap_or("AUTO_UPDATE").to_owned();
    if kind == "STANDALONE" {
        return Err(not_standalone("PROMOTION").into());
    }
    let rules = normalise(call, &mut body)?;
    let sent = body.remove("promotion").and_then(|promotion| promotion.get("tiers").cloned()).unwrap_or_default();
    let mut drafts = Vec::new();
    let mut last = 0;
    for (index, tier) in sent.as_array().into_iter().flatten().enumerate() {
        let tier = tier.as_object().cloned().unwrap_or_default();
        let draft = tiers::new_draft(call, tier, last, &format!("promotion.tiers[{index}]"))?;
        last = last.max(draft.hierarchy);
        drafts.push(draft);
    }
    body.insert("vouchers_count".into(), 0.into());
    let document = new_campaign(call, body, "PROMOTION", &kind, "DONE")?;
    definition::check_campaign(&document.body)?;
    call.store.insert(CAMPAIGN.object, &document);
    let mut tiers = Vec::new();
    for draft in drafts {
        tiers.push(tiers::insert(call, &document, draft)?);
    }
    tiers.sort_by_key(|tier| PromotionTierRecord::of_value(tier).hierarchy().unwrap_or(0));
    respond(call, document, rules, Some(crate::domain::promotions::tiers::envelope(tiers)))
}

/// Normalises the fields that all types of campaigns have (dates, category), checks that the name is free, and returns the ids of the rules.
fn normalise(call: &mut Call<'_, '_>, body: &mut Map<String, Json>) -> Result<Vec<String>, CallError> {
    let zone = clock::zone(call)?;
    definition::check_validity(body, &zone)?;
    definition::normalise_dates(body, &zone);
    definition::normalise_category(call, body)?;
    let rules = assignments::find_rules(call, body.remove("validation_rules").as_ref())?;
    let name = CampaignRecord::of(body).name().unwrap_or_default();
    match call.store.document_by_name(CAMPAIGN.object, name, "")? {
        Some(_) => Err(duplicate(CAMPAIGN.object, "name", name).into()),
        None => trash_bin::check_name_free(call, CAMPAIGN.object, name, "name", name).map(|()| rules),
    }
}

/// Returns the document of a new campaign: the sent members over the initial ones.
fn new_campaign(
    call: &mut Call<'_, '_>,
    body: Map<String, Json>,
    campaign_type: &str,
    kind: &str,
    status: &str,
) -> Result<Document, CallError> {
    let id = call.ids.alphanumeric("camp_", 24).to_string();
    let created_at = call.now_ms();
    let mut members = campaign_fields::initial_members();
    let own = json!({
        "id": id, "type": kind, "creation_status": status, "vouchers_generation_status": status,
        "created_at": timestamp::text(created_at), "object": CAMPAIGN.object,
    });
    members.extend(own.as_object().cloned().unwrap_or_default());
    members.extend(body);
    members.insert("campaign_type".into(), campaign_type.into());
    let key = CampaignRecord::of(&members).name().map(str::to_owned);
    let document = Document { id, key, parent: None, holder: None, created_at, updated_at: None, body: members };
    schemas::check_body(call.store, CAMPAIGN.object, &document.body)?;
    Ok(document)
}

/// Returns the campaign as it will be; its rules and tiers are written when the call commits, so lookups do not find them yet.
fn respond(call: &mut Call<'_, '_>, document: Document, rules: Vec<String>, tiers: Option<Json>) -> HandlerResult {
    let assigned = assignments::assign(call, rules, &document.id, CAMPAIGN.object);
    let mut json = CAMPAIGN.one_to_json(call, document)?;
    if let Some(json) = json.as_object_mut() {
        json.insert("validation_rules_assignments".into(), assignments::list_json(assigned));
        if let Some(tiers) = tiers {
            json.insert("promotion".into(), tiers);
        }
    }
    Ok(Response::json(json))
}

fn not_standalone(campaign_type: &str) -> Problem {
    let message =
        format!("must be one of AUTO_UPDATE, STATIC for a {campaign_type} campaign (actual value is `STANDALONE`)");
    Problem::at("type", message)
}

/// Refuses members of other types of campaigns.
fn check_own_fields(body: &Map<String, Json>, campaign_type: &str) -> Result<(), Problem> {
    let foreign =
        campaign_fields::OF_ONE_TYPE.iter().find(|(field, of)| *of != campaign_type && body.contains_key(*field));
    let foreign = foreign.map(|(field, _)| *field);
    match foreign {
        Some(field) => Err(Problem::at(field, format!("must NOT be present on a {campaign_type} campaign"))),
        None => check_no_rules(body, campaign_type),
    }
}

/// Refuses rules of a loyalty campaign: only its rewards and earnings have rules (docs/spec/endpoints.md section 1, shape S9).
fn check_no_rules(sent: &Map<String, Json>, campaign_type: &str) -> Result<(), Problem> {
    if campaign_type == "LOYALTY_PROGRAM" && sent.contains_key("validation_rules") {
        return Err(Problem::at("validation_rules", "must NOT be present on a LOYALTY_PROGRAM campaign"));
    }
    Ok(())
}

/// Completes the types of the campaign and of its vouchers from each other if only one is sent.
fn complete_types(body: &Map<String, Json>, config: &mut Map<String, Json>) -> Result<&'static str, ErrorBody> {
    let referral = VoucherConfig::of(config).is_referral_code();
    let requested = Some(CampaignRecord::of(body).campaign_type()).filter(|requested| !requested.is_empty());
    let requested = requested.or_else(|| Some("REFERRAL_PROGRAM").filter(|_| referral == Some(true)));
    if requested == Some("REFERRAL_PROGRAM") && !config.contains_key("discount") {
        let message = "Property 'discount' is required for REFERRAL_PROGRAM campaign";
        return Err(error(400, "invalid_campaign", "Invalid Campaign", message));
    }
    let matching = VOUCHERS_OF.iter().find(|(campaign, _)| Some(*campaign) == requested);
    if let Some((_, voucher)) = matching.filter(|_| !config.contains_key("type")) {
        config.insert("type".into(), (*voucher).into());
    }
    let voucher_type = definition::voucher_type(config, "voucher")?;
    config.insert("type".into(), voucher_type.into());
    let pair = matching.or_else(|| VOUCHERS_OF.iter().find(|(_, voucher)| *voucher == voucher_type));
    let (campaign_type, expected_type) = pair.copied().unwrap_or(("DISCOUNT_COUPONS", voucher_type));
    if expected_type != voucher_type {
        let message =
            format!("must be the type of a {campaign_type} campaign's vouchers (actual value is `{voucher_type}`)");
        return Err(Problem::at("voucher.type", message).into());
    }
    if let Some(requested) = referral.filter(|requested| *requested != (campaign_type == "REFERRAL_PROGRAM")) {
        let message = format!("must be {} on a {campaign_type} campaign (actual value is `{requested}`)", !requested);
        return Err(Problem::at("voucher.is_referral_code", message).into());
    }
    Ok(campaign_type)
}
