//! The parts of the comparison: what makes shops and carts, the model, and what holds the answers to it.

pub mod alone;
pub mod carts;
pub mod chance;
pub mod compare;
pub mod desk;
pub mod goods;
pub mod model;
pub mod offers;
pub mod page;
pub mod rules;
pub mod scopes;
pub mod shop;
pub mod trial;
