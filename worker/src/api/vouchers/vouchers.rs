//! Vouchers: create, get, list, enable, disable, and their JSON: the document with amounts of the ledger.

use crate::documents::common_fields::{
    BEFORE_AFTER, CODE_CONFIG, DISCOUNT, GIFT, KEY, LIMIT, OWN_CARD, PAGE_99, REDEMPTION, VALIDITY_DAY_OF_WEEK,
    VALIDITY_HOURS, VALIDITY_TIMEFRAME, VOUCHER_TYPE,
};
use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::validation_rules::assignments;
use crate::domain::vouchers::code_checks::check_code;
use crate::domain::vouchers::code_generator;
use crate::domain::vouchers::code_generator::CodeShape;
use crate::domain::vouchers::image_urls::ImageUrls;
use crate::domain::vouchers::voucher::{ORDERS, VOUCHER, check_metadata, find, to_json, to_json_with_balances};
use crate::domain::vouchers::{creation, definition};
use crate::domain::{categories, clock, trash_bin, visibility};
use crate::http::list_options::List;
use crate::http::reply::{CallError, duplicate, invalid_payload, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, get, post};
use crate::http::shape::{Field, FieldType, Nulls, may};
use crate::store::amount;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::index::code_key::code_key;
use crate::store::ledger::AccountBalance;
use crate::store::records::{CodeConfig, VoucherRecord};
use crate::store::transfer_rows::TransferRow;
use crate::timestamp;
use scrip::facts::{credits_account, points_account, points_spent_account, spent_account};
use scrip::wire::Problem;
use scrip::wire::voucher::VISIBILITY;
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;

