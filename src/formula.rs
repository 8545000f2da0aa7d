//! Decides what a dynamic formula says and what it comes to. It must not know vouchers, orders, discounts or where a
//! value is found: it asks a [`Lookup`]. A formula is a small tree that can be printed, read once and evaluated often.
//!
//! calculation.md section 6.

pub mod ast;
pub mod error;
pub mod eval;
pub mod parse;
mod print;
pub mod ratio;
pub mod value;

pub use ast::{Formula, Name, Operand, Which};
pub use error::FormulaError;
pub use eval::{Lookup, evaluate, extreme, money, percent, units};
pub use ratio::Ratio;
pub use value::{Date, Value};
