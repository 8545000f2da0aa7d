//! How codes are handed to a customer, and what a publication is. It must not know who asked for one, nor what a voucher grants.

use crate::http::reply::{CallError, error, not_found};
use crate::http::route::Call;
use crate::moment;
use crate::shop::holders::Role;
use crate::shop::{balances, card_lots, customers, generation, holders, vouchers, zone};
use crate::store::document::Document;
use crate::store::post::Post;
use scrip::facts::{publications_account, published_account};
use scrip::time::{Duration, Instant};
use serde_json::{Map, Value as Json, json};

/// What is asked for.
pub struct Wanted {
    /// The code, when it is a voucher of its own.
    pub voucher: Option<String>,
    /// The campaign whose codes are wanted, by id or name.
    pub campaign: Option<String>,
    /// How many codes.
    pub count: usize,
    /// The caller's identifier of the publication.
    pub source_id: Option<String>,
    /// To whom, as sent.
    pub customer: Map<String, Json>,
    /// Custom data of the publication.
    pub metadata: Json,
    /// How the caller calls itself.
    pub channel: String,
    /// Whether a customer who has a code of the campaign is told that one again.
    pub join_once: bool,
}

impl Wanted {
    /// One code of a campaign that nobody asked for: it is given with what happened.
    pub fn given(campaign: &Document) -> Wanted {
        Wanted { campaign: Some(campaign.id.clone()), ..Wanted::unasked() }
    }

    /// A code that is made by the same call.
    pub fn made(voucher: &Document) -> Wanted {
        Wanted { voucher: Some(voucher.id.clone()), ..Wanted::unasked() }
    }

    fn unasked() -> Wanted {
        Wanted {
            voucher: None,
            campaign: None,
            count: 1,
            source_id: None,
            customer: Map::new(),
            metadata: json!({}),
            channel: "API".into(),
            join_once: false,
        }
    }
}

/// Free codes of a campaign, oldest first; a campaign that makes its own makes what is missing. Says of each whether it is new.
/// None of `taken`, which this request has handed out already.
pub fn choose(
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
        balances::load(call, voucher, added, &[])?;
    }
    let wanted = Wanted::given(campaign);
    let (_, handed) = hand_over(call, &wanted, &Receiver::of(customer.clone()), Some(campaign), chosen)?;
    handed.into_iter().next().ok_or_else(|| not_found("voucher", &campaign.id).into())
}

/// Gives the publication, and the vouchers as they are now.
pub fn hand_over(
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
                    holders::add(call, &voucher, holder, Role::Referrer, &wanted.metadata);
                }
            }
            start_activity(call, campaign, &mut voucher)?;
            if let Some(campaign) = campaign {
                card_lots::begin(call, campaign, &mut voucher)?;
            }
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
            debit: publications_account(&voucher.id).to_string(),
            credit: published_account(campaign.map(|campaign| campaign.id.as_str())).to_string(),
            amount: 1,
            reverses: None,
            at: now_ms,
        });
        handed.push(voucher);
    }
    if let Some(campaign) = campaign {
        generation::count(call, &campaign.id, made);
    }
    call.store.post(posts);
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
        let zone = zone::of(call)?;
        let start: Instant = call.context.now;
        if let Some(end) = start.after(&duration, &zone) {
            voucher.body.insert("start_date".into(), start.to_string().into());
            voucher.body.insert("expiration_date".into(), end.to_string().into());
        }
    }
    Ok(())
}

/// The publication as it is answered and stored; its `tracking_id` is the customer's `source_id` (objects.md section 8).
pub fn show(
    call: &mut Call<'_, '_>,
    id: &str,
    wanted: &Wanted,
    receiver: &Receiver,
    handed: Vec<Document>,
) -> Result<Json, CallError> {
    let named: Vec<String> = handed.iter().map(|voucher| voucher.id.clone()).collect();
    let codes: Vec<Json> =
        handed.iter().map(|voucher| voucher.body.get("code").cloned().unwrap_or(Json::Null)).collect();
    let customer = receiver.customer.as_ref();
    let person = match (customer, &call.page) {
        (None, _) => Json::Null,
        (Some(customer), Some(_)) => json!({ "id": customer.id, "object": "customer" }),
        (Some(customer), None) => whole(call, customer)?,
    };
    let mut body = json!({
        "id": id, "object": "publication", "created_at": moment::text(call.now_ms()), "customer_id": customer.map(|customer| &customer.id),
        "tracking_id": receiver.source_id, "metadata": wanted.metadata, "channel": wanted.channel, "source_id": wanted.source_id, "result": "SUCCESS",
        "customer": person, "vouchers_id": named,
    });
    let shown = vouchers::show_handed_over(call, handed)?;
    if let Some(body) = body.as_object_mut() {
        match shown.into_iter().next().filter(|_| codes.len() == 1) {
            Some(voucher) => body.insert("voucher".into(), voucher),
            None => body.insert("vouchers".into(), Json::Array(codes)),
        };
    }
    Ok(body)
}

/// A customer as a publication shows one, with what they had before it.
fn whole(call: &Call<'_, '_>, customer: &Document) -> Result<Json, CallError> {
    let mut shown = customers::reduced(&customer.body);
    if let (Some(shown), Some(mut customer)) =
        (shown.as_object_mut(), customers::with_purses(call, vec![customer.clone()])?.pop())
    {
        for name in ["summary", "loyalty", "referrals"] {
            shown.insert(name.into(), customer.body.remove(name).unwrap_or(Json::Null));
        }
    }
    Ok(shown)
}

/// Who is given what is published.
#[derive(Default)]
pub struct Receiver {
    /// The customer as stored, if there is one to speak of.
    pub customer: Option<Document>,
    /// The identifier by which they are known outside.
    pub source_id: Option<String>,
    /// Whether they hold it from then on. Whom a page only names does not: anybody could give anybody anything, and take from
    /// them the first time of something that is once for each.
    pub holds: bool,
}

impl Receiver {
    /// A customer who holds it.
    pub fn of(customer: Document) -> Receiver {
        Receiver { source_id: customer.key.clone(), customer: Some(customer), holds: true }
    }

    /// The customer, by id, who holds it.
    pub fn holder(&self) -> Option<&str> {
        self.customer.as_ref().filter(|_| self.holds).map(|customer| customer.id.as_str())
    }
}
