//! Tiers beside a second model, which plays every history anew from its beginning. It must not know how the engine remembers.

mod examples;
mod model;
mod traffic;
