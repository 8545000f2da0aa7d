//! Tests the points of a card against second models. One finds dates by walking through the calendar day by day. The other is a card of
//! single points that is replayed from its first event each time.

pub mod calendar_model;
pub mod dates;
mod examples;
mod histories;
mod limits;
pub mod operations;
mod stored_rows;
mod strategies;
mod unit_points_model;
