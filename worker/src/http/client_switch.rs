//! Permissions of clients that a route may need.

/// Permission that a project may switch on for its client-side keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientSwitch {
    /// Redemptions by clients.
    Redeem,
    /// Publications by clients.
    Publish,
    /// Events from clients.
    Events,
    /// Creation of customers by clients.
    Customers,
    /// Lists of codes for clients.
    Vouchers,
}
