//! Campaigns: get, list, delete, enable, disable, add vouchers. Campaigns are created in `campaigns/creation`, their
//! vouchers in `vouchers/creation`.

use crate::api::campaigns::creation;
use crate::api::campaigns::creation::VOUCHERS_MAX;
use crate::api::promotions::tiers;
use crate::documents::common_fields::{CODE_CONFIG, KEY, LIMIT, PAGE, REDEMPTION, VOUCHER_TYPE};
use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::campaigns::campaign::{CAMPAIGN, STATUSES, TYPES, to_json};
use crate::domain::loyalty_campaigns::{self, earning_rules};
use crate::domain::rewards;
use crate::domain::validation_rules::assignments;
use crate::domain::vouchers::bulk_jobs::{VOUCHERS_DELETE, VoucherDeletionJob};
use crate::domain::vouchers::creation::RequestedCode;
use crate::domain::vouchers::{self, definition, voucher};
use crate::domain::{clock, trash_bin, visibility};
use crate::http::reply::{CallError, invalid_payload, invalid_query};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post};
use crate::http::shape::{Field, FieldType, Nulls, may};
use crate::jobs::async_actions;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::documents::campaigns;
use crate::store::records::VoucherRecord;
use scrip::wire::voucher::VISIBILITY;
use serde_json::{Map, Value as Json, json};

