//! Decides which tier of a structure a member is in: from points and segments, at every moment, and what is told of the way up and
//! down. It must not know who is a member, cards, JSON documents, nor what a tier is good for.
//!
//! A member's standing moves at moments alone: where something changed, and where something is due by itself, each at its own moment.
//! Of one moment only its end counts, so that it does not matter in which order things happened at it, and whoever reads a standing
//! often, once or never finds the same one.
//!
//! loyalty-v2.md section 6.

mod advance;
pub mod progress;
pub mod standing;
mod steps;
pub mod structure;
pub mod tracking;

pub use progress::{Current, Deferred, Opportunity, Progress, Risk};
pub use standing::{Change, Earlier, Facts, Moved, Passage, Position, Standing, Transition};
pub use structure::{Downgrade, Expiration, Grace, Measure, Structure, Tier};
pub use tracking::{Tracking, TrackingUnit};
