//! Publications: assigns vouchers to customers, and records each assignment.

use crate::domain::balances::{adjustments, points};
use crate::domain::clock;
use crate::domain::customers::customer;
use crate::domain::vouchers::referral_holders::HolderRole;
use crate::domain::vouchers::{creation, referral_holders, voucher};
use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::Call;
use crate::store::amount::CheckedAmount;
use crate::store::document::Document;
use crate::store::transfer_rows::TransferRow;
use crate::timestamp;
use scrip::count::Countable;
use scrip::facts::{named_publications_account, publications_account, published_account, published_by_name_account};
use scrip::ledger::AccountId;
use scrip::time::{Duration, Instant};
use serde_json::{Value as Json, json};

/// Request for a publication.
pub struct PublicationRequest {
    /// Code of a voucher without a campaign.
    pub voucher: Option<String>,
    /// Id or name of the campaign whose vouchers are requested.
    pub campaign: Option<String>,
    /// Number of vouchers.
    pub count: usize,
    /// The caller's identifier of the publication.
    pub source_id: Option<String>,
    /// Metadata of the publication.
    pub metadata: Json,
    /// Channel that the caller names.
    pub channel: String,
    /// True when a customer who has a voucher of the campaign gets that one again.
    pub join_once: bool,
}

impl PublicationRequest {
    /// Returns the request for one voucher of a campaign that an event grants.
    pub fn for_campaign(campaign: &Document) -> PublicationRequest {
        PublicationRequest { campaign: Some(campaign.id.clone()), ..PublicationRequest::internal() }
    }

    /// Returns the request for a voucher that the same call creates.
    pub fn for_voucher(voucher: &Document) -> PublicationRequest {
        PublicationRequest { voucher: Some(voucher.id.clone()), ..PublicationRequest::internal() }
    }

    fn internal() -> PublicationRequest {
        PublicationRequest {
            voucher: None,
            campaign: None,
            count: 1,
            source_id: None,
            metadata: json!({}),
            channel: "API".into(),
            join_once: false,
        }
    }
}

/// Chooses unassigned vouchers of a campaign, the oldest first, but none of `taken`. A campaign with automatic codes creates
/// missing ones. The flag is true for new vouchers.
pub fn select_vouchers(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    count: usize,
    taken: &[&str],
) -> Result<Vec<(Document, bool)>, CallError> {
    let is_standalone = campaign.as_campaign().is_standalone();
    let limit = i64::try_from(if is_standalone { 1 } else { count }).unwrap_or(1);
    let free = call.store.free_codes(&campaign.id, call.now_ms(), taken, limit)?;
    let mut selected: Vec<(Document, bool)> = free.into_iter().map(|voucher| (voucher, false)).collect();
    let missing = count.remaining_after(selected.len());
    if missing > 0 && campaign.as_campaign().generates_vouchers() {
        selected
            .extend(creation::generate_vouchers(call, campaign, missing)?.into_iter().map(|voucher| (voucher, true)));
    }
    if selected.len() < count { Err(no_voucher_left().into()) } else { Ok(selected) }
}

/// Returns the error when no voucher can be assigned.
pub fn no_voucher_left() -> ErrorBody {
    let details = "Couldn't create new vouchers for publication";
    let message = "Couldn't find any voucher suitable for publication";
    error(400, "no_voucher_suitable_for_publication", message, details)
}

/// Publishes a voucher of a campaign to a customer as a reward, with `added` units on it. None of `taken` is chosen.
pub fn publish_reward(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    customer: &Document,
    taken: &[&str],
    added: u64,
) -> Result<Document, CallError> {
    let mut selected = select_vouchers(call, campaign, 1, taken)?;
    for (voucher, _) in &mut selected {
        adjustments::credit_card(call, voucher, added, &[])?;
    }
    let request = PublicationRequest::for_campaign(campaign);
    let (_, published) =
        publish_vouchers(call, &request, &PublicationReceiver::new_holder(customer.clone()), Some(campaign), selected)?;
    published.into_iter().next().ok_or_else(|| not_found("voucher", &campaign.id).into())
}

/// Publishes the chosen vouchers; returns the publication and the vouchers in their new state.
pub fn publish_vouchers(
    call: &mut Call<'_, '_>,
    request: &PublicationRequest,
    receiver: &PublicationReceiver,
    campaign: Option<&Document>,
    selected: Vec<(Document, bool)>,
) -> Result<(Json, Vec<Document>), CallError> {
    let now_ms = call.now_ms();
    let id = call.ids.alphanumeric("pub_", 32).to_string();
    // A generic code has no holder.
    let is_generic = campaign.is_none_or(|campaign| campaign.as_campaign().is_standalone());
    let mut transfers = Vec::new();
    let mut published = Vec::new();
    let mut created: i64 = 0;
    for (mut voucher, is_new) in selected {
        if !is_generic {
            // A voucher without a holder gets the publication's id instead: it can be used by anyone with the
            // code, and is not published again.
            voucher.holder = Some(receiver.holder().unwrap_or(&id).to_owned());
            if let Some(holder) = receiver.holder() {
                voucher.body.insert("holder_id".into(), holder.into());
                if campaign.is_some_and(creation::is_referral) {
                    voucher.body.insert("referrer_id".into(), holder.into());
                    referral_holders::add(call, &voucher, holder, HolderRole::Referrer, &request.metadata);
                }
            }
            start_activity(call, campaign, &mut voucher)?;
            if let Some(campaign) = campaign {
                points::start_expiration(call, campaign, &mut voucher)?;
            }
        }
        call.touch(&mut voucher);
        if is_new {
            created = created.plus(1)?;
            call.store.insert("voucher", &voucher);
        } else {
            call.store.update_holder("voucher", &voucher);
        }
        let of_campaign = published_account(campaign.map(|campaign| campaign.id.as_str()));
        transfers.push(transfer_of_one(&id, transfers.len(), [publications_account(&voucher.id), of_campaign], now_ms));
        published.push(voucher);
    }
    if let Some(campaign) = campaign {
        creation::update_count(call, &campaign.id, created);
    }
    let parent =
        campaign.map(|campaign| campaign.id.clone()).or_else(|| published.first().map(|voucher| voucher.id.clone()));
    if let Some((name, parent)) = receiver.name().zip(parent.as_deref()) {
        let accounts = [named_publications_account(name, parent), published_by_name_account()];
        transfers.push(transfer_of_one(&id, transfers.len(), accounts, now_ms));
    }
    call.store.post(transfers);
    let body = to_json(call, &id, request, receiver, published.clone())?;
    let document = Document {
        id,
        key: request.source_id.clone().filter(|_| call.client.is_none()),
        parent,
        // A customer that a client only names joins no campaign.
        holder: receiver.holder().map(str::to_owned),
        created_at: now_ms,
        updated_at: None,
        body: body.as_object().cloned().unwrap_or_default(),
    };
    call.store.insert("publication", &document);
    Ok((body, published))
}

