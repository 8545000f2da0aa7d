//! Publications: a voucher, or codes of a campaign, are handed to a customer. It must not know what a voucher grants.

use crate::access::page;
use crate::api::codes::publishing;
use crate::document::fields::{BUYER, KEY};
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, Switch, post};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::shop::metadata_schemas;
use crate::shop::publications::{Wanted, choose, hand_over};
use crate::store::code::code_key;
use crate::store::document::Document;
use crate::store::tracking::Tracker;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const BODY: &[Field] = &[
    may("voucher", KEY),
    may("campaign", Kind::Object(&[must("name", KEY), may("count", Kind::Int(1, 50))])),
    must("customer", BUYER),
    may("source_id", KEY),
    may("metadata", Kind::Map),
    may("channel", Kind::Name(100)),
];
const QUERY: &[Field] = &[may("join_once", Kind::Bool), may("campaign", KEY), may("voucher", KEY)];

/// The routes of the area. The published description lists the page's route with the server's credentials; either pair opens it.
pub const ROUTES: &[Route] = &[
    post("/v1/publications", "Publish vouchers to a customer", publish)
        .scope("publications")
        .query(QUERY)
        .body(BODY)
        .answers(200, shapes::codes::PUBLICATION),
    post("/client/v1/publish", "Publish vouchers to a customer from a page", publish)
        .for_classes(&[Class::Client, Class::Server, Class::OAuth])
        .names_codes()
        .scope("publish")
        .switched(Switch::Publish)
        .query(QUERY)
        .body(BODY)
        .answers(200, shapes::codes::PUBLICATION),
];

fn read(call: &Call<'_, '_>) -> Result<Wanted, CallError> {
    read_sent(call, call.source()?)
}

/// What is wanted by a body, or by what stands for one.
pub fn read_sent(call: &Call<'_, '_>, mut source: Map<String, Json>) -> Result<Wanted, CallError> {
    // Pages name the campaign or the voucher in the query.
    for name in ["campaign", "voucher"] {
        if let Some(value) = call.query.get(name).filter(|_| source.get(name).is_none_or(Json::is_null)) {
            source.insert(name.into(), if name == "campaign" { json!({ "name": value }) } else { value.into() });
        }
    }
    // Some clients send the campaign's name alone.
    if let Some(name) = source.get("campaign").filter(|campaign| campaign.is_string()).cloned() {
        source.insert("campaign".into(), json!({ "name": name }));
    }
    page::name_proven(call, &mut source)?;
    page::settle_customer(call.page.as_ref(), &mut source);
    let body = crate::http::shape::read(BODY, source, Nulls::Dropped)?;
    let text = |value: Option<&Json>| value.and_then(Json::as_str).map(str::to_owned);
    let campaign = body.get("campaign");
    let voucher = text(body.get("voucher"));
    let count = campaign
        .filter(|_| voucher.is_none())
        .and_then(|campaign| campaign.get("count"))
        .and_then(Json::as_u64)
        .unwrap_or(1);
    if call.page.is_some() {
        publishing::check_count(count)?;
    }
    let customer = body.get("customer").and_then(Json::as_object).cloned().unwrap_or_default();
    if customer.is_empty() {
        return Err(Problem::missing("customer", "source_id").into());
    }
    Ok(Wanted {
        campaign: text(campaign.and_then(|campaign| campaign.get("name"))).filter(|_| voucher.is_none()),
        voucher,
        count: usize::try_from(count).unwrap_or(1),
        source_id: text(body.get("source_id")),
        customer,
        metadata: body.get("metadata").cloned().unwrap_or(json!({})),
        channel: text(body.get("channel")).unwrap_or_else(|| "API".into()),
        join_once: call.query.is_true("join_once"),
    })
}

