//! Templates of campaigns: the grants and rules of a campaign or a tier, stored to create
//! others by them.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::json_members;
use crate::documents::keyset_list::{self, KeysetPage};
use crate::documents::resource::{self, plain_key};
use crate::documents::shapes;
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::promotions::tiers::TIER;
use crate::domain::stacking_rules::check_project;
use crate::domain::validation_rules::assignments;
use crate::domain::validation_rules::rules::RULE;
use crate::http::caller::{CredentialClass, FORWARD_TO_PROJECT, FORWARDED};
use crate::http::list_options::List;
use crate::http::reply::{CallError, duplicate, error, invalid_query, not_found};
use crate::http::request_checks::header;
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;
use crate::store::documents::any_kind;
use crate::store::records::TemplateRecord;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::wire::Problem;
use scrip::wire::voucher::campaign_fields;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// Templates as a resource.
pub const TEMPLATE: Resource = Resource {
    object: "campaign_template",
    shape: shapes::project::CAMPAIGN_TEMPLATE.described(),
    parameter: "campaignTemplateId",
    key: plain_key,
    to_json,
    list: List {
        data_ref: "data",
        page_max: 1,
        orders: &[],
        filters: &[],
        conditions: &[("id", "id"), ("name", member!("name")), ("campaign_type", member!("campaign_type"))],
    },
};

/// Types of campaigns with templates; the template of a tier has the first.
const TYPES: &[&str] = &["DISCOUNT_COUPONS", "GIFT_VOUCHERS"];

/// Members of a tier that a template contains.
const TIER_MEMBERS: &[&str] = &[
    "banner",
    "action",
    "metadata",
    "validity_timeframe",
    "validity_day_of_week",
    "validity_hours",
    "category",
    "visibility",
];

const CREATE: &[Field] = &[
    may("campaign_id", KEY)
        .description("ID or name of the campaign to make the template from. Exactly one of this field and `promotion_tier_id` is required."),
    may("promotion_tier_id", KEY)
        .description("ID of the promotion tier to make the template from. Exactly one of this field and `campaign_id` is required."),
    must("name", KEY).description("Name of the template, unique in the project."),
    may("description", FieldType::Text).description("Description of the template."),
];
const UPDATE: &[Field] = &[
    may("name", KEY).description("Name of the template, unique in the project. `null` leaves the name as is."),
    may("description", FieldType::Text).description("Description of the template. `null` removes the description."),
];
const COPY: &[Field] = &[
    must("name", KEY).description("Name of the copy, unique in the destination project."),
    may("description", FieldType::Text)
        .description("Description of the copy. Default is the description of the template; `null` means none."),
    must("destination_project_id", KEY).description(
        "ID of the project that receives the copy: the project of the path or another that the same key manages.",
    ),
];
const LISTED: &[Field] = &[
    LIMIT,
    may("order", FieldType::OneOf(&["id", "-id"]))
        .description("Direction of the list: `id` for the oldest first, `-id` for the newest first. Default `-id`."),
    may("starting_after_id", KEY).description("ID of a template. The list continues after this template."),
    may("include_total", FieldType::Bool).description("`true` to count all matching templates. Default `false`."),
    may("filters", FieldType::Map).description("Conditions by `id`, `name` or `campaign_type`, joined by `junction`."),
];

const ALL: &str = "/v1/templates/campaigns";
const ONE: &str = "/v1/templates/campaigns/{campaignTemplateId}";

