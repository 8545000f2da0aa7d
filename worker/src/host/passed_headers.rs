//! Headers of a caller that the entry passes to objects.

use crate::access::feed::PROTOCOLS;

/// Headers that are not passed to objects.
const CREDENTIALS: [&str; 9] = [
    "authorization",
    "cookie",
    PROTOCOLS,
    "x-app-id",
    "x-app-token",
    "x-client-application-id",
    "x-client-token",
    "x-management-id",
    "x-management-token",
];

/// Returns true if an object receives this header of the caller: never a credential, and no forged internal header.
pub(super) fn passes(name: &str) -> bool {
    is_test(name) || !(CREDENTIALS.contains(&name) || name.starts_with("scrip-"))
}

/// Returns true if this header configures a test.
pub(super) fn is_test(name: &str) -> bool {
    cfg!(feature = "test-hooks") && name.starts_with("scrip-test-")
}