fn publish(call: &mut Call<'_, '_>) -> Outcome {
    let wanted = read(call)?;
    if wanted.voucher.is_none() && wanted.campaign.is_none() {
        return Err(missing().into());
    }
    Ok(Answer::json(publish_wanted(call, &wanted)?))
}

/// Nothing is said of what to publish.
pub fn missing() -> ErrorBody {
    error(400, "missing_vouchers", "Missing vouchers", "Either Campaign or Voucher is required")
}

/// Publishes what is wanted, as a publication is answered. A page is told the `tracking_id` sealed, as everywhere else.
pub fn publish_wanted(call: &mut Call<'_, '_>, wanted: &Wanted) -> Result<Json, CallError> {
    let mut told = publish_once(call, wanted)?;
    let tracking_id = told.get_mut("tracking_id").filter(|_| call.page.is_some());
    if let Some(Json::String(source_id)) = tracking_id {
        let tracker = Tracker::stored(call.store)?;
        // An earlier version stored it sealed.
        if tracker.source_id(source_id)?.is_none() {
            *source_id = tracker.tracking_id(source_id)?;
        }
    }
    Ok(told)
}

fn publish_once(call: &mut Call<'_, '_>, wanted: &Wanted) -> Result<Json, CallError> {
    if let Some(source_id) = &wanted.source_id {
        if wanted.count > 1 {
            return Err(error(
                400,
                "too_many_vouchers_requested",
                "Too many vouchers requested",
                "Only up to 1 can be published",
            )
            .into());
        }
        // What a page calls its publication is only told: with a name that counts it could take a server's.
        if call.page.is_none() && call.store.document_by_name("publication", source_id, "")?.is_some() {
            let told = format!("Publication with source_id: '{source_id}' already exists");
            return Err(error(400, "duplicate_source_id", "Duplicate source_id", told).into());
        }
    }
    metadata_schemas::check(call.store, &[("publication", Some(&wanted.metadata))])?;
    let receiver = publishing::receive(call, wanted.customer.clone())?;
    let (campaign, vouchers) = find(call, wanted)?;
    let place = campaign
        .as_ref()
        .map(|campaign| campaign.id.clone())
        .or_else(|| vouchers.as_ref().map(|voucher| voucher.id.clone()))
        .unwrap_or_default();
    if is_once(call, wanted, campaign.as_ref())
        && let Some(holder) = receiver.holder()
        && let Some(earlier) = earlier(call, &place, holder)?
    {
        if wanted.join_once {
            return Ok(tell_again(call, earlier));
        }
        return Err(joined_already().into());
    }
    publishing::count(call, &place)?;
    let chosen = match (vouchers, &campaign) {
        (Some(voucher), _) => vec![(voucher, false)],
        (None, Some(campaign)) => choose(call, campaign, wanted.count, &[])?,
        (None, None) => Vec::new(),
    };
    let (publication, _) = hand_over(call, wanted, &receiver, campaign.as_ref(), chosen)?;
    Ok(publication)
}

/// Publishes a voucher that is made by the same call, as it would be published when it is there.
pub fn publish_made(
    call: &mut Call<'_, '_>,
    customer: Map<String, Json>,
    campaign: Option<&Document>,
    voucher: Document,
) -> Result<(), CallError> {
    let wanted = Wanted::made(&voucher);
    let receiver = publishing::receive(call, customer)?;
    if let Some(campaign) = campaign.filter(|campaign| is_once(call, &wanted, Some(campaign)))
        && let Some(holder) = receiver.holder()
        && earlier(call, &campaign.id, holder)?.is_some()
    {
        return Err(joined_already().into());
    }
    hand_over(call, &wanted, &receiver, campaign, vec![(voucher, false)]).map(drop)
}

fn joined_already() -> ErrorBody {
    let told = "Voucher cannot be published. Customer already joined program.";
    error(400, "voucher_cannot_be_published", "Voucher cannot be published", told)
}

