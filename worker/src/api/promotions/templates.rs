//! Templates of campaigns: what a campaign or a tier grants and under which rules, kept to set up others by it. It must not know how one is
//! set up.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT};
use crate::document::onward::{self, Onward};
use crate::document::part;
use crate::document::resource::{self, plain_key};
use crate::document::shapes;
use crate::http::caller::{CARRIED, Class, ONWARD};
use crate::http::intake::header;
use crate::http::listing::List;
use crate::http::reply::{CallError, duplicate, error, invalid_query, not_found};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::assignments;
use crate::shop::campaigns::CAMPAIGN;
use crate::shop::stacking_rules::check_project;
use crate::shop::tiers::TIER;
use crate::shop::validation_rules::RULE;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::wire::Problem;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// Templates as a resource.
pub const TEMPLATE: Resource = Resource {
    object: "campaign_template",
    shape: shapes::project::CAMPAIGN_TEMPLATE.described(),
    parameter: "campaignTemplateId",
    key: plain_key,
    show,
    list: List {
        data_ref: "data",
        page_max: 1,
        orders: &[],
        filters: &[],
        conditions: &[
            ("id", "id"),
            ("name", "json_extract(body, '$.name')"),
            ("campaign_type", "json_extract(body, '$.campaign_type')"),
        ],
    },
};

/// The types of campaigns that have templates; a tier's is of the first.
const TYPES: &[&str] = &["DISCOUNT_COUPONS", "GIFT_VOUCHERS"];

/// What of a campaign is its template: its dates and codes are its own.
const OF_CAMPAIGN: &[&str] = &[
    "description",
    "type",
    "join_once",
    "auto_join",
    "use_voucher_metadata_schema",
    "validity_timeframe",
    "validity_day_of_week",
    "validity_hours",
    "activity_duration_after_publishing",
    "category",
    "metadata",
    "voucher",
];
/// What of a tier is.
const OF_TIER: &[&str] =
    &["banner", "action", "metadata", "validity_timeframe", "validity_day_of_week", "validity_hours", "category"];

const CREATE: &[Field] = &[
    may("campaign_id", KEY),
    may("promotion_tier_id", KEY).says("The tier, in the place of a campaign"),
    must("name", KEY),
    may("description", Kind::Text),
];
const UPDATE: &[Field] = &[may("name", KEY), may("description", Kind::Text)];
const COPY: &[Field] = &[
    must("name", KEY),
    may("description", Kind::Text),
    must("destination_project_id", KEY).says("Where the copy is to be"),
];
const LISTED: &[Field] = &[
    LIMIT,
    may("order", Kind::OneOf(&["id", "-id"])),
    may("starting_after_id", KEY),
    may("include_total", Kind::Bool).says("Whether they are counted"),
    may("filters", Kind::Map),
];

const ALL: &str = "/v1/templates/campaigns";
const ONE: &str = "/v1/templates/campaigns/{campaignTemplateId}";

/// What a list says; its total where it is asked for.
const BESIDE: &[Field] =
    &[may("total", scrip::shape::COUNT), must("has_more", Kind::Bool), may("more_starting_after", Kind::Text)];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(ALL, "List templates of campaigns", list).of(&TEMPLATE).listed(BESIDE).scope("templates").query(LISTED),
    post(ALL, "Create a template from a campaign or a tier", create).of(&TEMPLATE).scope("templates").body(CREATE),
    get(ONE, "Get a template of campaigns", resource::get)
        .of(&TEMPLATE)
        .scope("templates")
        .query(&[may("expand", Kind::OneOf(&["json_template"]))]),
    put(ONE, "Update a template of campaigns", update).of(&TEMPLATE).scope("templates").body(UPDATE),
    delete(ONE, "Delete a template of campaigns", resource::remove)
        .of(&TEMPLATE)
        .scope("templates")
        .answers(204, shapes::EMPTY),
    get(
        "/management/v1/projects/{projectId}/templates/campaigns",
        "List a project's templates of campaigns",
        list_of_project,
    )
    .of(&TEMPLATE)
    .listed(BESIDE)
    .for_classes(&[Class::Management])
    .query(LISTED),
    post(
        "/management/v1/projects/{projectId}/templates/campaigns/{campaignTemplateId}/copy",
        "Copy a template of campaigns within the projects of a key",
        copy,
    )
    .of(&TEMPLATE)
    .goes_on()
    .for_classes(&[Class::Management])
    .body(COPY),
];

