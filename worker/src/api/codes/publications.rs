//! Publications: a voucher, or codes of a campaign, are handed to a customer. It must not know what a voucher grants.

use crate::access::auth::Class;
use crate::api::codes::balances;
use crate::api::codes::publishing::{self, Receiver};
use crate::api::codes::vouchers;
use crate::api::people::customers;
use crate::api::project::metadata_schemas;
use crate::document::fields::{BUYER, KEY};
use crate::document::shapes;
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, Switch, post};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::codes::code_key;
use crate::shop::decision;
use crate::shop::generation;
use crate::store::document::Document;
use crate::store::ledger::Post;
use crate::store::tracking::Tracker;
use scrip::time::{Duration, Instant};
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

/// What is asked for.
struct Wanted {
    voucher: Option<String>,
    campaign: Option<String>,
    count: usize,
    source_id: Option<String>,
    customer: Map<String, Json>,
    metadata: Json,
    channel: String,
    join_once: bool,
}

fn read(call: &Call<'_, '_>) -> Result<Wanted, CallError> {
    let mut source = call.source()?;
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
    crate::access::page::name_proven(call, &mut source)?;
    publishing::settle_customer(call.page.as_ref(), &mut source);
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
        return Err(error(400, "missing_vouchers", "Missing vouchers", "Either Campaign or Voucher is required").into());
    }
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
    let (campaign, vouchers) = find(call, &wanted)?;
    let place = campaign
        .as_ref()
        .map(|campaign| campaign.id.clone())
        .or_else(|| vouchers.as_ref().map(|voucher| voucher.id.clone()))
        .unwrap_or_default();
    if is_once(call, &wanted, campaign.as_ref())
        && let Some(holder) = receiver.holder()
        && let Some(earlier) = earlier(call, &place, holder)?
    {
        if wanted.join_once {
            return Ok(Answer::json(tell_again(call, earlier)));
        }
        let told = "Voucher cannot be published. Customer already joined program.";
        return Err(error(400, "voucher_cannot_be_published", "Voucher cannot be published", told).into());
    }
    publishing::count(call, &place)?;
    let chosen = match (vouchers, &campaign) {
        (Some(voucher), _) => vec![(voucher, false)],
        (None, Some(campaign)) => choose(call, campaign, wanted.count, &[])?,
        (None, None) => Vec::new(),
    };
    let (publication, _) = hand_over(call, &wanted, &receiver, campaign.as_ref(), chosen)?;
    Ok(Answer::json(publication))
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
         WHERE kind = 'publication' AND holder = ?1 AND parent = ?2 ORDER BY seq LIMIT 1",
        &[customer_id.into(), place.into()],
    )?;
    Ok(found.into_iter().next())
}

/// Free codes of a campaign, oldest first; a campaign that makes its own makes what is missing. Says of each whether it is new.
/// None of `taken`, which this request has handed out already.
fn choose(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    count: usize,
    taken: &[&str],
) -> Result<Vec<(Document, bool)>, CallError> {
    let is_standalone = campaign.body.get("type").and_then(Json::as_str) == Some("STANDALONE");
    let limit = i64::try_from(if is_standalone { 1 } else { count }).unwrap_or(1);
    let free = call.store.free_codes(&campaign.id, call.now_ms(), taken, limit)?;
    let mut chosen: Vec<(Document, bool)> = free.into_iter().map(|voucher| (voucher, false)).collect();
    let missing = count.saturating_sub(chosen.len());
    let text = |name: &str| campaign.body.get(name).and_then(Json::as_str);
    if missing > 0 && text("type") == Some("AUTO_UPDATE") && text("campaign_type") != Some("PROMOTION") {
        chosen.extend(generation::draft(call, campaign, missing)?.into_iter().map(|voucher| (voucher, true)));
    }
    if chosen.len() < count {
        let told = "Couldn't create new vouchers for publication";
        let message = "Couldn't find any voucher suitable for publication";
        return Err(error(400, "no_voucher_suitable_for_publication", message, told).into());
    }
    Ok(chosen)
}

/// Publishes a code of a campaign to a customer as a reward, loaded with `added`. None of `taken` is chosen.
pub fn hand_reward(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    customer: &Document,
    taken: &[&str],
    added: u64,
) -> Result<Document, CallError> {
    let mut chosen = choose(call, campaign, 1, taken)?;
    for (voucher, _) in &mut chosen {
        balances::load(call, voucher, added)?;
    }
    let wanted = Wanted {
        voucher: None,
        campaign: Some(campaign.id.clone()),
        count: 1,
        source_id: None,
        customer: Map::new(),
        metadata: json!({}),
        channel: "API".into(),
        join_once: false,
    };
    let (_, handed) = hand_over(call, &wanted, &Receiver::of(customer.clone()), Some(campaign), chosen)?;
    handed.into_iter().next().ok_or_else(|| not_found("voucher", &campaign.id).into())
}

