//! Publications: the assignment of a voucher, or of codes of a campaign, to a customer.

use crate::access::client;
use crate::api::publications::client_policy;
use crate::documents::common_fields::{CUSTOMER_OBJECT, KEY};
use crate::documents::shapes;
use crate::domain::customers::customer;
use crate::domain::metadata::schemas;
use crate::domain::publications::{PublicationRequest, no_voucher_left, publish_vouchers, select_vouchers};
use crate::http::caller::CredentialClass;
use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::{Call, ClientSwitch, HandlerResult, Response, Route, post};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::documents::publications;
use crate::store::index::code_key::code_key;
use crate::store::records::{CustomerRecord, PublicationRecord};
use crate::store::tracking::Tracker;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const BODY: &[Field] = &[
    may("voucher", KEY).description("Code or ID of the voucher to publish. Takes precedence over `campaign`."),
    may(
        "campaign",
        FieldType::Object(&[
            must("name", KEY).description("Name or ID of the campaign."),
            may("count", FieldType::Int(1, 50)).description(
                "Number of vouchers to publish. Default 1, which is the maximum for a client and where a customer joins only once.",
            ),
        ]),
    )
    .description("Campaign whose vouchers are published. Required without `voucher`."),
    must("customer", CUSTOMER_OBJECT)
        .description("Customer to receive the vouchers, with `id`, `source_id` or, from a server, `email`. The customer is updated as sent, or created."),
    may("source_id", KEY)
        .description("Identifier of the publication in the caller's system, unique among the publications of servers. Cannot be combined with a `count` above 1."),
    may("metadata", FieldType::Map),
    may("channel", FieldType::Name(100))
        .description("Name of the channel, as the publication contains the value. Default `API`."),
];
const QUERY: &[Field] = &[
    may("join_once", FieldType::Bool).description(
        "`true` to return the earlier publication if the customer already has one of this campaign. Default `false`.",
    ),
    may("campaign", KEY).description("Name or ID of the campaign, if the body names none."),
    may("voucher", KEY).description("Code or ID of the voucher, if the body names none."),
];

/// The routes of the area. The published description lists the client's route with the server's credentials; both kinds are accepted.
pub const ROUTES: &[Route] = &[
    post("/v1/publications", "Publish vouchers to a customer", publish)
        .describe(
            "createPublication",
            "Assigns a voucher, or up to 50 vouchers of a campaign, to a customer who becomes the holder: all of them or none. Public codes and vouchers without a campaign stay without a holder; a campaign of type `AUTO_UPDATE` generates missing vouchers. Publication starts the activity period of a voucher and makes the customer the referrer of a referral code; the webhook events `publication.succeeded` and `voucher.published` follow. A voucher with a holder is refused with `voucher_already_published`, an exhausted campaign with `no_voucher_suitable_for_publication`.",
        )
        .returns("The publication, with the voucher or, for several vouchers, their codes.")
        .scope("publications")
        .query(QUERY)
        .body(BODY)
        .answers(200, shapes::vouchers::PUBLICATION),
    post("/client/v1/publish", "Publish a voucher to a customer from a client", publish)
        .describe(
            "clientPublish",
            "Assigns one voucher to a customer, within the campaigns that the project opens to its clients. A customer proven by a token gets one publication per campaign and becomes the holder. Without proof, the publication only names the customer, and one address gets one voucher per campaign and day; a project with customer trust `open` accepts the claim. The webhook events `publication.succeeded` and `voucher.published` follow. Further publications are refused with `too_many_publications`, closed campaigns with `not_found`.",
        )
        .returns("The publication and the voucher, reduced to fields that a client may see.")
        .for_classes(&[CredentialClass::Client, CredentialClass::Server, CredentialClass::OAuth])
        .names_codes()
        .scope("publish")
        .allowed_by(ClientSwitch::Publish)
        .query(QUERY)
        .body(BODY)
        .answers(200, shapes::vouchers::PUBLICATION),
];

/// A publication as a caller requests it.
pub struct RequestedPublication {
    /// The request.
    pub request: PublicationRequest,
    /// Customer as sent.
    pub customer: Map<String, Json>,
}

fn read(call: &Call<'_, '_>) -> Result<RequestedPublication, CallError> {
    read_request(call, call.source()?)
}

