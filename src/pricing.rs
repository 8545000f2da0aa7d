//! Decides what a grant takes off an order: the amounts of calculation.md sections 2, 3, 5 and 9. It must not know
//! which grants are applied, in which order, or why.

pub mod cart;
pub mod effect;
pub mod lines;
pub mod points;
pub mod spread;

pub use cart::{Cart, Gain, Line};
pub use effect::{Base, NoLines, apply_discount, apply_gift};
pub use lines::{Priced, eligible_units, price};
