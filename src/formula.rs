//! Parses, prints and evaluates dynamic formulas. A formula is a small tree that is parsed once and evaluated often; a
//! [`Lookup`] provides the values of its operands.
//!
//! docs/spec/calculation.md#6.

pub mod ast;
pub mod error;
pub mod eval;
pub mod parse;
mod print;
pub mod ratio;
pub mod value;

pub use ast::{Formula, FormulaName, FormulaOperand, OperandLine};
pub use error::FormulaError;
pub use eval::{Lookup, evaluate, extreme, money, percent, units};
pub use ratio::Ratio;
pub use value::{Date, FormulaValue};
