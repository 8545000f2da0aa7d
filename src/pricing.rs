//! Decides what a grant takes off an order: the amounts of calculation.md sections 2, 3, 5 and 7 to 10. It must not know
//! which grants are applied, in which order, or why.

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
pub mod units;

pub use bundles::{Bundles, count_bundles};
pub use cart::{Cart, Changed, Line};
pub use effect::{Base, LinesInScope, NoLines, apply_gift, off_lines, off_order};
pub use gain::{CoveredUnits, Gain, Replacement};
pub use lines::{Priced, Trust, price};
pub use numbers::{FormulaInputs, Numbers};
pub use select::{Allowance, Cover, Unlimited, select, steps};
pub use units::{FreeGoods, add_units};