/// Members of a list; its total on request.
const LIST_MEMBERS: &[Field] = &[
    may("total", scrip::shape::COUNT)
        .description("Number of matching templates on all pages. Present only if `include_total` is `true`."),
    must("has_more", FieldType::Bool).description("`true` if more templates follow this page."),
    may("more_starting_after", FieldType::Text)
        .description("ID of the last template of this page, to send as `starting_after_id`. Absent on the last page."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(ALL, "List campaign templates", list)
        .describe(
            "listCampaignTemplates",
            "Returns the campaign templates of the project without their configuration, the newest first by default. An unknown start, order or filter is refused with `invalid_query_params`.",
        )
        .returns("The templates of this page, and the total on request.")
        .of(&TEMPLATE)
        .lists_resource(LIST_MEMBERS)
        .scope("templates")
        .query(LISTED),
    post(ALL, "Create a template from a campaign or a promotion tier", create)
        .describe(
            "createCampaignTemplate",
            "Creates a template from a campaign of discount coupons or gift vouchers, or from a promotion tier. The template contains the configuration and copies of the assigned validation rules, but no dates and no codes. A name that is in use is refused with `duplicate_found`, another type of campaign with `campaign_type_is_not_supported_by_campaign_template`.",
        )
        .returns("The new template, without its configuration.")
        .of(&TEMPLATE)
        .scope("templates")
        .body(CREATE),
    get(ONE, "Get a campaign template by ID or name", resource::get)
        .describe(
            "getCampaignTemplate",
            "Returns one campaign template. The configuration is included only on request with `expand`. An unknown ID or name is refused with `not_found`, an unknown expansion with `invalid_query_params`.",
        )
        .returns("The template.")
        .of(&TEMPLATE)
        .scope("templates")
        .query(&[may("expand", FieldType::OneOf(&["json_template"]))
            .description("Parts to include. `json_template` includes the configuration and the validation rules.")]),
    put(ONE, "Update the name and description of a campaign template", update)
        .describe(
            "updateCampaignTemplate",
            "Changes the name and the description of a template. The configuration cannot be changed. An unknown ID or name is refused with `not_found`, a new name that is in use with `duplicate_found`.",
        )
        .returns("The template after the change.")
        .of(&TEMPLATE)
        .scope("templates")
        .body(UPDATE),
    delete(ONE, "Delete a campaign template", resource::remove)
        .describe(
            "deleteCampaignTemplate",
            "Deletes the template. Campaigns, tiers and validation rules that were created from the template stay. An unknown ID or name is refused with `not_found`.",
        )
        .returns("No content. The template is deleted.")
        .of(&TEMPLATE)
        .scope("templates")
        .answers(204, shapes::EMPTY),
    get("/management/v1/projects/{projectId}/templates/campaigns", "List campaign templates of a project", list_of_project)
        .describe(
            "listProjectCampaignTemplates",
            "Returns the campaign templates of a project without their configuration, the newest first by default. Another project is refused with `not_found`, an unknown start, order or filter with `invalid_query_params`.",
        )
        .returns("The templates of this page, and the total on request.")
        .of(&TEMPLATE)
        .lists_resource(LIST_MEMBERS)
        .for_classes(&[CredentialClass::Management])
        .query(LISTED),
    post(
        "/management/v1/projects/{projectId}/templates/campaigns/{campaignTemplateId}/copy",
        "Copy a campaign template to a project",
        copy,
    )
    .describe(
        "copyCampaignTemplate",
        "Copies a template with its validation rules, within the project or to another project that the management key manages. The copy has an ID of its own and does not follow later changes. An unknown template, and a project that the key does not manage, are refused with `not_found`. A name that is in use in the destination is refused with `duplicate_found`.",
    )
    .returns("The copy, without its configuration.")
    .of(&TEMPLATE)
    .forwards()
    .for_classes(&[CredentialClass::Management])
    .body(COPY),
];

/// Shows templates, with their contents on request.
fn to_json(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let expanded = call.query.values("expand");
    if let Some(unknown) = expanded.iter().find(|name| **name != "json_template") {
        let details = format!("Property .expand must be one of json_template (actual value is `{unknown}`)");
        return Err(invalid_query(details).into());
    }
    let includes_content = !expanded.is_empty();
    let json = documents.into_iter().map(|mut document| {
        if !includes_content {
            document.body.remove("json_template");
        }
        Json::Object(document.body)
    });
    Ok(json.collect())
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let position = |id: &str| any_kind::find_position(call.store, TEMPLATE.object, id);
    let clause = || Clause::of_kind(TEMPLATE.object);
    let found =
        keyset_list::select(&TEMPLATE.list, call.store, &call.query, clause(), "a campaign template", &position)?;
    let KeysetPage { documents, has_more } = found;
    let mut envelope = keyset_list::envelope(to_json(call, documents)?, has_more);
    if call.query.is_true("include_total") {
        envelope.insert("total".into(), TEMPLATE.list.count(call.store, &call.query, clause())?.into());
    }
    Ok(Response::json(Json::Object(envelope)))
}

fn list_of_project(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    list(call)
}

fn check_name(call: &Call<'_, '_>, name: &str) -> Result<(), CallError> {
    match call.store.document_by_name(TEMPLATE.object, name, "")? {
        Some(_) => Err(duplicate(TEMPLATE.object, "name", name).into()),
        None => Ok(()),
    }
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str);
    let name = text("name").unwrap_or_default();
    let (kind, content) = match (text("campaign_id"), text("promotion_tier_id")) {
        (Some(campaign), None) => content_of_campaign(call, campaign)?,
        (None, Some(tier)) => content_of_tier(call, tier)?,
        _ => {
            let details = "must have exactly one of 'campaign_id' and 'promotion_tier_id'";
            return Err(Problem::at("", details).into());
        }
    };
    check_name(call, name)?;
    let json = insert_template(call, name, TemplateRecord::of(&body).description(), &kind, content);
    Ok(Response::json(json))
}