/// What a template holds is told where it is asked for.
fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let expanded = call.query.listed("expand");
    if let Some(unknown) = expanded.iter().find(|word| **word != "json_template") {
        let told = format!("Property .expand must be one of json_template (actual value is `{unknown}`)");
        return Err(invalid_query(told).into());
    }
    let is_whole = !expanded.is_empty();
    let shown = documents.into_iter().map(|mut document| {
        if !is_whole {
            document.body.remove("json_template");
        }
        Json::Object(document.body)
    });
    Ok(shown.collect())
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let place = |id: &str| {
        let statement = "SELECT seq FROM document WHERE kind = 'campaign_template' AND id = +?1";
        call.store.row(statement, &[id.into()])
    };
    let clause = || Clause::of_kind(TEMPLATE.object);
    let found = onward::select(&TEMPLATE.list, call.store, &call.query, clause(), ("a campaign template", &place))?;
    let Onward { documents, has_more } = found;
    let mut envelope = onward::envelope(show(call, documents)?, has_more);
    if call.query.is_true("include_total") {
        envelope.insert("total".into(), TEMPLATE.list.count(call.store, &call.query, clause())?.into());
    }
    Ok(Answer::json(Json::Object(envelope)))
}

fn list_of_project(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    list(call)
}

fn check_name(call: &Call<'_, '_>, name: &str) -> Result<(), CallError> {
    match call.store.document_by_name(TEMPLATE.object, name, "")? {
        Some(_) => Err(duplicate(TEMPLATE.object, "name", name).into()),
        None => Ok(()),
    }
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str);
    let name = text("name").unwrap_or_default();
    let (kind, held) = match (text("campaign_id"), text("promotion_tier_id")) {
        (Some(campaign), None) => of_campaign(call, campaign)?,
        (None, Some(tier)) => of_tier(call, tier)?,
        _ => {
            let told = "must have exactly one of 'campaign_id' and 'promotion_tier_id'";
            return Err(Problem::at("", told).into());
        }
    };
    check_name(call, name)?;
    let shown = keep(call, (name, body.get("description")), &kind, held);
    Ok(Answer::json(shown))
}

