//! Decides whether a validation rule holds for an order, a customer and a moment. It must not know vouchers, JSON or
//! the ledger. A rule is a small tree that can be printed, compiled once when it is read.
//!
//! validation-rules.md sections 1 to 4.

pub mod ast;
pub mod eval;
pub mod index;
pub mod logic;

pub use ast::{Condition, Leaf, Operand, Operator, Rule, Test};
pub use eval::{Failure, Scene, SceneItem};
pub use index::{Index, about};
pub use logic::{Expression, LogicError};
