//! What follows from what a call wrote, in the same commit: whoever earns by it has the points and the incentives, and what an order
//! brought that is called off is given back. It must not know routes, nor what a rule asks.
//!
//! What was written is in the tables before anything follows from it, so that every card and every stock is as it stands; the host
//! undoes all of it when any of it fails.

use crate::http::route::Call;
use crate::shop::card_changes::{settle, settle_tiers, tell_event, write};
use crate::shop::card_rows::Told;
use crate::shop::cards::{Held, Present, load, load_all};
use crate::shop::earning_facts::{Asked, Memberships, Rules, StoredEarnings};
use crate::shop::firings::{self, Fires};
use crate::shop::handing_out::{Handing, Ledgered};
use crate::shop::lives::CARD;
use crate::shop::occurrences::{Earners, Occurrence, brought, noticed};
use crate::shop::products::PRODUCT;
use crate::shop::skus::SKU;
use crate::shop::{card_spendings, decision, held_tiers, payments, program_earnings, statistics};
use crate::store::document::{Document, legible, read_held, read_stored};
use crate::store::post::Post;
use crate::store::sql::Fault;
use scrip::decide::earn::{Earnings, Event, Firing, What, earn, give_back};
use scrip::decide::returned::{Bought, Share};
use scrip::facts::earning::{EarningRule, Effect, Occasion};
use scrip::model::order::{Metadata, Order};
use scrip::text::Text;
use scrip::wire::cursor::read;
use scrip::wire::customer::read_customer;
use scrip::wire::order::read_order;
use serde_json::{Map, Value as Json, json};
use std::collections::VecDeque;

/// Runs the writes of a call, and what follows from them.
pub fn commit(call: &mut Call<'_, '_>) -> Result<(), Fault> {
    let noticed = noticed(call)?;
    let posts: Vec<Post> = call.store.posted().filter(|post| card_spendings::is_about_points(post)).cloned().collect();
    if call.store.may_write(&[PRODUCT.object, SKU.object]) {
        call.catalogue.forget();
    }
    call.store.commit()?;
    if noticed.is_empty() && posts.is_empty() {
        return Ok(());
    }
    // The call is accepted: what follows from it is done whole.
    call.store.unbound();
    if !posts.is_empty() {
        card_spendings::follow(call, &posts)?;
        call.store.commit()?;
    }
    let mut noticed = VecDeque::from(noticed);
    while let Some(occurrence) = noticed.pop_front() {
        follow(call, &occurrence)?;
        // Points may bring a customer into a segment, by which nothing is earned twice at one moment.
        noticed.extend(brought(call)?);
        call.store.commit()?;
    }
    Ok(())
}

fn follow(call: &mut Call<'_, '_>, occurrence: &Occurrence) -> Result<(), Fault> {
    match occurrence {
        Occurrence::Paid { order_id, customer_id, text, earners } => {
            let order = read_stored("order", order_id, text, read_order);
            let Some(order) = legible(call.store, order)? else { return Ok(()) };
            let told = json!({ "order": { "id": order_id } });
            let occasion = Occasion::order(order_id);
            let what = (What::OrderPaid(&order), "customer.order.paid");
            happen(call, (customer_id, *earners), what, &occasion, &told)
        }
        Occurrence::CalledOff { order_id } => {
            // What it was paid with comes back before what it brought is taken.
            payments::give_back(call, order_id, None)?;
            call.store.commit()?;
            take_back(call, order_id, None)
        }
        Occurrence::Changed { order_id } => {
            let Some(order) = order(call, order_id)? else { return Ok(()) };
            let left = Bought::of(&order);
            payments::give_back(call, order_id, Some(&left))?;
            call.store.commit()?;
            take_back(call, order_id, Some(&left))
        }
        Occurrence::Told { event_id, customer_id } => {
            let Some(document) = call.store.document("event", event_id)? else { return Ok(()) };
            let schema_id = document.parent.as_deref().unwrap_or_default();
            wake(call, customer_id, schema_id)?;
            let data = legible(call.store, read_held("event", &document, |at| at.option("metadata", read::metadata)))?;
            let metadata: Metadata = data.flatten().unwrap_or_default();
            let what = What::CustomEvent { schema_id: Some(schema_id), metadata: &metadata };
            let occasion = Occasion::custom_event(event_id);
            happen(call, (customer_id, Earners::ANY), (what, "customer.custom_event"), &occasion, &json!({}))
        }
        Occurrence::Regrouped { customer_id } => settle_tiers(call.store, &Present::of(call)?, customer_id),
        Occurrence::Entered { segment_id, customer_id } => {
            let what = What::SegmentEntered(Some(segment_id));
            let occasion = Occasion::segment(segment_id, customer_id, call.context.now);
            happen(call, (customer_id, Earners::ANY), (what, "customer.segment.entered"), &occasion, &json!({}))
        }
    }
}

