//! Data about a core that its head and later builds need.

use crate::domain::bundle::horizon::Horizon;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of documents of a step of a core's build.
pub const STEP_DOCUMENTS: usize = 25;

/// Data about a core that its head and later builds need.
#[derive(Debug)]
pub struct CoreSummary {
    /// Its horizon.
    pub horizon: Horizon,
    /// Kinds that it does not fully disclose.
    pub left_out: BTreeSet<&'static str>,
    /// Ids of its campaigns, vouchers and tiers.
    pub offers: Vec<String>,
    /// Its conditions about the customer by number, as JSON.
    pub conditions: BTreeMap<u64, String>,
    /// Its conditions on goods by the numbers of their sets, as JSON. Only with goods that contain these sets it is complete.
    pub sets: BTreeMap<u64, String>,
    /// Its sealed codes.
    pub boxed: BoxedCodes,
}

/// Codes that a core seals, or leaves out until their keys are derived.
#[derive(Debug)]
pub struct BoxedCodes {
    /// Their normal forms.
    pub codes: BTreeSet<String>,
    /// True if the project has more codes that are sealed by default than a core takes; then it has none of these.
    pub has_too_many: bool,
}