/// The campaign, and the voucher where one is named. What a page may not publish is for it as what does not exist.
fn find(call: &Call<'_, '_>, wanted: &Wanted) -> Result<(Option<Document>, Option<Document>), CallError> {
    let Some(code) = &wanted.voucher else {
        let name = wanted.campaign.as_deref().unwrap_or_default();
        let campaign = find_campaign(call, name)?;
        return match publishing::allows(call, Some(&campaign)) {
            true => Ok((Some(campaign), None)),
            false => Err(not_found("campaign", name).into()),
        };
    };
    let voucher = find_voucher(call, code)?;
    let campaign = campaign_of(call, &voucher)?;
    match publishing::allows(call, campaign.as_ref()) {
        true => Ok((campaign, Some(voucher))),
        false => Err(not_found("voucher", code).into()),
    }
}

/// Whether a customer gets one publication of a campaign alone: where the caller or the campaign says so, and from a page whoever
/// has proven who they are.
fn is_once(call: &Call<'_, '_>, wanted: &Wanted, campaign: Option<&Document>) -> bool {
    let of_campaign = campaign.is_some_and(|campaign| campaign.body.get("join_once") == Some(&Json::Bool(true)));
    wanted.join_once || of_campaign || call.page.as_ref().is_some_and(|page| page.proven.is_some())
}

/// An earlier publication as it is answered again; what a server wrote into it for itself is not a page's to read.
fn tell_again(call: &Call<'_, '_>, earlier: Document) -> Json {
    let mut body = earlier.body;
    if call.page.is_some() {
        body.insert("metadata".into(), json!({}));
        body.insert("source_id".into(), Json::Null);
    }
    Json::Object(body)
}

fn find_campaign(call: &Call<'_, '_>, name: &str) -> Result<Document, CallError> {
    call.store.document_by_name("campaign", name, name)?.ok_or_else(|| not_found("campaign", name).into())
}

/// A voucher that can be published. A page is not told which of those that cannot be there are, and what it names in vain is
/// counted.
fn find_voucher(call: &Call<'_, '_>, code: &str) -> Result<Document, CallError> {
    let found = publishable(call, code);
    if let (Err(CallError::Refused(_)), Some(page)) = (&found, &call.page) {
        call.guesses.set(call.guesses.get().saturating_add(1));
        if !page.terms.reasons {
            return Err(not_found("voucher", code).into());
        }
    }
    found
}

fn publishable(call: &Call<'_, '_>, code: &str) -> Result<Document, CallError> {
    let key = code_key(code, call.caller.settings.case_sensitive_codes);
    let voucher = call.store.document_by_name("voucher", &key, code)?.ok_or_else(|| not_found("voucher", code))?;
    if voucher.holder.is_some() && call.page.is_some() {
        // To a page a code that somebody has is as one that does not exist.
        return Err(not_found("voucher", code).into());
    }
    if voucher.holder.is_some() {
        let told = format!("Voucher '{}' has already been published", voucher.id);
        return Err(error(400, "voucher_already_published", "Voucher already published", told).into());
    }
    Ok(voucher)
}

fn campaign_of(call: &Call<'_, '_>, voucher: &Document) -> Result<Option<Document>, CallError> {
    let Some(id) = &voucher.parent else { return Ok(None) };
    let campaign = call.store.document("campaign", id)?;
    // Of a campaign that is being deleted the vouchers are gone as well.
    campaign
        .map(Some)
        .ok_or_else(|| not_found("voucher", voucher.body.get("code").and_then(Json::as_str).unwrap_or_default()).into())
}

/// The publication by which a customer has joined a campaign, or has a voucher without one.
fn earlier(call: &Call<'_, '_>, place: &str, customer_id: &str) -> Result<Option<Document>, CallError> {
    let found = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = 'publication' AND holder = +?1 AND parent = +?2 ORDER BY seq LIMIT 1",
        &[customer_id.into(), place.into()],
    )?;
    Ok(found.into_iter().next())
}