/// Details that a list may expand. There are no areas and stores, and so no assignments to them.
pub const EXPANDED: &[&str] = &["category", "access_settings_assignments"];
const ADD: &[Field] = &[
    may("code", KEY)
        .description("Code of the new voucher. Absent means a generated code. Refused if several vouchers are added, ignored if the path contains the code."),
    may("code_config", CODE_CONFIG)
        .description("Form of the generated codes in this call. Default is the form that the campaign defines."),
    may("category", KEY)
        .description("Name of the category of the vouchers. A category that does not exist is created. Default is the category of the campaign."),
    may("category_id", KEY)
        .description("ID of the category of the vouchers. The category must exist. Default is the category of the campaign."),
    may("metadata", FieldType::Map),
    may("redemption", REDEMPTION)
        .description("Limit on the redemptions of each voucher. Default is the limit that the campaign defines."),
    may("additional_info", FieldType::Text).description("Note of the merchant on the vouchers."),
    may("visibility", VISIBILITY).description("Refused: the setting of the campaign applies to its vouchers."),
    may("start_date", FieldType::DateTime)
        .description("Moment from which the vouchers can be redeemed, in UTC. Default is the start of the campaign."),
    may("expiration_date", FieldType::DateTime)
        .description("Moment after which the vouchers can no longer be redeemed, in UTC. Default is the end of the campaign."),
    may("type", VOUCHER_TYPE).description("Type of the vouchers. Only the type that the campaign defines is accepted."),
    may("discount", FieldType::Map)
        .description("Discount of the vouchers. Only the discount that the campaign defines is accepted."),
    may("gift", FieldType::Map)
        .description("Amount on the gift cards. Only the amount that the campaign defines is accepted."),
    may("loyalty_card", FieldType::Map)
        .description("Points and expiration rules of the loyalty cards. Only those that the campaign defines are accepted."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/campaigns", "List campaigns", list)
        .describe(
            "listCampaigns",
            "Returns the campaigns of the project, the newest first by default. Promotions contain their tiers; categories are included only on request with `expand`. An unknown order, filter or expansion is refused with `invalid_query_params`.",
        )
        .returns("The campaigns of this page and the total.")
        .of(&CAMPAIGN)
        .lists_resource(shapes::TOTAL)
        .scope("campaigns")
        .query(&[
            LIMIT,
            PAGE,
            may("order", FieldType::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"]))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
            may("campaign_type", FieldType::OneOf(TYPES))
                .description("Type of campaign. Only campaigns of this type are listed."),
            may("campaign_status", FieldType::OneOf(STATUSES))
                .description("Status of creation. Only campaigns with this `creation_status` are listed."),
            may("is_referral_code", FieldType::Bool)
                .description("`true` for only the campaigns with referral codes, `false` for only those with other vouchers."),
            may("expand", FieldType::OneOf(EXPANDED))
                .description("Related objects to include. `category` includes the categories of each campaign; `access_settings_assignments` adds nothing."),
            may("filters", FieldType::Map)
                .description("Conditions by name (`campaigns`), ID (`campaigns_id`), status, type, category or date, joined by `junction`."),
        ]),
    post("/v1/campaigns", "Create a campaign", creation::create)
        .describe(
            "createCampaign",
            "Creates a campaign of any type with its rule assignments, and with the tiers of a promotion. One voucher is created at once, more are generated by a job. The webhook event `campaign.created` follows. A name that is in use or in the trash bin is refused with `duplicate_found`, an inconsistent body with `invalid_payload`.",
        )
        .returns("The new campaign, whose vouchers may still be in generation.")
        .of(&CAMPAIGN)
        .scope("campaigns")
        .body(creation::CREATE),
    get("/v1/campaigns/{campaignId}", "Get a campaign by ID or name", resource::get)
        .describe(
            "getCampaign",
            "Returns one campaign with its category, its rule assignments and, for a promotion, its tiers. An unknown ID or name is refused with `not_found`.",
        )
        .returns("The campaign.")
        .of(&CAMPAIGN)
        .scope("campaigns"),
    delete("/v1/campaigns/{campaignId}", "Delete a campaign and its vouchers", remove)
        .describe(
            "deleteCampaign",
            "Deletes the campaign with its rule assignments, promotion tiers and stacks, earning rules, loyalty tiers and reward assignments. Its vouchers cannot be used from then on, and a job deletes them. Unless `force` is `true`, the campaign moves to the trash bin and its name stays taken. The webhook event `campaign.deleted` follows. An unknown ID or name is refused with `not_found`.",
        )
        .returns("The ID of the async action that deletes the vouchers.")
        .of(&CAMPAIGN)
        .scope("campaigns")
        .query(&[may("force", FieldType::Bool).description("`true` to bypass the trash bin, so that the name can be used again at once. Default `false`.")])
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/campaigns/{campaignId}/enable", "Enable a campaign", enable)
        .describe(
            "enableCampaign",
            "Enables the campaign, so that its vouchers or tiers can be redeemed within their own limits. Vouchers and tiers that are disabled themselves stay disabled. The webhook event `campaign.enabled` follows. An unknown ID or name is refused with `not_found`.",
        )
        .returns("An empty object. The campaign is enabled.")
        .of(&CAMPAIGN)
        .scope("campaigns")
        .answers(200, shapes::EMPTY),
    post("/v1/campaigns/{campaignId}/disable", "Disable a campaign", disable)
        .describe(
            "disableCampaign",
            "Disables the campaign: its vouchers or tiers cannot be redeemed until the campaign is enabled again. Redemptions so far and the vouchers themselves stay as they are. The webhook event `campaign.disabled` follows. An unknown ID or name is refused with `not_found`.",
        )
        .returns("An empty object. The campaign is disabled.")
        .of(&CAMPAIGN)
        .scope("campaigns")
        .answers(200, shapes::EMPTY),
    post("/v1/campaigns/{campaignId}/vouchers", "Add vouchers to a campaign", add_vouchers)
        .describe(
            "addCampaignVouchers",
            "Adds vouchers with the configuration of the campaign, except for the fields that the body sets. One voucher is created at once, with status 200; several are generated by a job, with status 202. The webhook event `voucher.created` follows for a single voucher, `campaign.vouchers.generation.started` and `campaign.vouchers.generation.completed` for several. A promotion or standalone campaign is refused with `invalid_campaign`, a taken code with `duplicate_found`.",
        )
        .returns("The new voucher.")
        .of(&CAMPAIGN)
        .scope("campaigns")
        .query(&[may("vouchers_count", FieldType::Int(1, VOUCHERS_MAX)).description("Number of vouchers to add. Default 1.")])
        .body(ADD)
        .bodiless()
        .answers(200, scrip::wire::voucher::VOUCHER)
        .or_answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/campaigns/{campaignId}/vouchers/{code}", "Add a voucher with a given code to a campaign", add_code)
        .describe(
            "addCampaignVoucherWithCode",
            "Adds one voucher with the code of the path and the configuration of the campaign, except for the fields that the body sets. The webhook events `voucher.created` and `campaign.vouchers.added` follow. A promotion or standalone campaign is refused with `invalid_campaign`, a code that is in use or in the trash bin with `duplicate_found`.",
        )
        .returns("The new voucher.")
        .of(&CAMPAIGN)
        .scope("campaigns")
        .body(ADD)
        .bodiless()
        .answers(200, scrip::wire::voucher::VOUCHER),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let clause = Clause::of_kind(CAMPAIGN.object).at(call.now_ms());
    list_within(call, clause)
}

/// Lists campaigns, with categories on request (docs/spec/interface.md, campaigns).
pub fn list_within(call: &mut Call<'_, '_>, clause: Clause) -> HandlerResult {
    let expanded = call.query.values("expand");
    if let Some(unknown) = expanded.iter().find(|name| !EXPANDED.contains(name)) {
        let message = format!("Property .expand must be one of {} (actual value is `{unknown}`)", EXPANDED.join(", "));
        return Err(invalid_query(message).into());
    }
    if call.query.pairs().any(|(path, _)| path.first().is_some_and(|name| name == "access_settings")) {
        return Err(
            invalid_query("Property .access_settings must NOT be present: areas and stores are not supported").into()
        );
    }
    let clause = clock::at_call(call, clause)?;
    let page = CAMPAIGN.list.select(call.store, &call.query, clause)?;
    let shows_categories = expanded.contains(&"category");
    let mut json = to_json(call, page.documents)?;
    if !shows_categories {
        for campaign in json.iter_mut().filter_map(Json::as_object_mut) {
            campaign.insert("categories".into(), json!([]));
        }
    }
    Ok(Response::json(Json::Object(CAMPAIGN.list.envelope(json, page.total))))
}

fn enable(call: &mut Call<'_, '_>) -> HandlerResult {
    resource::set_active(call, true)?;
    Ok(Response::json(json!({})))
}

fn disable(call: &mut Call<'_, '_>) -> HandlerResult {
    resource::set_active(call, false)?;
    Ok(Response::json(json!({})))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = CAMPAIGN.find(call)?;
    Ok(Response::status(202, delete_campaign(call, &campaign)?))
}

/// Deletes the campaign at once, and its vouchers for every reader; a job removes their documents. Returns the description
/// of the job.
pub fn delete_campaign(call: &mut Call<'_, '_>, campaign: &Document) -> Result<Json, CallError> {
    let total = campaign.as_campaign().vouchers_count();
    let job = VoucherDeletionJob { campaign_id: campaign.id.clone(), total, deleted: 0 };
    let cursor = serde_json::to_value(&job).map_err(|error| crate::store::sql::Fault(error.to_string()))?;
    let id = async_actions::start(call, VOUCHERS_DELETE, &cursor);
    assignments::delete_all(call, &campaign.id);
    tiers::delete_all(call, &campaign.id);
    rewards::assignments::delete_all(call, &campaign.id);
    earning_rules::delete_all(call, &campaign.id);
    loyalty_campaigns::tiers::delete_all(call, &campaign.id);
    let name = campaign.key.as_deref().unwrap_or_default();
    trash_bin::move_to_trash(call, CAMPAIGN.object, campaign, name);
    call.store.delete(CAMPAIGN.object, &campaign.id);
    Ok(json!({ "async_action_id": id }))
}

fn find_open_campaign(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let campaign = CAMPAIGN.find(call)?;
    vouchers::creation::check_open(&campaign)?;
    Ok(campaign)
}

fn read_overrides(call: &mut Call<'_, '_>, campaign: &Document) -> Result<Map<String, Json>, CallError> {
    let mut overrides = call.body(Nulls::Dropped)?;
    visibility::check_voucher(VoucherRecord::of(&overrides).visibility(), true)?;
    vouchers::creation::check_granted(campaign, &mut overrides)?;
    let zone = clock::zone(call)?;
    definition::check_validity(&overrides, &zone)?;
    definition::normalise_dates(&mut overrides, &zone);
    definition::normalise_category(call, &mut overrides)?;
    if overrides.contains_key("metadata") {
        voucher::check_metadata(call, Some(campaign), VoucherRecord::of(&overrides))?;
    }
    Ok(overrides)
}

fn add_vouchers(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = find_open_campaign(call)?;
    let count = crate::documents::list::read_int(&call.query, "vouchers_count", 1, VOUCHERS_MAX)?.unwrap_or(1);
    let mut overrides = read_overrides(call, &campaign)?;
    let code = overrides.remove("code").and_then(|code| code.as_str().map(str::to_owned));
    if count > 1 && code.is_some() {
        return Err(invalid_payload(format!(
            "Property .code must NOT be present when vouchers_count is above 1 (actual value is `{count}`)"
        ))
        .into());
    }
    if count > 1 {
        let id = vouchers::creation::create_many(call, &campaign, &overrides, u64::try_from(count).unwrap_or(1))?;
        campaigns::update_generation_in_progress(call.store, &campaign.id);
        return Ok(Response::status(202, json!({ "async_action_id": id })));
    }
    add_one(call, &campaign, &overrides, code.as_deref())
}

fn add_code(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = find_open_campaign(call)?;
    let overrides = read_overrides(call, &campaign)?;
    let code = call.param("code").to_owned();
    add_one(call, &campaign, &overrides, Some(&code))
}

fn add_one(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    overrides: &Map<String, Json>,
    code: Option<&str>,
) -> HandlerResult {
    let code = code.map(|code| RequestedCode { code, path: "code" });
    let voucher = vouchers::creation::create_one(call, campaign, overrides, code)?;
    vouchers::creation::update_count(call, &campaign.id, 1);
    Ok(Response::json(voucher::VOUCHER.one_to_json(call, voucher)?))
}
