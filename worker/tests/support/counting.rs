//! Decides what a store is that writes down what it is asked. It must not know which statements are right.

use scrip_worker::store::sql::{Fault, Row, Sql, Value};
use scrip_worker::store::sqlite::Sqlite;
use std::cell::RefCell;

/// Writes down the beginning of every statement.
pub struct Counting {
    sql: Sqlite,
    /// What was asked, in order.
    pub statements: RefCell<Vec<String>>,
}

impl Counting {
    /// An empty store.
    pub fn new() -> Counting {
        Counting { sql: Sqlite::memory().unwrap(), statements: RefCell::default() }
    }
}

impl Sql for Counting {
    fn run(&self, statement: &str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        self.statements.borrow_mut().push(statement.split_whitespace().take(12).collect::<Vec<_>>().join(" "));
        self.sql.run(statement, params)
    }
}
