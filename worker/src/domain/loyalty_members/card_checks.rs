//! Checks before points of a card change: program and member must be active, and the definition must be readable. Refusals of
//! the engine become errors of the API.

use crate::domain::clock::LocalTime;
use crate::domain::due::settlement_fault;
use crate::domain::loyalty_members::card::LoadedCard;
use crate::domain::loyalty_programs::kinds::{CARD_DEFINITION, PROGRAM, find_by_id, state_of};
use crate::http::reply::{CallError, ErrorBody, error, invalid_payload, not_found};
use crate::store::Store;
use crate::store::document::{Document, read_loaded};
use crate::store::sql::Fault;
use scrip::lifecycle::EntityState;
use scrip::points::{self, CardDefinition, CardRefusal};
use scrip::wire::loyalty::card_definition::read_card_definition;
use scrip::wire::loyalty::window::read_window;

/// Refuses a change of a card whose program or member is inactive, or outside of the program's validity.
pub fn check_open(program: &Document, member: &Document, present: &LocalTime, action: &str) -> Result<(), CallError> {
    let locked = |key: &str, message: String, details: String| CallError::from(error(423, key, &message, details));
    if state_of(program)? != EntityState::Active {
        let message = format!("Cannot {action} when program status is not ACTIVE");
        return Err(locked("non_active_program", message, "Invalid program status".into()));
    }
    if state_of(member)? != EntityState::Active {
        let message = format!("Cannot {action} when member status is not ACTIVE");
        return Err(locked("non_active_member", message, "Invalid member status".into()));
    }
    // A window that cannot be read is never open.
    let window = read_loaded(PROGRAM.stored, program, read_window);
    if !window.is_ok_and(|window| window.holds(present.now().at, &present.zone)) {
        let details = format!("Cannot {action} when program is not active at this time");
        let message = "Program is not available at this time".to_owned();
        return Err(locked("program_outside_validity_window", message, details));
    }
    Ok(())
}

/// Returns the definition of a card.
pub fn find_definition(store: &Store<'_>, loaded: &LoadedCard) -> Result<CardDefinition, CallError> {
    let id = loaded.definition_id();
    let definition = find_by_id(store, &CARD_DEFINITION, id)?;
    let definition = definition.ok_or_else(|| not_found(&CARD_DEFINITION.resource_type(), id))?;
    let read = read_loaded(CARD_DEFINITION.stored, &definition, read_card_definition);
    Ok(read.map_err(|_| Fault(format!("the card definition `{id}` cannot be read")))?)
}

/// Returns the error for a refused operation on a card.
pub fn card_refusal(card: &str, refused: CardRefusal) -> CallError {
    let locked = |key: &str, message: &str, details: &str| -> ErrorBody { error(423, key, message, details) };
    match refused {
        CardRefusal::Short { available: 0 } => {
            locked("zero_card_balance", "Card balance is zero", "Operation requires a positive card balance").into()
        }
        CardRefusal::Short { .. } => locked(
            "insufficient_card_balance",
            "Insufficient card balance",
            "Operation exceeds the available card balance",
        )
        .into(),
        CardRefusal::Beyond => {
            let text =
                format!("Property .points must NOT make a number of the card greater than {}", points::POINTS_MAX);
            invalid_payload(text).into()
        }
        CardRefusal::Closed => locked(
            "invalid_points_bucket_status",
            "Invalid points bucket status",
            "Points bucket must be in ACTIVE status in order to be expired",
        )
        .into(),
        CardRefusal::NeverExpires => locked(
            "points_expiration_not_enabled",
            "Points expiration is not enabled",
            "Card definition does not have points expiration enabled",
        )
        .into(),
        CardRefusal::NoSuchLot(_)
        | CardRefusal::SameId(_)
        | CardRefusal::NoSuchPending(_)
        | CardRefusal::MoreThanSpent { .. } => CallError::Fault(settlement_fault(card, &refused)),
    }
}