/// Reads a publication request from a body, or from query parameters in its place.
pub fn read_request(call: &Call<'_, '_>, mut source: Map<String, Json>) -> Result<RequestedPublication, CallError> {
    // Clients name the campaign or the voucher in the query.
    for name in ["campaign", "voucher"] {
        if let Some(value) = call.query.parameter(name).filter(|_| source.get(name).is_none_or(Json::is_null)) {
            source.insert(name.into(), if name == "campaign" { json!({ "name": value }) } else { value.into() });
        }
    }
    // Some clients send only the campaign's name.
    if let Some(name) = source.get("campaign").filter(|campaign| campaign.is_string()).cloned() {
        source.insert("campaign".into(), json!({ "name": name }));
    }
    client::write_verified_customer(call, &mut source)?;
    client::remove_unverified_customer(call.client.as_ref(), &mut source);
    let body = crate::http::shape::read(BODY, source, Nulls::Dropped)?;
    let sent = PublicationRecord::of(&body);
    let voucher = sent.voucher().map(str::to_owned);
    let count = sent.count().filter(|_| voucher.is_none()).unwrap_or(1);
    if call.client.is_some() {
        client_policy::check_count(count)?;
    }
    let customer = sent.customer_members().cloned().unwrap_or_default();
    check_customer(call, &customer)?;
    let request = PublicationRequest {
        campaign: sent.campaign_name().filter(|_| voucher.is_none()).map(str::to_owned),
        voucher,
        count: usize::try_from(count).unwrap_or(1),
        source_id: sent.source_id().map(str::to_owned),
        metadata: sent.metadata().cloned().unwrap_or(json!({})),
        channel: sent.channel().unwrap_or("API").to_owned(),
        join_once: call.query.is_true("join_once"),
    };
    Ok(RequestedPublication { request, customer })
}

/// Refuses an unnamed customer. A server names one by id, source_id or e-mail address, a client by source_id or a token.
pub fn check_customer(call: &Call<'_, '_>, customer: &Map<String, Json>) -> Result<(), CallError> {
    let has_source_id = customer.contains_key("source_id");
    match &call.client {
        Some(client) if client.proven.is_none() && !has_source_id => {
            Err(Problem::missing("customer", "source_id").into())
        }
        None if !has_source_id
            && !customer.contains_key("id")
            && customer::email_only(CustomerRecord::of(customer)).is_none() =>
        {
            let details = "Property .customer must name the customer by id, source_id or email";
            Err(error(400, "missing_customer", "Missing customer", details).into())
        }
        Some(_) | None => Ok(()),
    }
}

fn publish(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = read(call)?;
    if sent.request.voucher.is_none() && sent.request.campaign.is_none() {
        return Err(missing_vouchers().into());
    }
    Ok(Response::json(publish_requested(call, sent)?))
}

/// Returns the error for a request without a campaign or a voucher.
pub fn missing_vouchers() -> ErrorBody {
    error(400, "missing_vouchers", "Missing vouchers", "Either Campaign or Voucher is required")
}

/// Makes a requested publication and returns its JSON. A client receives the `tracking_id` sealed, as in all responses.
pub fn publish_requested(call: &mut Call<'_, '_>, sent: RequestedPublication) -> Result<Json, CallError> {
    let mut message = write_publication(call, &sent.request, sent.customer)?;
    let tracking_id = message.get_mut("tracking_id").filter(|_| call.client.is_some());
    if let Some(Json::String(source_id)) = tracking_id {
        // An earlier version stored it sealed.
        *source_id = Tracker::load(call.store)?.tracking_id_of_name(source_id)?;
    }
    Ok(message)
}

fn write_publication(
    call: &mut Call<'_, '_>,
    request: &PublicationRequest,
    customer: Map<String, Json>,
) -> Result<Json, CallError> {
    if let Some(source_id) = &request.source_id {
        if request.count > 1 {
            return Err(error(
                400,
                "too_many_vouchers_requested",
                "Too many vouchers requested",
                "Only up to 1 can be published",
            )
            .into());
        }
        // A client's name of a publication is only returned: as an identifying name it could take a server's.
        if call.client.is_none() && call.store.document_by_name("publication", source_id, "")?.is_some() {
            let message = format!("Publication with source_id: '{source_id}' already exists");
            return Err(error(400, "duplicate_source_id", "Duplicate source_id", message).into());
        }
    }
    schemas::check(call.store, &[("publication", Some(&request.metadata))])?;
    let receiver = client_policy::read_receiver(call, customer)?;
    let (campaign, vouchers) = find(call, request)?;
    let parent_id = campaign
        .as_ref()
        .map(|campaign| campaign.id.clone())
        .or_else(|| vouchers.as_ref().map(|voucher| voucher.id.clone()))
        .unwrap_or_default();
    let is_once = is_once(call, request, campaign.as_ref());
    if is_once && request.count > 1 {
        let bound = "must be <= 1 where a customer joins only once";
        return Err(Problem::bound("campaign.count", bound, &request.count.to_string()).into());
    }
    if is_once
        && let Some(holder) = receiver.holder()
        && let Some(earlier) = earlier(call, &parent_id, holder)?
    {
        if request.join_once {
            return Ok(repeat_response(call, earlier));
        }
        return Err(already_joined().into());
    }
    // For a name, only publications by clients count: a client learns nothing of the customer, and gets the response for a
    // campaign without codes.
    if is_once
        && let Some(name) = receiver.name()
        && client_policy::has_published_to_name(call, name, &parent_id)?
    {
        return Err(no_voucher_left().into());
    }
    client_policy::count_publication(call, &receiver, &parent_id)?;
    let vouchers_to_publish = match (vouchers, &campaign) {
        (Some(voucher), _) => vec![(voucher, false)],
        (None, Some(campaign)) => select_vouchers(call, campaign, request.count, &[])?,
        (None, None) => Vec::new(),
    };
    let (publication, _) = publish_vouchers(call, request, &receiver, campaign.as_ref(), vouchers_to_publish)?;
    Ok(publication)
}

