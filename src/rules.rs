//! Decides whether a validation rule holds for an order, a customer and a moment. It must not know vouchers, JSON or
//! the ledger. A rule is a small tree that can be printed, compiled once when it is read.
//!
//! validation-rules.md sections 1 to 4, 8 and 12.

pub mod among;
mod ast;
pub mod basket;
pub mod compare;
pub mod eval;
pub mod filter;
pub mod index;
pub mod input;
pub mod lint;
pub mod logic;
pub mod names;
pub mod number;
pub mod operator;
mod range;
pub mod why;
mod wording;

pub use ast::{Group, Leaf, Needs, Rule, Test};
pub use basket::{Basket, GoodsIndex, ResolvedLine};
pub use compare::{Clock, Condition, FoundValue, Moment, Operand, Window};
pub use eval::{Blamed, Failure};
pub use filter::{Collection, Contents, Field, Filter, Members, Segment};
pub use index::{Index, about};
pub use input::{Figures, Membership, RequestFacts, RuleFacts, RuleInput};
pub use lint::{Warning, lint};
pub use logic::{Expression, LogicError};
pub use names::{Area, Counter, Kind, Period};
pub use number::Number;
pub use operator::Operator;
