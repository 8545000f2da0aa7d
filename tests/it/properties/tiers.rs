//! Tests tiers against a second model, which replays every history from its beginning.

mod examples;
mod histories;
mod model;