/// Publishes a voucher that the same call creates, like an existing one.
pub fn publish_created(
    call: &mut Call<'_, '_>,
    customer: Map<String, Json>,
    campaign: Option<&Document>,
    voucher: Document,
) -> Result<(), CallError> {
    let request = PublicationRequest::for_voucher(&voucher);
    let receiver = client_policy::read_receiver(call, customer)?;
    if let Some(campaign) = campaign.filter(|campaign| is_once(call, &request, Some(campaign)))
        && let Some(holder) = receiver.holder()
        && earlier(call, &campaign.id, holder)?.is_some()
    {
        return Err(already_joined().into());
    }
    publish_vouchers(call, &request, &receiver, campaign, vec![(voucher, false)]).map(drop)
}

fn already_joined() -> ErrorBody {
    let message = "Voucher cannot be published. Customer already joined program.";
    error(400, "voucher_cannot_be_published", "Voucher cannot be published", message)
}

/// Finds the campaign, and the voucher if one is named. For a client, codes that it may not publish do not exist.
fn find(call: &Call<'_, '_>, request: &PublicationRequest) -> Result<(Option<Document>, Option<Document>), CallError> {
    let Some(code) = &request.voucher else {
        let name = request.campaign.as_deref().unwrap_or_default();
        let campaign = find_campaign(call, name)?;
        return match client_policy::may_publish(call, Some(&campaign)) {
            true => Ok((Some(campaign), None)),
            false => Err(not_found("campaign", name).into()),
        };
    };
    let voucher = find_voucher(call, code)?;
    let campaign = campaign_of(call, &voucher)?;
    match client_policy::may_publish(call, campaign.as_ref()) {
        true => Ok((campaign, Some(voucher))),
        false => Err(not_found("voucher", code).into()),
    }
}

/// Returns true if a customer gets only one publication of a campaign: if the caller or the campaign requires it, and for a proven
/// customer of a client.
fn is_once(call: &Call<'_, '_>, request: &PublicationRequest, campaign: Option<&Document>) -> bool {
    let of_campaign = campaign.is_some_and(|campaign| campaign.as_campaign().joins_once());
    request.join_once || of_campaign || call.client.as_ref().is_some_and(|client| client.proven.is_some())
}

/// Returns the repeated response of an earlier publication; a client does not see members that a server wrote for itself.
fn repeat_response(call: &Call<'_, '_>, earlier: Document) -> Json {
    let mut body = earlier.body;
    if call.client.is_some() {
        body.insert("metadata".into(), json!({}));
        body.insert("source_id".into(), Json::Null);
    }
    Json::Object(body)
}

fn find_campaign(call: &Call<'_, '_>, name: &str) -> Result<Document, CallError> {
    call.store.document_by_name("campaign", name, name)?.ok_or_else(|| not_found("campaign", name).into())
}

/// Returns a voucher that can be published. A client does not learn which other vouchers exist, and its failed attempts
/// are counted.
fn find_voucher(call: &Call<'_, '_>, code: &str) -> Result<Document, CallError> {
    let found = publishable(call, code);
    if let (Err(CallError::Refused(_)), Some(client)) = (&found, &call.client) {
        // Saturates: beyond every limit of attempts.
        call.failed_attempts.set(call.failed_attempts.get().saturating_add(1));
        if !client.policy.reasons {
            return Err(not_found("voucher", code).into());
        }
    }
    found
}

fn publishable(call: &Call<'_, '_>, code: &str) -> Result<Document, CallError> {
    let key = code_key(code, call.caller.settings.case_sensitive_codes);
    let voucher = call.store.document_by_name("voucher", &key, code)?.ok_or_else(|| not_found("voucher", code))?;
    if voucher.holder.is_some() && call.client.is_some() {
        // For a client a code with a holder is like one that does not exist.
        return Err(not_found("voucher", code).into());
    }
    if voucher.holder.is_some() {
        let message = format!("Voucher '{}' has already been published", voucher.id);
        return Err(error(400, "voucher_already_published", "Voucher already published", message).into());
    }
    Ok(voucher)
}

fn campaign_of(call: &Call<'_, '_>, voucher: &Document) -> Result<Option<Document>, CallError> {
    let Some(id) = &voucher.parent else { return Ok(None) };
    let campaign = call.store.document("campaign", id)?;
    // Vouchers of a campaign that is being deleted count as deleted.
    campaign.map(Some).ok_or_else(|| not_found("voucher", voucher.as_voucher().code().unwrap_or_default()).into())
}

/// Finds the publication by which a customer has joined a campaign, or has a voucher without one.
fn earlier(call: &Call<'_, '_>, parent_id: &str, customer_id: &str) -> Result<Option<Document>, CallError> {
    Ok(publications::find_first(call.store, parent_id, customer_id)?)
}