/// Writes a template at the commit, and gives what is shown of it.
fn keep(call: &mut Call<'_, '_>, (name, description): (&str, Option<&Json>), kind: &str, held: Json) -> Json {
    let id = call.ids.alphanumeric("tmpl_", 24).to_string();
    let body = json!({
        "id": id, "name": name, "description": description, "campaign_type": kind, "json_template": held,
        "created_at": moment::text(call.now_ms()), "updated_at": null, "object": TEMPLATE.object,
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut template = Document::new(id, Some(name.to_owned()), call.now_ms(), body);
    call.store.insert(TEMPLATE.object, &template);
    template.body.remove("json_template");
    Json::Object(template.body)
}

/// The members of a document that are kept, but for those that say nothing.
fn part(document: &Document, names: &[&str]) -> Map<String, Json> {
    let mut said = part::known(&document.body, names);
    said.retain(|_, value| !value.is_null());
    said
}

fn of_campaign(call: &Call<'_, '_>, name: &str) -> Result<(String, Json), CallError> {
    let campaign = call.store.document_by_name(CAMPAIGN.object, name, name)?;
    let campaign = campaign.ok_or_else(|| not_found(CAMPAIGN.object, name))?;
    let kind = campaign.body.get("campaign_type").and_then(Json::as_str).unwrap_or_default().to_owned();
    if !TYPES.contains(&kind.as_str()) {
        let told =
            format!("a template is made of campaigns of the types {} (actual value is `{kind}`)", TYPES.join(", "));
        let message = "Campaign of the given type is not supported by campaign template";
        return Err(error(400, "campaign_type_is_not_supported_by_campaign_template", message, told).into());
    }
    let mut held = part(&campaign, OF_CAMPAIGN);
    if let Some(voucher) = held.get_mut("voucher").and_then(Json::as_object_mut) {
        voucher.remove("is_referral_code");
    }
    let rules = rules_of(call, &campaign)?;
    Ok((kind, json!({ "campaign": held, "validation_rules": rules })))
}

fn of_tier(call: &Call<'_, '_>, id: &str) -> Result<(String, Json), CallError> {
    let tier = call.store.document(TIER.object, id)?.ok_or_else(|| not_found(TIER.object, id))?;
    let rules = rules_of(call, &tier)?;
    Ok(("DISCOUNT_COUPONS".into(), json!({ "promotion_tier": part(&tier, OF_TIER), "validation_rules": rules })))
}

/// The rules that are assigned to a document, as they are now.
fn rules_of(call: &Call<'_, '_>, document: &Document) -> Result<Vec<Json>, CallError> {
    let mut found = Vec::new();
    for assigned in assignments::documents(call, &[&document.id])? {
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

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Kept)?;
    let mut template = TEMPLATE.find(call)?;
    if body.get("name").is_some_and(Json::is_null) {
        body.remove("name");
    }
    if let Some(name) = body.get("name").and_then(Json::as_str).filter(|name| template.key.as_deref() != Some(name)) {
        check_name(call, name)?;
        template.key = Some(name.to_owned());
    }
    template.body.extend(body);
    call.touch(&mut template);
    call.store.update(TEMPLATE.object, &template);
    Ok(Answer::json(TEMPLATE.show_one(call, template)?))
}

/// A template on its way to the project in which the copy is to be.
#[derive(Serialize, Deserialize)]
struct Carried {
    name: String,
    description: Option<Json>,
    campaign_type: String,
    json_template: Json,
}

/// A copy in the template's own project is written at once. What is to be in another one that the key manages goes there and is written there;
/// to a key that does not manage it, that project is as one that does not exist.
fn copy(call: &mut Call<'_, '_>) -> Outcome {
    if header(call.request, CARRIED).is_some() {
        let carried = serde_json::from_slice(&call.request.body)
            .map_err(|error| Fault(format!("a template that was carried over does not read: {error}")))?;
        return put_down(call, carried);
    }
    check_project(call)?;
    let body = call.body(Nulls::Kept)?;
    let template = TEMPLATE.find(call)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str).unwrap_or_default();
    let destination = text("destination_project_id");
    let held = |name: &str| template.body.get(name).cloned().unwrap_or_default();
    let carried = Carried {
        name: text("name").to_owned(),
        // What is said to be nothing is nothing; where nothing is said it is the template's.
        description: body.get("description").or_else(|| template.body.get("description")).cloned(),
        campaign_type: held("campaign_type").as_str().unwrap_or_default().to_owned(),
        json_template: held("json_template"),
    };
    if destination == call.caller.project {
        return put_down(call, carried);
    }
    if !call.caller.others.contains_key(destination) {
        return Err(not_found("project", destination).into());
    }
    let mut answer = Answer::json(serde_json::to_value(&carried).map_err(|error| Fault(error.to_string()))?);
    answer.headers.push((ONWARD, destination.to_owned()));
    Ok(answer)
}

fn put_down(call: &mut Call<'_, '_>, carried: Carried) -> Outcome {
    let Carried { name, description, campaign_type, json_template } = carried;
    check_name(call, &name)?;
    Ok(Answer::json(keep(call, (&name, description.as_ref()), &campaign_type, json_template)))
}
