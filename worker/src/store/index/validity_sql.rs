//! SQL conditions for active documents and their validity: the rules of the engine's `Validity`, where the engine cannot be called.
//!
//! A list counts the documents of a state, and combines states with other conditions under `or`. The engine would have to judge all
//! of up to 40,000 documents. `worker/tests/it/validity_filters.rs` tests that both agree. They agree because dates are
//! stored in a single form, which sorts by time (`normalise_dates`). Nothing is granted or redeemed only because of a statement.
//!
//! `{}` is the instant, as `timestamp::text` writes it.

/// The document is active.
pub const IS_ACTIVE: &str = "COALESCE(json_extract(body, '$.active'), 1) = 1";

/// The document is inactive.
pub const IS_INACTIVE: &str = "COALESCE(json_extract(body, '$.active'), 1) = 0";

/// Condition of `Validity::has_started`.
pub const HAS_BEGUN: &str = "COALESCE(json_extract(body, '$.start_date') <= {}, 1)";

/// Negation of [`HAS_BEGUN`].
pub const HAS_NOT_BEGUN: &str = "COALESCE(json_extract(body, '$.start_date') > {}, 0)";

/// Condition of `Validity::has_ended`.
pub const HAS_ENDED: &str = "COALESCE(json_extract(body, '$.expiration_date') <= {}, 0)";

/// Negation of [`HAS_ENDED`].
pub const HAS_NOT_ENDED: &str = "COALESCE(json_extract(body, '$.expiration_date') > {}, 1)";

/// [`HAS_NOT_ENDED`], or the end cannot be read: such a document is not left out in silence.
pub const MAY_NOT_HAVE_ENDED: &str =
    "(COALESCE(json_extract(body, '$.expiration_date') > {}, 1) OR json_type(body, '$.expiration_date') <> 'text')";
