//! Computes the effect of one grant on an order: the amounts of docs/spec/calculation.md sections 2, 3, 5 and 7 to 10.

pub mod bundles;
pub mod cart;
pub mod effect;
pub mod gain;
pub mod goods;
pub mod lines;
pub mod numbers;
pub mod points;
pub mod select;
pub mod spread;
pub mod unit_flow;
pub mod units;

pub use bundles::{Bundles, count_bundles};
pub use cart::{Cart, Line, LineUnitChange};
pub use effect::{DiscountBase, LinesInScope, NoLines, apply_gift, discount_lines, discount_order};
pub use gain::{CoveredUnits, Gain, Replacement};
pub use lines::{PriceSource, PricedOrder, price};
pub use numbers::{FormulaInputs, NumberResolver};
pub use select::{CapLookup, Cover, NoCaps, select, steps};
pub use units::{FreeGoods, add_units};
