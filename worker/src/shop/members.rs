//! Members of loyalty programs: who joins one, with which cards, and who is meant by a name. It must not know routes.

use crate::http::reply::{CallError, error, not_found};
use crate::http::route::Call;
use crate::moment;
use crate::shop::card_changes::settle;
use crate::shop::card_rows::member_card;
use crate::shop::cards::{self, Held, Present};
use crate::shop::codes::{self, CodeShape};
use crate::shop::hindrance::assigned_as;
use crate::shop::lives::{CARD, CARD_DEFINITION, MEMBER, named, state_of};
use crate::shop::{activities, lifecycle};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::lifecycle::State;
use serde_json::{Map, Value as Json, json};

/// What somebody names a member by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy {
    /// The id of the customer.
    CustomerId,
    /// The caller's own name of the customer.
    CustomerSourceId,
    /// The id of one membership.
    MemberId,
}

impl NamedBy {
    /// As requests say it.
    pub fn find(word: &str) -> Option<NamedBy> {
        [NamedBy::CustomerId, NamedBy::CustomerSourceId, NamedBy::MemberId].into_iter().find(|by| by.word() == word)
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            NamedBy::CustomerId => "customer_id",
            NamedBy::CustomerSourceId => "customer_source_id",
            NamedBy::MemberId => "member_id",
        }
    }
}

/// The customer that a name means, or 404 of what it names.
pub fn customer(call: &Call<'_, '_>, by: NamedBy, name: &str) -> Result<Document, CallError> {
    let (kind, found) = match by {
        NamedBy::CustomerId => ("customer".to_owned(), call.store.document("customer", name)?),
        NamedBy::CustomerSourceId => ("customer".to_owned(), call.store.document_by_name("customer", name, "")?),
        NamedBy::MemberId => match named(call.store, &MEMBER, name)? {
            None => (MEMBER.resource_type(), None),
            Some(member) => return customer(call, NamedBy::CustomerId, member.holder.as_deref().unwrap_or_default()),
        },
    };
    found.ok_or_else(|| not_found(&kind, name).into())
}

/// The one membership of a customer in a program.
pub fn of_customer(store: &Store<'_>, program: &str, customer: &str) -> Result<Option<Document>, Fault> {
    store.document_by_name(MEMBER.stored, &key(program, customer), "")
}

fn key(program: &str, customer: &str) -> String {
    format!("{program}/{customer}")
}

/// Adds a customer to an ACTIVE program at the commit, with a card of each definition that is in it.
pub fn enrol(
    call: &mut Call<'_, '_>,
    program: &Document,
    customer: &Document,
    sent: Map<String, Json>,
) -> Result<(Document, Vec<Held>), CallError> {
    if state_of(program)? != State::Active {
        let told = "Cannot create member when program status is not ACTIVE";
        return Err(error(423, "non_active_program", "Invalid program status", told).into());
    }
    if of_customer(call.store, &program.id, &customer.id)?.is_some() {
        let told = format!("Customer '{}' already is a member of program '{}'", customer.id, program.id);
        return Err(error(409, "member_already_exists", "Member already exists", told).into());
    }
    let mut body = Map::new();
    body.insert("customer_id".into(), customer.id.as_str().into());
    body.insert("program_id".into(), program.id.as_str().into());
    body.insert("status".into(), sent.get("status").cloned().unwrap_or_else(|| State::Active.word().into()));
    body.insert("metadata".into(), sent.get("metadata").cloned().unwrap_or_else(|| json!({})));
    let mut member = lifecycle::begin(call, &MEMBER, body);
    (member.parent, member.holder) = (Some(program.id.clone()), Some(customer.id.clone()));
    member.key = Some(key(&program.id, &customer.id));
    lifecycle::create(call, &MEMBER, &member, None)?;
    let mut given = Vec::new();
    for definition in assigned_as(call.store, &CARD_DEFINITION, &program.id)? {
        if let Some(definition) = named(call.store, &CARD_DEFINITION, &definition.id)? {
            given.push(give(call, &member, &definition)?);
        }
    }
    Ok((member, given))
}

/// Gives a member a card of a definition at the commit. Where all codes are taken, the card has none.
fn give(call: &mut Call<'_, '_>, member: &Document, definition: &Document) -> Result<Held, CallError> {
    let config = definition.body.get("code_config").and_then(Json::as_object);
    let shape = CodeShape::of(config, &call.caller.settings)?;
    let code = codes::draw(call.store, &mut call.ids, &definition.id, &shape)?;
    let id = call.ids.hex18(CARD.id).to_string();
    let body = json!({
        "id": id, "card_definition_id": definition.id, "card_type": definition.body.get("type"), "code": code,
        "program_id": member.parent, "created_at": moment::text(call.now_ms()), "object": CARD.object,
    });
    let mut row = Document::new(id, None, call.now_ms(), body.as_object().cloned().unwrap_or_default());
    (row.parent, row.holder) = (Some(member.id.clone()), member.holder.clone());
    call.store.insert(CARD.stored, &row);
    let data = json!({ "card": row.body, "member": member.body });
    let generated = if code.is_some() { "code_generation.succeeded" } else { "code_generation.failed" };
    for what in ["created", generated] {
        activities::note(call, &CARD, &row.id, what, data.clone());
    }
    note_card(call, member, &row, "assigned");
    let present = Present::of(call)?;
    let mut held = cards::load(call.store, row, &[])?;
    settle(call.store, &present, &mut held)?;
    Ok(held)
}

/// Writes down on both sides that a member got a card or lost it.
pub fn note_card(call: &mut Call<'_, '_>, member: &Document, card: &Document, what: &str) {
    let data = json!({ "card": card.body, "member": member.body });
    activities::note(call, &CARD, &card.id, what, data.clone());
    activities::note(call, &MEMBER, &member.id, &format!("card.{what}"), data);
}

/// A member with the cards, as they are told of.
pub fn with_cards(member: Document, cards: &[Held], present: &Present) -> Json {
    let mut body = member.body;
    body.insert("cards".into(), cards.iter().map(|held| member_card(held, &present.zone)).collect());
    Json::Object(body)
}
