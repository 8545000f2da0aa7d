//! Reactions of observers to domain events, step by step.

use crate::domain::point_spending::moved_points::MovedPoints;
use crate::http::route::Call;
use crate::store::sql::Fault;

/// Step of a reaction.
type Step = Box<dyn FnOnce(&mut Call<'_, '_>) -> Result<Reaction, Fault>>;

/// Result of one step of an observer: its writes are queued.
#[derive(Default)]
pub struct Reaction {
    /// Points that moved because of an order.
    pub moved: MovedPoints,
    /// The next step. The commit runs the queued writes before it, so that it reads them.
    pub next: Option<Step>,
}

impl Reaction {
    /// Creates the reaction whose next step reads the writes of this one.
    pub fn followed_by(
        moved: MovedPoints,
        next: impl FnOnce(&mut Call<'_, '_>) -> Result<Reaction, Fault> + 'static,
    ) -> Reaction {
        Reaction { moved, next: Some(Box::new(next)) }
    }
}

impl From<MovedPoints> for Reaction {
    fn from(moved: MovedPoints) -> Reaction {
        Reaction { moved, next: None }
    }
}
