//! Data that are read together with a voucher.

/// Details of a voucher that its own document does not contain.
#[derive(Debug, Clone)]
pub struct VoucherDetails {
    /// Balance of the account of its publications, which are debited.
    pub publications: i64,
    /// Category of its campaign.
    pub category_id: Option<String>,
    /// Assignments of validation rules, in the order in which they were written, as a JSON list.
    pub rule_assignments: String,
}

/// Assignment of a rule.
#[derive(Debug, Clone, serde::Deserialize)]
pub(super) struct AssignedRule {
    /// Id of the assignment.
    pub assignment: String,
    /// The rule that it names; `None` if it names none.
    pub rule: Option<String>,
}