/// Fields of a new voucher (docs/spec/endpoints.md section 1, shape S10).
pub const CREATE: &[Field] = &[
    may("code", KEY)
        .description("Code of the voucher, unique in the project. Imports require a code; otherwise a missing code is generated."),
    may("code_config", CODE_CONFIG).description("Pattern of a generated code. Ignored when a code is given."),
    may("type", VOUCHER_TYPE)
        .description("Type of the voucher. Default: the type that matches `discount`, `gift` or `loyalty_card`. Within a campaign, the type of its vouchers is required."),
    may("discount", DISCOUNT)
        .description("Discount that the voucher grants. Only for a `DISCOUNT_VOUCHER`, which requires a discount except in an import into a campaign."),
    may("gift", GIFT)
        .description("Credits of a gift card, in minor units. Only for a `GIFT_VOUCHER`, which requires credits except in an import into a campaign."),
    may("loyalty_card", OWN_CARD)
        .description("Points of a loyalty card. Only for a `LOYALTY_CARD`, which requires points except in an import into a campaign."),
    may("redemption", REDEMPTION)
        .description("Limit on the redemptions of the voucher. Absent means no limit, or the limit of the campaign into which the voucher is imported."),
    may("campaign", KEY)
        .description("Name or ID of the campaign to which the voucher belongs. Ignored when `campaign_id` or the path names a campaign."),
    may("campaign_id", KEY)
        .description("ID or name of the campaign to which the voucher belongs. Ignored when the path names a campaign."),
    may("category", KEY).description("Name of the category of the voucher. A category that does not exist is created."),
    may("category_id", KEY).description("ID of the category of the voucher. The category must exist."),
    may("start_date", FieldType::DateTime)
        .description("Moment from which the voucher can be redeemed, in UTC. A date without a time means the start of that day in the project's time zone."),
    may("expiration_date", FieldType::DateTime)
        .description("Moment after which the voucher can no longer be redeemed, in UTC. A date without a time means the end of that day in the project's time zone."),
    may("validity_timeframe", VALIDITY_TIMEFRAME)
        .description("Recurring windows in which the voucher can be redeemed, counted from `start_date`, which is then required."),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK)
        .description("Weekdays on which the voucher can be redeemed, from 0 for Sunday to 6 for Saturday. Absent means every day."),
    may("validity_hours", VALIDITY_HOURS)
        .description("Hours of the day in which the voucher can be redeemed. Cannot be combined with `validity_timeframe` or `validity_day_of_week`."),
    may("active", FieldType::Bool)
        .description("`true` if the voucher can be redeemed. Default `true`. A disabled voucher fails validation with `voucher_disabled`."),
    may("visibility", VISIBILITY)
        .description("Disclosure to clients of a voucher without a campaign while it is in force: `public` for everything, `sealed` for what the code opens, `server` for nothing. Absent means `sealed` for a discount of unlimited quantity, otherwise `server`. Refused within a campaign, whose setting applies."),
    may("additional_info", FieldType::Text)
        .description("Note of the merchant on the voucher."),
    may("metadata", FieldType::Map),
    may("validation_rules", FieldType::List(&KEY, 0, 1))
        .description("ID of the validation rule to assign to the voucher. The rule must exist."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/vouchers", "List vouchers", list)
        .describe(
            "listVouchers",
            "Returns the vouchers of the project, the newest first by default. All conditions of the query must be met. An unknown order or filter and a page above 99 are refused with `invalid_query_params`.",
        )
        .returns("The vouchers of this page and the total.")
        .of(&VOUCHER)
        .lists_resource(shapes::TOTAL)
        .scope("vouchers")
        .query(&[
            LIMIT,
            PAGE_99,
            may("order", FieldType::OneOf(ORDERS))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
            may("campaign", KEY)
                .description("Name or ID of a campaign. Only the vouchers of this campaign are listed."),
            may("campaign_id", KEY).description("ID of a campaign. Only the vouchers of this campaign are listed."),
            may("code", KEY).description("Exact code of a voucher. Only the voucher with this code is listed."),
            may("category", KEY).description("Name of a category. Only vouchers in this category are listed."),
            may("customer", KEY)
                .description("ID or `source_id` of a customer. Only vouchers that this customer holds are listed."),
            may("ids", FieldType::List(&KEY, 0, 100))
                .description("IDs of vouchers. Only these vouchers are listed; an empty list selects all."),
            may("created_at", BEFORE_AFTER).description("Bounds on the moment of creation, in UTC."),
            may("updated_at", BEFORE_AFTER).description("Bounds on the moment of the last change, in UTC."),
            may("filters", FieldType::Map)
                .description("Conditions by field of the voucher, joined by `junction`. They apply in addition to the other parameters."),
        ]),
    post("/v1/vouchers", "Create a voucher", create)
        .describe(
            "createVoucher",
            "Creates one voucher: a discount coupon, a gift card or a loyalty card. The code is the one that is sent or else is generated; a loyalty card needs a campaign. The webhook event `voucher.created` follows. A code that is in use or in the trash bin is refused with `duplicate_found`, an inconsistent body with `invalid_payload`.",
        )
        .returns("The new voucher, with its code and its balance.")
        .of(&VOUCHER)
        .scope("vouchers")
        .body(CREATE),
    get("/v1/vouchers/{code}", "Get a voucher by code or ID", get_one)
        .describe(
            "getVoucher",
            "Returns one voucher with its balance, its counts of redemptions and publications, and its validation rules. An unknown code or ID is refused with `not_found`, and so is a voucher whose campaign is being deleted.",
        )
        .returns("The voucher, as the ledger counts it now.")
        .of(&VOUCHER)
        .scope("vouchers"),
    post("/v1/vouchers/{code}", "Create a voucher with a given code", create)
        .describe(
            "createVoucherWithCode",
            "Creates one voucher with the code of the path; a code in the body is ignored. The webhook event `voucher.created` follows. A code that is in use or in the trash bin is refused with `duplicate_found`, an inconsistent body with `invalid_payload`.",
        )
        .returns("The new voucher, with its balance.")
        .of(&VOUCHER)
        .scope("vouchers")
        .body(CREATE),
    post("/v1/vouchers/{code}/enable", "Enable a voucher", enable)
        .describe(
            "enableVoucher",
            "Sets `active` of the voucher to `true`, so that the voucher can be redeemed again within its validity. The webhook event `voucher.enabled` follows. An unknown code or ID is refused with `not_found`.",
        )
        .returns("The voucher, with `active` set to `true`.")
        .of(&VOUCHER)
        .scope("vouchers"),
    post("/v1/vouchers/{code}/disable", "Disable a voucher", disable)
        .describe(
            "disableVoucher",
            "Sets `active` of the voucher to `false`. Validations and redemptions of the voucher fail with `voucher_disabled` from then on. The webhook event `voucher.disabled` follows. An unknown code or ID is refused with `not_found`.",
        )
        .returns("The voucher, with `active` set to `false`.")
        .of(&VOUCHER)
        .scope("vouchers"),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let clause = Clause::of_kind(VOUCHER.object).at(call.now_ms());
    list_within(call, &VOUCHER.list, clause)
}