/// An order that is stored; nothing of one that does not read.
fn order(call: &Call<'_, '_>, order_id: &str) -> Result<Option<Order>, Fault> {
    let Some(document) = call.store.document("order", order_id)? else { return Ok(None) };
    legible(call.store, read_held("order", &document, read_order))
}

/// What a customer earns by something, written at the commit.
fn happen(
    call: &mut Call<'_, '_>,
    (customer_id, earners): (&str, Earners),
    (what, event): (What<'_>, &str),
    occasion: &Occasion,
    about: &Json,
) -> Result<(), Fault> {
    if earners.campaigns {
        program_earnings::happen(call, customer_id, what, occasion)?;
    }
    if !earners.members {
        return Ok(());
    }
    let present = Present::of(call)?;
    let asked = Asked { customer_id, event, only: None, metadata: None };
    let mut memberships = Memberships::read(call.store, &asked)?;
    if memberships.is_idle() {
        return Ok(());
    }
    find_tiers(call, &present, &mut memberships)?;
    let Some(document) = call.store.document("customer", customer_id)? else { return Ok(()) };
    let Some(customer) = legible(call.store, read_held("customer", &document, read_customer))? else { return Ok(()) };
    let earnings = {
        let facts = decision::facts(call)?;
        let stored = StoredEarnings::new(call.store, &facts, &present, &memberships);
        let event = Event { customer: &customer, what, occasion: Some(occasion) };
        let earnings = earn(&facts, &stored, event, call.context);
        stored.end()?;
        facts.end()?;
        earnings
    };
    if let Some(idle) = &earnings.idle {
        call.store.note(format!("nothing is earned by `{}`: {}", occasion.as_str(), idle.word()));
    }
    let Memberships { rules, definitions, .. } = memberships;
    let cards = load_all(call.store, &earnings.cards())?;
    let about = about.as_object().cloned().unwrap_or_default();
    let handing = Handing::to(document, &present, (definitions, cards), about);
    let bought = match what {
        What::OrderPaid(order) => Some(Bought::of(order)),
        What::CustomEvent { .. } | What::SegmentEntered(_) => None,
    };
    put(call, (&earnings, &rules), handing, (occasion, bought.as_ref()))
}

/// Finds the tiers that members are in now, where a rule asks for them; nothing of it is written.
pub fn find_tiers(call: &Call<'_, '_>, present: &Present, memberships: &mut Memberships) -> Result<(), Fault> {
    for member_id in memberships.asking_tiers() {
        for tier in held_tiers::of_member(call.store, present, &member_id)? {
            memberships.put_tier(&member_id, tier);
        }
    }
    Ok(())
}

/// Writes down at the commit what was earned, as far as it can be handed over.
fn put(
    call: &mut Call<'_, '_>,
    (earnings, rules): (&Earnings, &Rules),
    mut handing: Handing<'_>,
    (occasion, bought): (&Occasion, Option<&Bought>),
) -> Result<(), Fault> {
    let now_ms = call.now_ms();
    statistics::count(call.store, &statistics::resting(earnings), now_ms);
    let mut fired: Vec<Fires<'_>> = Vec::new();
    for member in &earnings.memberships {
        for rule in &member.rules {
            let Ok(firing) = &rule.outcome else { continue };
            let owner = [member.member_id.as_str(), member.program_id.as_str()];
            let effects = effects_of(rules.get(rule.rule_id.as_str()).and_then(Option::as_deref), firing);
            let (mut counts, mut points) = (false, Vec::new());
            for (granted, effect) in firing.effects.iter().zip(effects) {
                match handing.hand(call, granted.as_ref(), effect, (owner, &rule.rule_id))? {
                    Ledgered::Nothing => {}
                    Ledgered::Thing => counts = true,
                    Ledgered::Points(entry) => {
                        counts = true;
                        points.push(entry);
                    }
                }
            }
            if counts {
                let rule = [rule.rule_id.as_str(), firing.earning_id.as_str()];
                fired.push(Fires { member: owner, rule, points });
            }
        }
    }
    if !fired.is_empty() {
        firings::put(call.store, (occasion, bought), handing.customer_id(), &fired, now_ms);
    }
    Ok(())
}

/// The effects of the earning that fired.
fn effects_of<'r>(rule: Option<&'r EarningRule>, firing: &Firing) -> &'r [Effect] {
    let earnings = rule.map_or(&[][..], |rule| &rule.earnings);
    let earning = earnings.iter().find(|earning| earning.id == firing.earning_id);
    earning.map_or(&[], |earning| &earning.effects)
}