/// Returns the transfer that counts one voucher of a publication.
fn transfer_of_one(publication_id: &str, number: usize, accounts: [AccountId; 2], at: i64) -> TransferRow {
    let [debit, credit] = accounts.map(|account| account.to_string());
    let (id, chain) = (format!("{publication_id}.{number}"), publication_id.to_owned());
    TransferRow { id, chain, debit, credit, amount: 1, reverses: None, part_of: None, at }
}

/// Starts the activity period of a voucher that is active for some time after publication.
fn start_activity(call: &Call<'_, '_>, campaign: Option<&Document>, voucher: &mut Document) -> Result<(), CallError> {
    let activity = campaign.and_then(|campaign| campaign.as_campaign().activity_duration());
    if let Some(duration) = activity.and_then(Duration::parse) {
        let zone = clock::zone(call)?;
        let start: Instant = call.context.now;
        if let Some(end) = start.after(&duration, &zone) {
            voucher.body.insert("start_date".into(), start.to_string().into());
            voucher.body.insert("expiration_date".into(), end.to_string().into());
        }
    }
    Ok(())
}

/// Returns the publication as it is stored and returned; its `tracking_id` is the customer's `source_id` (docs/spec/objects.md#8).
pub fn to_json(
    call: &mut Call<'_, '_>,
    id: &str,
    request: &PublicationRequest,
    receiver: &PublicationReceiver,
    published: Vec<Document>,
) -> Result<Json, CallError> {
    let voucher_ids: Vec<String> = published.iter().map(|voucher| voucher.id.clone()).collect();
    let codes: Vec<Json> = published.iter().map(|voucher| Json::from(voucher.as_voucher().code())).collect();
    let customer = receiver.customer.as_ref();
    // A server gets the complete customer; a client gets the members that the filter of its route leaves.
    let customer_json = customer.map_or(Ok(Json::Null), |customer| customer_to_json(call, customer))?;
    let mut body = json!({
        "id": id, "object": "publication", "created_at": timestamp::text(call.now_ms()), "customer_id": customer.map(|customer| &customer.id),
        "tracking_id": receiver.source_id, "metadata": request.metadata, "channel": request.channel, "source_id": request.source_id, "result": "SUCCESS",
        "customer": customer_json, "vouchers_id": voucher_ids,
    });
    let vouchers = voucher::to_json_after_publication(call, published)?;
    if let Some(body) = body.as_object_mut() {
        match vouchers.into_iter().next().filter(|_| codes.len() == 1) {
            Some(voucher) => body.insert("voucher".into(), voucher),
            None => body.insert("vouchers".into(), Json::Array(codes)),
        };
    }
    Ok(body)
}

/// Returns a customer as a publication contains it, with the counts before the publication.
fn customer_to_json(call: &Call<'_, '_>, customer: &Document) -> Result<Json, CallError> {
    let mut json = customer::summary_json(customer.as_customer());
    if let (Some(json), Some(mut customer)) =
        (json.as_object_mut(), customer::with_balances(call, vec![customer.clone()])?.pop())
    {
        for name in ["summary", "loyalty", "referrals"] {
            json.insert(name.into(), customer.body.remove(name).unwrap_or(Json::Null));
        }
    }
    Ok(json)
}

/// Receiver of a publication.
#[derive(Default)]
pub struct PublicationReceiver {
    /// Stored customer, if there is one.
    pub customer: Option<Document>,
    /// `source_id` of the receiver.
    pub source_id: Option<String>,
    /// True when the receiver becomes the holder. A customer that a client only names does not: otherwise any client
    /// could assign vouchers to others and use up their once-only limits.
    pub holds: bool,
}

impl PublicationReceiver {
    /// Returns a customer as receiver and holder.
    pub fn new_holder(customer: Document) -> PublicationReceiver {
        PublicationReceiver { source_id: customer.key.clone(), customer: Some(customer), holds: true }
    }

    /// Returns the id of the customer who becomes the holder.
    pub fn holder(&self) -> Option<&str> {
        self.customer.as_ref().filter(|_| self.holds).map(|customer| customer.id.as_str())
    }

    /// Returns the id of a customer that a client only names. Publications to it are counted.
    pub fn name(&self) -> Option<&str> {
        self.customer.as_ref().filter(|_| !self.holds).map(|customer| customer.id.as_str())
    }
}
