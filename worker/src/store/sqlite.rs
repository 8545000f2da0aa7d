//! The native driver, over rusqlite: for tests and tools. It must not know any table.
//! It runs the very statements that the Durable Object runs, binds numbers as the platform does, and keeps to the same limits.

use super::sql::{Fault, Row, Sql, Value};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, StatementStatus, ToSql};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The platform refuses a 101st parameter, so the native driver does too.
const PARAMS_MAX: usize = 100;
/// What else the platform refuses: a longer row or text, a longer statement or program of one, more columns, a deeper expression, more
/// selections in one union, a longer pattern, and more triggers that fire each other.
const LIMITS: [(Limit, i32); 8] = [
    (Limit::SQLITE_LIMIT_LENGTH, 2_000_000),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
    (Limit::SQLITE_LIMIT_COLUMN, 100),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 5),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
];

/// A SQLite database in memory.
pub struct Sqlite {
    connection: Connection,
    replanned: RefCell<BTreeSet<String>>,
}

fn fault(error: rusqlite::Error) -> Fault {
    Fault(format!("sqlite: {error}"))
}

impl Sqlite {
    /// An empty database that lives as long as the value.
    pub fn memory() -> Result<Sqlite, Fault> {
        let connection = Connection::open_in_memory().map_err(fault)?;
        connection.set_prepared_statement_cache_capacity(200);
        for (limit, most) in LIMITS {
            connection.set_limit(limit, most).map_err(fault)?;
        }
        Ok(Sqlite { connection, replanned: RefCell::default() })
    }

    /// The statements that needed a new plan when they ran again, since this was last asked: because of what was bound to them, or
    /// because the tables had changed.
    pub fn take_replanned(&self) -> BTreeSet<String> {
        self.replanned.take()
    }

    /// Runs `act` in a transaction: kept when it gives `Ok`, undone when it gives `Err`, as the object's shell does.
    pub fn transaction<T>(&self, act: impl FnOnce(&Sqlite) -> Result<T, Fault>) -> Result<T, Fault> {
        self.connection.execute_batch("BEGIN").map_err(fault)?;
        let outcome = act(self);
        let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
        self.connection.execute_batch(end).map_err(fault)?;
        outcome
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            // Numbers are doubles there: what is no column of whole numbers keeps them so.
            Value::Int(number) => ValueRef::Real(*number as f64),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn read(value: ValueRef<'_>) -> Result<Value, Fault> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Int(number)),
        ValueRef::Real(number) if (number as i64) as f64 == number => Ok(Value::Int(number as i64)),
        ValueRef::Text(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|error| Fault(format!("sqlite: {error}")))?;
            Ok(Value::Text(text.to_owned()))
        }
        other => Err(Fault(format!("sqlite: a column of type {}", other.data_type()))),
    }
}

impl Sql for Sqlite {
    fn run(&self, statement: &str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        if params.len() > PARAMS_MAX {
            return Err(Fault(format!("{} parameters where {PARAMS_MAX} are allowed", params.len())));
        }
        let mut prepared = self.connection.prepare_cached(statement).map_err(fault)?;
        let width = prepared.column_count();
        let mut rows = prepared.query(rusqlite::params_from_iter(params)).map_err(fault)?;
        let mut answer = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            let mut read_row = Vec::with_capacity(width);
            for column in 0..width {
                read_row.push(read(row.get_ref(column).map_err(fault)?)?);
            }
            answer.push(read_row);
        }
        drop(rows);
        if prepared.reset_status(StatementStatus::RePrepare) > 0 {
            self.replanned.borrow_mut().insert(statement.to_owned());
        }
        Ok(answer)
    }
}
