//! Implements a store that records its statements.

use scrip_worker::store::sql::{Fault, Sql, SqlRow, SqlValue};
use scrip_worker::store::sqlite::Sqlite;
use std::cell::RefCell;

/// Records the beginning of every statement.
pub struct Counting {
    sql: Sqlite,
    /// The executed statements in order.
    pub statements: RefCell<Vec<String>>,
}

impl Counting {
    /// An empty store.
    pub fn new() -> Counting {
        Counting { sql: Sqlite::memory().unwrap(), statements: RefCell::default() }
    }
}

impl Sql for Counting {
    fn run(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        self.statements.borrow_mut().push(statement.split_whitespace().take(12).collect::<Vec<_>>().join(" "));
        self.sql.run(statement, params)
    }

    fn bytes(&self) -> Result<i64, Fault> {
        self.sql.bytes()
    }
}
