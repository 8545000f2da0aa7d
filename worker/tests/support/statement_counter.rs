//! Implements a store that records its statements.

use scrip_worker::store::document::COLUMNS;
use scrip_worker::store::sql::{Fault, Sql, SqlRow, SqlValue};
use scrip_worker::store::sqlite::Sqlite;
use std::cell::{Cell, RefCell};

/// Records the beginning of every statement.
pub struct Counting {
    sql: Sqlite,
    /// The executed statements in order.
    pub statements: RefCell<Vec<String>>,
    /// Number of rows with whole documents that they returned.
    pub documents: Cell<usize>,
    /// Number of all rows that they returned.
    pub rows: Cell<usize>,
}

impl Counting {
    /// An empty store.
    pub fn new() -> Counting {
        Counting {
            sql: Sqlite::memory().unwrap(),
            statements: RefCell::default(),
            documents: Cell::default(),
            rows: Cell::default(),
        }
    }

    /// Returns the steps of SQLite's machine since the last call.
    pub fn take_steps(&self) -> u64 {
        self.sql.take_steps()
    }
}

impl Sql for Counting {
    fn run(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        self.statements.borrow_mut().push(statement.split_whitespace().take(12).collect::<Vec<_>>().join(" "));
        let rows = self.sql.run(statement, params)?;
        self.rows.set(self.rows.get() + rows.len());
        if statement.starts_with(&format!("SELECT {COLUMNS} FROM document")) {
            self.documents.set(self.documents.get() + rows.len());
        }
        Ok(rows)
    }

    fn bytes(&self) -> Result<i64, Fault> {
        self.sql.bytes()
    }
}