/// Lists vouchers. A code is looked up in its stored form, which is indexed.
pub fn list_within(call: &mut Call<'_, '_>, list: &List, mut clause: Clause) -> HandlerResult {
    let ids = call.query.values("ids");
    if !ids.is_empty() {
        clause.with_ids(&ids);
    }
    if let Some(code) = call.query.parameter("code") {
        clause.with_key(&code_key(code, call.caller.settings.case_sensitive_codes));
    }
    let clause = clock::at_call(call, clause)?;
    let page = list.select(call.store, &call.query, clause)?;
    let json = to_json(call, page.documents)?;
    Ok(Response::json(Json::Object(list.envelope(json, page.total))))
}

fn get_one(call: &mut Call<'_, '_>) -> HandlerResult {
    let voucher = find(call)?;
    Ok(Response::json(VOUCHER.one_to_json(call, voucher)?))
}

fn enable(call: &mut Call<'_, '_>) -> HandlerResult {
    set_active(call, true)
}

fn disable(call: &mut Call<'_, '_>) -> HandlerResult {
    set_active(call, false)
}

fn set_active(call: &mut Call<'_, '_>, active: bool) -> HandlerResult {
    find(call)?;
    let voucher = resource::set_active(call, active)?;
    Ok(Response::json(VOUCHER.one_to_json(call, voucher)?))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    Ok(Response::json(insert_and_describe(call, body)?))
}

/// Voucher that is created when the call commits.
pub struct NewVoucher {
    /// Document of the voucher.
    pub voucher: Document,
    rules: Vec<Json>,
    balances: HashMap<String, AccountBalance>,
}

/// Queues a new voucher as sent; returns its future JSON.
fn insert_and_describe(call: &mut Call<'_, '_>, body: Map<String, Json>) -> Result<Json, CallError> {
    let NewVoucher { voucher, rules, balances } = insert_voucher(call, body)?;
    let categories = categories::CategoryLookup::of(call, std::slice::from_ref(&voucher))?;
    let assets = ImageUrls::of(call)?.to_json(&voucher)?;
    Ok(to_json_with_balances(voucher, call.context.now, &balances, rules, &categories, assets))
}

/// Queues a new voucher as sent.
pub fn insert_voucher(call: &mut Call<'_, '_>, mut body: Map<String, Json>) -> Result<NewVoucher, CallError> {
    let kind = definition::voucher_type(&body, "")?;
    definition::check_discount(&body, "")?;
    definition::check_free_goods(call.store, &body, "")?;
    let spent = definition::complete_card(&mut body, "", true)?;
    let zone = clock::zone(call)?;
    definition::check_validity(&body, &zone)?;
    definition::normalise_dates(&mut body, &zone);
    definition::normalise_category(call, &mut body)?;
    let rules = assignments::find_rules(call, body.remove("validation_rules").as_ref())?;
    let campaign = find_campaign(call, &mut body, kind)?;
    visibility::check_voucher(VoucherRecord::of(&body).visibility(), campaign.is_some())?;
    let code = read_or_generate_code(call, &mut body)?;
    let defaults = json!({
        "type": kind, "discount": null, "gift": null, "loyalty_card": null, "campaign": null, "campaign_id": null, "category": null, "category_id": null,
        "start_date": null, "expiration_date": null, "validity_timeframe": null, "validity_day_of_week": null, "validity_hours": null,
        "active": true, "additional_info": null, "metadata": {}, "is_referral_code": false, "created_at": timestamp::text(call.now_ms()),
        "updated_at": null, "object": "voucher", "redemption": { "quantity": null },
    });
    let mut members = defaults.as_object().cloned().unwrap_or_default();
    members.extend(body);
    if let Some(campaign) = &campaign {
        members.insert("campaign".into(), campaign.as_campaign().name().into());
        members.insert("campaign_id".into(), campaign.id.clone().into());
        members.insert("is_referral_code".into(), creation::is_referral(campaign).into());
    }
    let voucher = creation::new_voucher(call, members, &code, campaign.as_ref().map(|campaign| campaign.id.as_str()));
    check_metadata(call, campaign.as_ref(), voucher.as_voucher())?;
    definition::check_readable(None, &voucher.body, "")?;
    call.store.insert("voucher", &voucher);
    let rules = assignments::assign(call, rules, &voucher.id, "voucher");
    if let Some(campaign) = &campaign {
        creation::update_count(call, &campaign.id, 1);
    }
    let mut balances = HashMap::new();
    if spent > 0 {
        let post = transfer_of_earlier_use(call, &voucher, campaign.as_ref(), spent);
        balances.insert(post.debit.clone(), AccountBalance { balance: amount::negated(spent)?, held: 0 });
        call.store.post(vec![post]);
    }
    Ok(NewVoucher { voucher, rules, balances })
}

