//! Decides whether a validation rule passes for an order, a customer and an instant. A rule is a small tree that can be
//! printed, and is compiled once when it is read.
//!
//! docs/spec/validation-rules.md sections 1 to 4, 8 and 12.

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
pub mod order_lines;
mod range;
mod rule;
pub mod subject;
pub mod value_set;
pub mod why;

pub use compare::{Clock, Condition};
pub use eval::{FailingTest, RuleFailure};
pub use filter::{Collection, Contents, FilterField, ProfileFilter, Segment, SegmentMembers};
pub use index::RuleIndex;
pub use input::{EarningInput, LineAmounts, RequestFacts, RuleFacts, RuleInput};
pub use kind::{CountPeriod, Counter, EarningFact, FactKind};
pub use lint::{Warning, lint};
pub use logic::{Expression, LogicError};
pub use names::RuleName;
pub use needs::RequiredFacts;
pub use number::Number;
pub use operand::{DayOrInstant, FoundValue, TestOperand, TimeWindow};
pub use operator::Operator;
pub use order_lines::{GoodsIndex, OrderLines, ResolvedLine};
pub use rule::{Group, Leaf, Rule, Test};
