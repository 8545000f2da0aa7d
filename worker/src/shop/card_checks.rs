//! What must hold before points of a card are moved: its program acts now, so does its member, its definition reads; and how it is told
//! that something does not. It must not know what the points are moved for.

use crate::http::reply::{CallError, ErrorBody, error, invalid_payload, not_found};
use crate::shop::card_changes::broken;
use crate::shop::cards::{Held, Present};
use crate::shop::lives::{CARD_DEFINITION, PROGRAM, named, state_of};
use crate::store::Store;
use crate::store::document::{Document, read_held};
use crate::store::sql::Fault;
use scrip::lifecycle::State;
use scrip::points::{self, CardDefinition, Refused};
use scrip::wire::loyalty::card_definition::read_card_definition;
use scrip::wire::loyalty::window::read_window;

/// Refuses to change a card whose program or member does not act, or whose program does not act now.
pub fn check_open((program, member): (&Document, &Document), present: &Present, doing: &str) -> Result<(), CallError> {
    let locked = |key: &str, message: String, details: String| CallError::from(error(423, key, &message, details));
    if state_of(program)? != State::Active {
        let message = format!("Cannot {doing} when program status is not ACTIVE");
        return Err(locked("non_active_program", message, "Invalid program status".into()));
    }
    if state_of(member)? != State::Active {
        let message = format!("Cannot {doing} when member status is not ACTIVE");
        return Err(locked("non_active_member", message, "Invalid member status".into()));
    }
    // A window that does not read is open at no time.
    let window = read_held(PROGRAM.stored, program, read_window);
    if !window.is_ok_and(|window| window.holds(present.now().at, &present.zone)) {
        let details = format!("Cannot {doing} when program is not active at this time");
        let message = "Program is not available at this time".to_owned();
        return Err(locked("program_outside_validity_window", message, details));
    }
    Ok(())
}

/// The definition of a card.
pub fn definition_of(store: &Store<'_>, held: &Held) -> Result<CardDefinition, CallError> {
    let id = held.definition();
    let definition = named(store, &CARD_DEFINITION, id)?;
    let definition = definition.ok_or_else(|| not_found(&CARD_DEFINITION.resource_type(), id))?;
    let read = read_held(CARD_DEFINITION.stored, &definition, read_card_definition);
    Ok(read.map_err(|_| Fault(format!("the card definition `{id}` does not read")))?)
}

/// Why an operation on a card is refused.
pub fn refusal(card: &str, refused: Refused) -> CallError {
    let locked = |key: &str, message: &str, details: &str| -> ErrorBody { error(423, key, message, details) };
    match refused {
        Refused::Short { available: 0 } => {
            locked("zero_card_balance", "Card balance is zero", "Operation requires a positive card balance").into()
        }
        Refused::Short { .. } => locked(
            "insufficient_card_balance",
            "Insufficient card balance",
            "Operation exceeds the available card balance",
        )
        .into(),
        Refused::Beyond => {
            let told = format!("Property .points must NOT make a number of the card greater than {}", points::MOST);
            invalid_payload(told).into()
        }
        Refused::Closed => locked(
            "invalid_points_bucket_status",
            "Invalid points bucket status",
            "Points bucket must be in ACTIVE status in order to be expired",
        )
        .into(),
        Refused::NeverLapses => locked(
            "points_expiration_not_enabled",
            "Points expiration is not enabled",
            "Card definition does not have points expiration enabled",
        )
        .into(),
        Refused::NoSuchLot(_) | Refused::SameId(_) | Refused::NoSuchPending(_) | Refused::MoreThanSpent { .. } => {
            CallError::Fault(broken(card, &refused))
        }
    }
}