/// Queues the write of a template, and returns its JSON.
fn insert_template(call: &mut Call<'_, '_>, name: &str, description: Option<&Json>, kind: &str, content: Json) -> Json {
    let id = call.ids.alphanumeric("tmpl_", 24).to_string();
    let body = json!({
        "id": id, "name": name, "description": description, "campaign_type": kind, "json_template": content,
        "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": TEMPLATE.object,
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut template = Document::new(id, Some(name.to_owned()), call.now_ms(), body);
    call.store.insert(TEMPLATE.object, &template);
    template.body.remove("json_template");
    Json::Object(template.body)
}

/// Returns the members of a document that a template stores, without empty ones.
fn stored_members(document: &Document, names: &[&str]) -> Map<String, Json> {
    let mut members = json_members::pick(&document.body, names);
    members.retain(|_, value| !value.is_null());
    members
}

fn content_of_campaign(call: &Call<'_, '_>, name: &str) -> Result<(String, Json), CallError> {
    let campaign = call.store.document_by_name(CAMPAIGN.object, name, name)?;
    let campaign = campaign.ok_or_else(|| not_found(CAMPAIGN.object, name))?;
    let kind = campaign.as_campaign().campaign_type().to_owned();
    if !TYPES.contains(&kind.as_str()) {
        let details =
            format!("a template is made of campaigns of the types {} (actual value is `{kind}`)", TYPES.join(", "));
        let message = "Campaign of the given type is not supported by campaign template";
        return Err(error(400, "campaign_type_is_not_supported_by_campaign_template", message, details).into());
    }
    let mut content = stored_members(&campaign, campaign_fields::TEMPLATE_FIELDS);
    if let Some(voucher) = content.get_mut("voucher").and_then(Json::as_object_mut) {
        voucher.remove("is_referral_code");
    }
    let rules = list_rules(call, &campaign)?;
    Ok((kind, json!({ "campaign": content, "validation_rules": rules })))
}

fn content_of_tier(call: &Call<'_, '_>, id: &str) -> Result<(String, Json), CallError> {
    let tier = call.store.document(TIER.object, id)?.ok_or_else(|| not_found(TIER.object, id))?;
    let rules = list_rules(call, &tier)?;
    Ok((
        "DISCOUNT_COUPONS".into(),
        json!({ "promotion_tier": stored_members(&tier, TIER_MEMBERS), "validation_rules": rules }),
    ))
}

/// Returns the current rules that are assigned to a document.
fn list_rules(call: &Call<'_, '_>, document: &Document) -> Result<Vec<Json>, CallError> {
    let mut found = Vec::new();
    for assigned in assignments::list_documents(call, &[&document.id])? {
        if let Some(rule) = call.store.document(RULE.object, assigned.holder.as_deref().unwrap_or_default())? {
            let mut body = rule.body;
            ["id", "created_at", "updated_at", "assignments_count"]
                .into_iter()
                .for_each(|name| drop(body.remove(name)));
            found.push(Json::Object(body));
        }
    }
    Ok(found)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Kept)?;
    let mut template = TEMPLATE.find(call)?;
    if body.get("name").is_some_and(Json::is_null) {
        body.remove("name");
    }
    if let Some(name) = TemplateRecord::of(&body).name().filter(|name| template.key.as_deref() != Some(name)) {
        check_name(call, name)?;
        template.key = Some(name.to_owned());
    }
    template.body.extend(body);
    call.touch(&mut template);
    call.store.update(TEMPLATE.object, &template);
    Ok(Response::json(TEMPLATE.one_to_json(call, template)?))
}

/// Template that is forwarded to the project of its copy.
#[derive(Serialize, Deserialize)]
struct ForwardedTemplate {
    name: String,
    description: Option<Json>,
    campaign_type: String,
    json_template: Json,
}

/// Copies a template. A copy in the template's own project is written at once; one for another project that the key manages is forwarded
/// and written there. For a key that does not manage it, that project does not exist.
fn copy(call: &mut Call<'_, '_>) -> HandlerResult {
    if header(call.request, FORWARDED).is_some() {
        let forwarded = serde_json::from_slice(&call.request.body)
            .map_err(|error| Fault(format!("a template that was carried over cannot be read: {error}")))?;
        return write_copy(call, forwarded);
    }
    check_project(call)?;
    let body = call.body(Nulls::Kept)?;
    let template = TEMPLATE.find(call)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str).unwrap_or_default();
    let destination = text("destination_project_id");
    let content = |name: &str| template.body.get(name).cloned().unwrap_or_default();
    let forwarded = ForwardedTemplate {
        name: text("name").to_owned(),
        // An explicit null clears it; an absent one is taken from the template.
        description: TemplateRecord::of(&body).description().or(template.as_template().description()).cloned(),
        campaign_type: content("campaign_type").as_str().unwrap_or_default().to_owned(),
        json_template: content("json_template"),
    };
    if destination == call.caller.project {
        return write_copy(call, forwarded);
    }
    if !call.caller.others.contains_key(destination) {
        return Err(not_found("project", destination).into());
    }
    let mut answer = Response::json(serde_json::to_value(&forwarded).map_err(|error| Fault(error.to_string()))?);
    answer.headers.push((FORWARD_TO_PROJECT, destination.to_owned()));
    Ok(answer)
}

fn write_copy(call: &mut Call<'_, '_>, forwarded: ForwardedTemplate) -> HandlerResult {
    let ForwardedTemplate { name, description, campaign_type, json_template } = forwarded;
    check_name(call, &name)?;
    Ok(Response::json(insert_template(call, &name, description.as_ref(), &campaign_type, json_template)))
}