/// Gives the publication, and the vouchers as they are now.
fn hand_over(
    call: &mut Call<'_, '_>,
    wanted: &Wanted,
    receiver: &Receiver,
    campaign: Option<&Document>,
    chosen: Vec<(Document, bool)>,
) -> Result<(Json, Vec<Document>), CallError> {
    let now_ms = call.now_ms();
    let id = call.ids.alphanumeric("pub_", 32).to_string();
    // A public code is for everybody, and nobody holds it.
    let is_generic =
        campaign.is_none_or(|campaign| campaign.body.get("type").and_then(Json::as_str) == Some("STANDALONE"));
    let mut posts = Vec::new();
    let mut handed = Vec::new();
    let mut made: i64 = 0;
    for (mut voucher, is_new) in chosen {
        if !is_generic {
            // One that nobody holds is gone from those that can be handed over, and whoever has the code may use it.
            voucher.holder = Some(receiver.holder().unwrap_or(&id).to_owned());
            if let Some(holder) = receiver.holder() {
                voucher.body.insert("holder_id".into(), holder.into());
                if campaign.is_some_and(generation::is_referral) {
                    voucher.body.insert("referrer_id".into(), holder.into());
                }
            }
            start_activity(call, campaign, &mut voucher)?;
        }
        call.touch(&mut voucher);
        if is_new {
            made = made.saturating_add(1);
            call.store.insert("voucher", &voucher);
        } else {
            call.store.update("voucher", &voucher);
        }
        posts.push(Post {
            id: format!("{id}.{}", posts.len()),
            chain: id.clone(),
            debit: vouchers::publications_account(&voucher.id),
            credit: campaign.map_or_else(
                || "project/published".to_owned(),
                |campaign| format!("campaign/{}/published", campaign.id),
            ),
            amount: 1,
            reverses: None,
            at: now_ms,
        });
        handed.push(voucher);
    }
    if let Some(campaign) = campaign {
        generation::count(call, &campaign.id, made);
    }
    call.store.post(&posts);
    let body = show(call, &id, wanted, receiver, handed.clone())?;
    let place =
        campaign.map(|campaign| campaign.id.clone()).or_else(|| handed.first().map(|voucher| voucher.id.clone()));
    let document = Document {
        id,
        key: wanted.source_id.clone().filter(|_| call.page.is_none()),
        parent: place,
        // Nobody joins a campaign by what a page says of them.
        holder: receiver.holder().map(str::to_owned),
        created_at: now_ms,
        updated_at: None,
        body: body.as_object().cloned().unwrap_or_default(),
    };
    call.store.insert("publication", &document);
    Ok((body, handed))
}

/// A code that is active for so long after its publication begins now.
fn start_activity(call: &Call<'_, '_>, campaign: Option<&Document>, voucher: &mut Document) -> Result<(), CallError> {
    let activity =
        campaign.and_then(|campaign| campaign.body.get("activity_duration_after_publishing")).and_then(Json::as_str);
    if let Some(duration) = activity.and_then(Duration::parse) {
        let zone = decision::time_zone(call)?;
        let start: Instant = call.context.now;
        if let Some(end) = start.after(&duration, &zone) {
            voucher.body.insert("start_date".into(), start.to_string().into());
            voucher.body.insert("expiration_date".into(), end.to_string().into());
        }
    }
    Ok(())
}

/// The publication as it is answered and stored.
fn show(
    call: &mut Call<'_, '_>,
    id: &str,
    wanted: &Wanted,
    receiver: &Receiver,
    handed: Vec<Document>,
) -> Result<Json, CallError> {
    let named: Vec<String> = handed.iter().map(|voucher| voucher.id.clone()).collect();
    let codes: Vec<Json> =
        handed.iter().map(|voucher| voucher.body.get("code").cloned().unwrap_or(Json::Null)).collect();
    let tracker = Tracker::stored(call.store)?;
    let tracking_id = receiver.source_id.as_deref().map(|source_id| tracker.tracking_id(source_id));
    let customer = receiver.customer.as_ref();
    let person = match call.page {
        Some(_) => customer.map_or(Json::Null, |customer| json!({ "id": customer.id, "object": "customer" })),
        None => customer.map_or(Json::Null, whole),
    };
    let mut body = json!({
        "id": id, "object": "publication", "created_at": moment::text(call.now_ms()), "customer_id": customer.map(|customer| &customer.id),
        "tracking_id": tracking_id, "metadata": wanted.metadata, "channel": wanted.channel, "source_id": wanted.source_id, "result": "SUCCESS",
        "customer": person, "vouchers_id": named,
    });
    let mut shown = vouchers::show(call, handed)?;
    for voucher in &mut shown {
        // The ledger does not have this publication yet.
        if let Some(count) = voucher.get_mut("publish").and_then(|publish| publish.get_mut("count")) {
            *count = count.as_i64().unwrap_or(0).saturating_add(1).into();
        }
    }
    if let Some(body) = body.as_object_mut() {
        match shown.into_iter().next().filter(|_| codes.len() == 1) {
            Some(voucher) => body.insert("voucher".into(), voucher),
            None => body.insert("vouchers".into(), Json::Array(codes)),
        };
    }
    Ok(body)
}

fn whole(customer: &Document) -> Json {
    let mut shown = customers::reduced(&customer.body);
    if let Some(shown) = shown.as_object_mut() {
        for name in ["summary", "loyalty", "referrals"] {
            shown.insert(name.into(), customer.body.get(name).cloned().unwrap_or(Json::Null));
        }
    }
    shown
}
