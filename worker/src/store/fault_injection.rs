//! Faults that tests inject in the middle of a flush. They are not part of a released build.

use crate::store::sql::{Fault, Sql};
use scrip::json::Node;

/// Fault that a test requests with the header `scrip-test-fault`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// The flush ends with a fault.
    Throw,
    /// The flush panics.
    Panic,
    /// The flush recurses until the stack overflows.
    Overflow,
    /// The flush never ends.
    Stall,
    /// A statement fails.
    Sql,
    /// The transaction succeeds, and the platform's flush to disk fails.
    Flush,
}

impl InjectedFault {
    /// Returns the fault with this name.
    pub fn parse(name: &str) -> Option<InjectedFault> {
        Some(match name {
            "throw" => InjectedFault::Throw,
            "panic" => InjectedFault::Panic,
            "overflow" => InjectedFault::Overflow,
            "stall" => InjectedFault::Stall,
            "sql" => InjectedFault::Sql,
            "flush" => InjectedFault::Flush,
            _ => return None,
        })
    }
}

/// Leaves a dangling reference, which the database checks only at its commit.
const UNFLUSHABLE: [&str; 2] = [
    "CREATE TABLE injected_fault (id INTEGER PRIMARY KEY, other INTEGER REFERENCES injected_fault (id) DEFERRABLE INITIALLY DEFERRED)",
    "INSERT INTO injected_fault (id, other) VALUES (1, 2)",
];

/// Traps where a request asks for it in its metadata (`"scrip_test_fault": "panic"`), as a faulty decision of the entry would.
pub fn trap_if_marked(request: &Node<'_>) {
    let fault = request.get("metadata").and_then(|metadata| metadata.get("scrip_test_fault"));
    fault.and_then(Node::as_str).into_iter().for_each(trap);
}

/// Traps by a panic or an overflow.
#[allow(clippy::panic, reason = "acting out the very thing that the rest of the crate must never do")]
pub fn trap(fault: &str) {
    match InjectedFault::parse(fault) {
        Some(InjectedFault::Panic) => panic!("injected: the decision panics"),
        Some(InjectedFault::Overflow) => _ = deeper(0),
        _ => {}
    }
}

/// Injects a fault.
#[allow(
    clippy::panic,
    clippy::empty_loop,
    reason = "acting out the very thing that the rest of the crate must never do"
)]
pub fn act(fault: InjectedFault, sql: &dyn Sql) -> Result<(), Fault> {
    match fault {
        InjectedFault::Throw => Err(Fault::new("injected: the commit fails in its middle")),
        InjectedFault::Panic => panic!("injected: the commit panics in its middle"),
        InjectedFault::Overflow => Err(Fault(format!("injected: no overflow at depth {}", deeper(0)))),
        InjectedFault::Stall => loop {
            std::hint::spin_loop();
        },
        InjectedFault::Sql => sql.run("INSERT INTO no_such_table VALUES (1)", &[]).map(|_| ()),
        InjectedFault::Flush => UNFLUSHABLE.iter().try_for_each(|statement| sql.run(statement, &[]).map(|_| ())),
    }
}

#[allow(unconditional_recursion, reason = "the stack is meant to end")]
#[inline(never)]
fn deeper(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 64]);
    deeper(depth.wrapping_add(1)).wrapping_add(std::hint::black_box(room.iter().copied().fold(0, u64::wrapping_add)))
}
