//! Members of loyalty programs (v2): look-up by name, and enrolment with cards.

use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card;
use crate::domain::loyalty_members::card::LoadedCard;
use crate::domain::loyalty_members::card_changes::settle;
use crate::domain::loyalty_members::card_view::member_card_json;
use crate::domain::loyalty_programs::kinds::{CARD, CARD_DEFINITION, MEMBER, find_by_id, state_of};
use crate::domain::loyalty_programs::requirements::list_assigned;
use crate::domain::loyalty_programs::{activities, lifecycle};
use crate::domain::vouchers::code_generator;
use crate::domain::vouchers::code_generator::CodeShape;
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::Call;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::records::EntityRecord;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::lifecycle::EntityState;
use serde_json::{Map, Value as Json, json};

/// Kind of name by which a request identifies a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberName {
    /// The id of the customer.
    CustomerId,
    /// `source_id` of the customer.
    CustomerSourceId,
    /// Id of one membership.
    MemberId,
}

impl MemberName {
    /// Finds the kind of name by its API name.
    pub fn find(name: &str) -> Option<MemberName> {
        [MemberName::CustomerId, MemberName::CustomerSourceId, MemberName::MemberId]
            .into_iter()
            .find(|by| by.name() == name)
    }

    /// Returns the API name.
    pub fn name(self) -> &'static str {
        match self {
            MemberName::CustomerId => "customer_id",
            MemberName::CustomerSourceId => "customer_source_id",
            MemberName::MemberId => "member_id",
        }
    }
}

/// Returns the customer of a name, or 404 for the object that it names.
pub fn find_customer(call: &Call<'_, '_>, by: MemberName, name: &str) -> Result<Document, CallError> {
    let (kind, found) = match by {
        MemberName::CustomerId => ("customer".to_owned(), call.store.document("customer", name)?),
        MemberName::CustomerSourceId => ("customer".to_owned(), call.store.document_by_name("customer", name, "")?),
        MemberName::MemberId => match find_by_id(call.store, &MEMBER, name)? {
            None => (MEMBER.resource_type(), None),
            Some(member) => {
                return find_customer(call, MemberName::CustomerId, member.holder.as_deref().unwrap_or_default());
            }
        },
    };
    found.ok_or_else(|| not_found(&kind, name).into())
}

/// Returns the membership of a customer in a program.
pub fn find_membership(store: &Store<'_>, program: &str, customer: &str) -> Result<Option<Document>, Fault> {
    store.document_by_name(MEMBER.stored, &membership_key(program, customer), "")
}

fn membership_key(program: &str, customer: &str) -> String {
    format!("{program}/{customer}")
}

/// Queues the enrolment of a customer in an ACTIVE program, with a card of each assigned definition.
pub fn enrol(
    call: &mut Call<'_, '_>,
    program: &Document,
    customer: &Document,
    request: EntityRecord<'_>,
) -> Result<(Document, Vec<LoadedCard>), CallError> {
    if state_of(program)? != EntityState::Active {
        let message = "Cannot create member when program status is not ACTIVE";
        return Err(error(423, "non_active_program", "Invalid program status", message).into());
    }
    if find_membership(call.store, &program.id, &customer.id)?.is_some() {
        let message = format!("Customer '{}' already is a member of program '{}'", customer.id, program.id);
        return Err(error(409, "member_already_exists", "Member already exists", message).into());
    }
    let mut body = Map::new();
    body.insert("customer_id".into(), customer.id.as_str().into());
    body.insert("program_id".into(), program.id.as_str().into());
    body.insert("status".into(), request.status().unwrap_or(EntityState::Active.name()).into());
    body.insert("metadata".into(), request.metadata().cloned().unwrap_or_else(|| json!({})));
    let mut member = lifecycle::new_document(call, &MEMBER, body);
    (member.parent, member.holder) = (Some(program.id.clone()), Some(customer.id.clone()));
    member.key = Some(membership_key(&program.id, &customer.id));
    lifecycle::create(call, &MEMBER, &member, None)?;
    let mut cards = Vec::new();
    for definition in list_assigned(call.store, &CARD_DEFINITION, &program.id)? {
        if let Some(definition) = find_by_id(call.store, &CARD_DEFINITION, &definition.id)? {
            cards.push(issue_card(call, &member, &definition)?);
        }
    }
    Ok((member, cards))
}

/// Queues a card of a definition for a member. When all codes are taken, the card has none.
fn issue_card(call: &mut Call<'_, '_>, member: &Document, definition: &Document) -> Result<LoadedCard, CallError> {
    let config = definition.as_card().code_config();
    let shape = CodeShape::of(config, &call.caller.settings)?;
    let code = code_generator::generate_one(call.store, &mut call.ids, &definition.id, &shape)?;
    let id = call.ids.hex18(CARD.id).to_string();
    let body = json!({
        "id": id, "card_definition_id": definition.id, "card_type": definition.as_card().card_type(), "code": code,
        "program_id": member.parent, "created_at": timestamp::text(call.now_ms()), "object": CARD.object,
    });
    let mut row = Document::new(id, None, call.now_ms(), body.as_object().cloned().unwrap_or_default());
    (row.parent, row.holder) = (Some(member.id.clone()), member.holder.clone());
    call.store.insert(CARD.stored, &row);
    let data = json!({ "card": row.body, "member": member.body });
    let generated = if code.is_some() { "code_generation.succeeded" } else { "code_generation.failed" };
    for activity in ["created", generated] {
        activities::record(call, &CARD, &row.id, activity, data.clone());
    }
    record_card_activity(call, member, &row, "assigned");
    let present = LocalTime::of(call)?;
    let mut loaded = card::load(call.store, row, &[])?;
    settle(call.store, &present, &mut loaded)?;
    Ok(loaded)
}

/// Records the assignment or removal of a card for both card and member.
pub fn record_card_activity(call: &mut Call<'_, '_>, member: &Document, card: &Document, activity: &str) {
    let data = json!({ "card": card.body, "member": member.body });
    activities::record(call, &CARD, &card.id, activity, data.clone());
    activities::record(call, &MEMBER, &member.id, &format!("card.{activity}"), data);
}

/// Returns a member with the cards, as the API returns it.
pub fn member_json(member: Document, cards: &[LoadedCard], present: &LocalTime) -> Result<Json, Fault> {
    let mut body = member.body;
    let cards: Result<Vec<Json>, Fault> = cards.iter().map(|loaded| member_card_json(loaded, &present.zone)).collect();
    body.insert("cards".into(), cards?.into());
    Ok(Json::Object(body))
}
