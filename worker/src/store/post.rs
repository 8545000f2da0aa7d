//! A movement between accounts, as a row of the ledger. It must not know why it is made.

/// A movement of an amount from one account to another.
#[derive(Debug, Clone)]
pub struct Post {
    /// The transfer's own id.
    pub id: String,
    /// The chain that it belongs to: all or none.
    pub chain: String,
    /// The account that gives.
    pub debit: String,
    /// The account that takes.
    pub credit: String,
    /// How much, above zero.
    pub amount: i64,
    /// The transfer that it undoes.
    pub reverses: Option<String>,
    /// Milliseconds since 1970.
    pub at: i64,
}