/// Takes back at the commit what an order brought, where the definitions of its cards say so, by how much is left of it: nothing is of
/// one that is called off.
fn take_back(call: &mut Call<'_, '_>, order_id: &str, left: Option<&Bought>) -> Result<(), Fault> {
    let occasion = Occasion::order(order_id);
    let share = match left {
        None => Share::WHOLE,
        Some(left) => firings::bought(call.store, &occasion)?.map_or(Share::NONE, |bought| bought.amount_back(left)),
    };
    if share.is_none() {
        return Ok(());
    }
    let present = Present::of(call)?;
    // What is due is settled first: whether points wait still, or where they went, the rows say.
    for card in firings::cards(call.store, &occasion)? {
        if let Some(mut held) = held(call, &card, &[])? {
            settle(call.store, &present, &mut held)?;
        }
    }
    call.store.commit()?;
    let back = {
        let facts = decision::facts(call)?;
        let nobody = Memberships::default();
        let stored = StoredEarnings::new(call.store, &facts, &present, &nobody);
        let back = give_back(&stored, &occasion, share);
        stored.end()?;
        facts.end()?;
        back
    };
    let Some(back) = back else {
        call.store.note(format!("what `{}` brought cannot be given back: something does not read", occasion.as_str()));
        return Ok(());
    };
    if firings::standing(call.store, &occasion)?.is_none() {
        return Ok(());
    }
    let about = json!({ "order": { "id": order_id } }).as_object().cloned().unwrap_or_default();
    let told = Told { about, ..Told::default() };
    for one in back {
        let lots: Vec<&str> = one.past.earned.lot.iter().map(Text::as_str).collect();
        let Some(mut held) = held(call, &one.past.card_id, &lots)? else { continue };
        match held.card.revoke(&one.past.earned, one.method, &present.now()) {
            Ok(outcome) => drop(write(call.store, &present, &mut held, outcome, Some((&told, &mut call.ids)))?),
            Err(refused) => call.store.note(format!("the card `{}` gives nothing back: {refused:?}", held.row.id)),
        }
        firings::note_back(call.store, &occasion, one.past.place, one.due)?;
        // Two earnings may have gone to one card.
        call.store.commit()?;
    }
    if left.is_none() {
        firings::end(call.store, &occasion, call.context.now.millis());
    }
    Ok(())
}

/// A card with the lots that are named; nothing for one that is gone.
fn held(call: &Call<'_, '_>, card_id: &str, lots: &[&str]) -> Result<Option<Held>, Fault> {
    let row = call.store.document(CARD.stored, card_id)?;
    row.map(|row| load(call.store, row, lots)).transpose()
}

/// Makes active at the commit what waits for an event on the cards of a customer, and puts off what lapses when nothing happens.
fn wake(call: &mut Call<'_, '_>, customer_id: &str, schema_id: &str) -> Result<(), Fault> {
    let rows: Vec<Document> = call.store.documents(
        "SELECT card.id, card.key, card.parent, card.holder, card.created_at, card.updated_at, card.body FROM document AS card
         JOIN document AS member ON member.kind = 'member' AND member.id = card.parent
         JOIN document AS program ON program.kind = 'program' AND program.id = member.parent
         WHERE card.kind = +?1 AND card.holder = +?2 AND json_extract(member.body, '$.status') = 'ACTIVE'
           AND json_extract(program.body, '$.status') = 'ACTIVE' ORDER BY card.seq",
        &[CARD.stored.into(), customer_id.into()],
    )?;
    if rows.is_empty() {
        return Ok(());
    }
    let present = Present::of(call)?;
    let told = Told { about: Map::new(), ..Told::default() };
    for row in rows {
        let mut held = load(call.store, row, &[])?;
        tell_event(call.store, &present, &mut held, schema_id, (&told, &mut call.ids))?;
    }
    // What is earned by the event waits for the next.
    call.store.commit()
}
