//! Defines the states of a loyalty program's documents: the transitions, their preconditions, and the fields that may
//! be edited in each state.
//!
//! docs/spec/loyalty.md#2. The tables contain all of it: the service has one function for the transitions of every
//! kind.

mod states;
mod tables;

pub use states::{Edit, Entity, EntityState, Precondition, TransitionAction, TransitionRefusal, invalid_transition};
pub use tables::{Transition, edit, transition, transitions};