/// Returns a transfer for the amount that a card had spent before its import.
pub fn transfer_of_earlier_use(
    call: &mut Call<'_, '_>,
    voucher: &Document,
    campaign: Option<&Document>,
    amount: i64,
) -> TransferRow {
    let id = call.ids.hex18("tr_").to_string();
    let campaign_id = campaign.map(|campaign| campaign.id.as_str());
    let is_card = voucher.as_voucher().is_loyalty_card();
    let (debit, credit) = if is_card {
        (points_account(&voucher.id), points_spent_account(campaign_id))
    } else {
        (credits_account(&voucher.id), spent_account(campaign_id))
    };
    let (debit, credit) = (debit.to_string(), credit.to_string());
    TransferRow { chain: id.clone(), id, debit, credit, amount, reverses: None, part_of: None, at: call.now_ms() }
}

fn find_campaign(call: &Call<'_, '_>, body: &mut Map<String, Json>, kind: &str) -> Result<Option<Document>, CallError> {
    let by_name = body.remove("campaign");
    let by_id = body.remove("campaign_id");
    let Some(name) = by_id.or(by_name).and_then(|name| name.as_str().map(str::to_owned)) else {
        // A loyalty card belongs to a loyalty campaign (docs/spec/endpoints.md, vouchers).
        return if kind == "LOYALTY_CARD" { Err(Problem::missing("", "campaign").into()) } else { Ok(None) };
    };
    let campaign =
        call.store.document_by_name("campaign", &name, &name)?.ok_or_else(|| not_found("campaign", &name))?;
    creation::check_open(&campaign)?;
    let campaign_kind = campaign.as_campaign().vouchers().voucher_type().unwrap_or_default();
    if campaign_kind != kind {
        let details = format!(
            "Property .type must be {campaign_kind}, the type of the campaign's vouchers (actual value is `{kind}`)"
        );
        return Err(invalid_payload(details).into());
    }
    Ok(Some(campaign))
}

fn read_or_generate_code(call: &mut Call<'_, '_>, body: &mut Map<String, Json>) -> Result<String, CallError> {
    let config = body.remove("code_config");
    let sent_code = body.remove("code").and_then(|code| code.as_str().map(str::to_owned));
    let in_path = Some(call.param("code").to_owned()).filter(|code| !code.is_empty());
    let case_sensitive = call.caller.settings.case_sensitive_codes;
    if let Some(code) = in_path.or(sent_code) {
        check_code(&code, "code")?;
        if call.store.document_by_name("voucher", &code_key(&code, case_sensitive), "")?.is_some() {
            return Err(duplicate("voucher", "id", &code).into());
        }
        trash_bin::check_name_free(call, "voucher", &code_key(&code, case_sensitive), "id", &code)?;
        return Ok(code);
    }
    let shape = CodeShape::of(CodeConfig::of_value(config.as_ref()), &call.caller.settings)?;
    let codes = code_generator::generate(call.store, &mut call.ids, "project", &shape, 1, case_sensitive)?;
    Ok(codes.into_iter().next().unwrap_or_default())
}
