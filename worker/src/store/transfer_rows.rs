//! Row of a ledger transfer.

/// Transfer of an amount from one account to another.
#[derive(Debug, Clone)]
pub struct TransferRow {
    /// Id of the transfer.
    pub id: String,
    /// Id of its chain, which happens as a whole or not at all.
    pub chain: String,
    /// Account that is reduced.
    pub debit: String,
    /// Account that is increased.
    pub credit: String,
    /// Amount, above zero.
    pub amount: i64,
    /// Id of the transfer that it reverses.
    pub reverses: Option<String>,
    /// Id of the transfer that it refunds in part.
    pub part_of: Option<String>,
    /// Time in milliseconds since 1970.
    pub at: i64,
}
