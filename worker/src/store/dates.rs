//! When a document is switched on and within its dates, as statements ask it: `Validity` of the engine once more, name by name, where
//! one cannot ask the engine. It must not know why somebody asks.
//!
//! A list tells how many documents there are of a state, and its states stand under `or` beside other conditions, so that the
//! engine would have to be asked of every document that a list may look at, 40,000 of them. That both say the same is tested
//! (`worker/tests/dates.rs`): it holds because dates are stored in one form only, which has the order of the moments
//! (`settle_dates`). Nothing is handed over or redeemed on the word of a statement.
//!
//! `{}` stands for the moment, as `moment::text` writes it.

/// Whether a document is switched on.
pub const IS_ACTIVE: &str = "COALESCE(json_extract(body, '$.active'), 1) = 1";

/// Whether it is switched off.
pub const IS_INACTIVE: &str = "COALESCE(json_extract(body, '$.active'), 1) = 0";

/// As `Validity::has_begun`.
pub const HAS_BEGUN: &str = "COALESCE(json_extract(body, '$.start_date') <= {}, 1)";

/// Its opposite.
pub const HAS_NOT_BEGUN: &str = "COALESCE(json_extract(body, '$.start_date') > {}, 0)";

/// As `Validity::has_ended`.
pub const HAS_ENDED: &str = "COALESCE(json_extract(body, '$.expiration_date') <= {}, 0)";

/// Its opposite.
pub const HAS_NOT_ENDED: &str = "COALESCE(json_extract(body, '$.expiration_date') > {}, 1)";
