//! Points of a card beside second models: dates found by walking through the calendar day by day, and a card of single points
//! that is played anew from its first event each time. They must not know how the engine keeps lots.

pub mod almanac;
pub mod dates;
mod examples;
mod limits;
pub mod plan;
mod rows;
mod tokens;
mod traffic;
