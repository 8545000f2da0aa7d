//! Decides whether a validation rule holds for an order, a customer and a moment. It must not know vouchers, JSON or
//! the ledger. A rule is a small tree that can be printed, compiled once when it is read.
//!
//! validation-rules.md sections 1 to 4, 8 and 12.

pub mod about;
pub mod basket;
pub mod compare;
pub mod eval;
pub mod filter;
pub mod index;
pub mod input;
pub mod kind;
pub mod lint;
pub mod logic;
pub mod names;
mod needs;
pub mod number;
pub mod operand;
pub mod operator;
mod range;
mod rule;
pub mod value_set;
pub mod why;

pub use basket::{Basket, GoodsIndex, ResolvedLine};
pub use compare::{Clock, Condition};
pub use eval::{Blamed, Failure};
pub use filter::{Collection, Contents, Field, Filter, Members, Segment};
pub use index::Index;
pub use input::{EarningInput, Figures, RequestFacts, RuleFacts, RuleInput};
pub use kind::{Asked, Counter, Kind, Period};
pub use lint::{Warning, lint};
pub use logic::{Expression, LogicError};
pub use names::RuleName;
pub use needs::Needs;
pub use number::Number;
pub use operand::{FoundValue, Moment, Operand, Window};
pub use operator::Operator;
pub use rule::{Group, Leaf, Rule, Test};
