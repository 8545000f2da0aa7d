//! Native driver over rusqlite, for tests and tools. It runs the statements of the Durable Object, binds numbers as the
//! platform does, and has the same limits.

use super::record_tables::RECORD_TABLES;
use super::sql::{Fault, Sql, SqlRow, SqlValue};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, MAIN_DB, StatementStatus, ToSql};
use scrip::money::LARGEST;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::Path;

/// The platform refuses more than 100 parameters, and so does the native driver.
const PARAMS_MAX: usize = 100;
/// Further limits of the platform: sizes of rows, texts, statements and programs, columns, depth of expressions, terms of a
/// union, patterns, and nested triggers.
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

/// Maximum number of statements that are remembered for a purpose: a filter of a list may give a statement of its own. Above it plans are
/// examined again, and no further finding is recorded.
pub(crate) const REMEMBERED_MAX: usize = 2_000;

/// A SQLite database.
pub struct Sqlite {
    connection: Connection,
    replanned: RefCell<BTreeSet<String>>,
    steps: Cell<u64>,
    planned: RefCell<BTreeSet<String>>,
    scans: RefCell<Vec<String>>,
}

fn fault(error: rusqlite::Error) -> Fault {
    Fault(format!("sqlite: {error}"))
}

impl Sqlite {
    /// Creates an empty database in memory.
    pub fn memory() -> Result<Sqlite, Fault> {
        Sqlite::divided_by(Connection::open_in_memory().map_err(fault)?)
    }

    /// Returns the bytes of the database.
    pub fn image(&mut self) -> Result<Vec<u8>, Fault> {
        self.connection.serialize(MAIN_DB).map(|image| image.to_vec()).map_err(fault)
    }

    /// Creates a database in memory from the bytes of another.
    pub fn of_image(image: &[u8]) -> Result<Sqlite, Fault> {
        let mut copy = Sqlite::memory()?;
        copy.connection.deserialize_read_exact(MAIN_DB, image, image.len(), false).map_err(fault)?;
        Ok(copy)
    }

    /// Opens the database in a file, with a write-ahead log like the platform; creates it when missing.
    pub fn file(path: &Path) -> Result<Sqlite, Fault> {
        let connection = Connection::open(path).map_err(fault)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(fault)?;
        Sqlite::divided_by(connection)
    }

    fn divided_by(connection: Connection) -> Result<Sqlite, Fault> {
        connection.set_prepared_statement_cache_capacity(200);
        for (limit, most) in LIMITS {
            connection.set_limit(limit, most).map_err(fault)?;
        }
        Ok(Sqlite {
            connection,
            replanned: RefCell::default(),
            steps: Cell::default(),
            planned: RefCell::default(),
            scans: RefCell::default(),
        })
    }

    /// Takes the statements that were compiled again at a later run, because of their parameters or a changed schema.
    pub fn take_replanned(&self) -> BTreeSet<String> {
        self.replanned.take()
    }

    /// Takes the statements that read a whole kind of documents although a condition names these, or what they belong to.
    pub fn take_scans(&self) -> Vec<String> {
        self.scans.take()
    }

    /// Returns the number of statements whose plan is remembered as examined.
    #[cfg(test)]
    pub(crate) fn count_planned(&self) -> usize {
        self.planned.borrow().len()
    }

    /// Records a new statement if it is such a scan.
    fn check_plan(&self, statement: &str) -> Result<(), Fault> {
        const NARROW: [&str; 8] =
            ["parent = ", "parent IN ", "holder = ", "holder IN ", "id = ", "id IN ", "key = ", "key IN "];
        // Only one query is examined: in nested ones it is not known to which of them a condition belongs.
        let lower = statement.to_ascii_lowercase().replace("(select value", "");
        let is_one = lower.matches("select ").count() == 1;
        let is_narrow =
            is_one && !statement.starts_with("EXPLAIN ") && NARROW.iter().any(|one| statement.contains(one));
        if !is_narrow || !self.is_new(statement) {
            return Ok(());
        }
        // If the statement names the index, SQLite reads all of it where no condition fits. Of a join one table is read whole by intention.
        let is_named = statement.contains("INDEXED BY") && !statement.contains(" JOIN ");
        let mut explained = self.connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).map_err(fault)?;
        let mut rows = explained.raw_query();
        while let Some(row) = rows.next().map_err(fault)? {
            let step: String = row.get(3).map_err(fault)?;
            let is_by_kind = step.contains("INDEX document_") && step.ends_with("(kind=?)");
            let is_whole = is_named && step.starts_with("SCAN ") && step.contains(" USING ");
            let is_of_records = RECORD_TABLES.iter().any(|table| step == format!("SCAN {}", table.name));
            let mut scans = self.scans.borrow_mut();
            if (is_by_kind || is_whole || is_of_records) && scans.len() < REMEMBERED_MAX {
                scans.push(format!("{step}: {statement}"));
            }
        }
        Ok(())
    }

    /// Returns true if the plan of a statement was not examined, and remembers it.
    fn is_new(&self, statement: &str) -> bool {
        let mut planned = self.planned.borrow_mut();
        if planned.contains(statement) {
            return false;
        }
        if planned.len() >= REMEMBERED_MAX {
            planned.clear();
        }
        planned.insert(statement.to_owned())
    }

    /// Returns the steps of SQLite's machine since the last call: the work of statements, independent of time and load.
    pub fn take_steps(&self) -> u64 {
        self.steps.take()
    }

    /// Runs `act` in a transaction: committed after `Ok`, rolled back after `Err`, as the object's shell does.
    pub fn transaction<T>(&self, act: impl FnOnce(&Sqlite) -> Result<T, Fault>) -> Result<T, Fault> {
        self.connection.execute_batch("BEGIN").map_err(fault)?;
        let outcome = act(self);
        let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
        self.connection.execute_batch(end).map_err(fault)?;
        outcome
    }
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            SqlValue::Null => ValueRef::Null,
            // The platform refuses a larger one, which would be stored as another number.
            SqlValue::Int(number) if !(-LARGEST..=LARGEST).contains(number) => {
                let reason = format!("the parameter `{number}` is beyond 2^53-1");
                return Err(rusqlite::Error::ToSqlConversionFailure(reason.into()));
            }
            // Numbers are doubles on the platform: columns without integer affinity keep them so.
            SqlValue::Int(number) => ValueRef::Real(*number as f64),
            SqlValue::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn read(value: ValueRef<'_>) -> Result<SqlValue, Fault> {
    match value {
        ValueRef::Null => Ok(SqlValue::Null),
        ValueRef::Integer(number) => Ok(SqlValue::Int(number)),
        ValueRef::Real(number) if (number as i64) as f64 == number => Ok(SqlValue::Int(number as i64)),
        ValueRef::Text(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|error| Fault(format!("sqlite: {error}")))?;
            Ok(SqlValue::Text(text.to_owned()))
        }
        other => Err(Fault(format!("sqlite: a column of type {}", other.data_type()))),
    }
}

impl Sql for Sqlite {
    fn run(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        if params.len() > PARAMS_MAX {
            return Err(Fault(format!("{} parameters where {PARAMS_MAX} are allowed", params.len())));
        }
        let mut prepared = self.connection.prepare_cached(statement).map_err(fault)?;
        self.check_plan(statement)?;
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
        if ["CREATE ", "DROP "].iter().any(|change| statement.starts_with(change)) {
            // All statements are planned anew.
            self.connection.flush_prepared_statement_cache();
            self.planned.take();
        }
        // A negative number of steps does not exist.
        let steps = u64::try_from(prepared.reset_status(StatementStatus::VmStep)).unwrap_or_default();
        // A measurement.
        self.steps.set(self.steps.get().saturating_add(steps));
        let mut replanned = self.replanned.borrow_mut();
        if prepared.reset_status(StatementStatus::RePrepare) > 0 && replanned.len() < REMEMBERED_MAX {
            replanned.insert(statement.to_owned());
        }
        Ok(answer)
    }

    fn bytes(&self) -> Result<i64, Fault> {
        let number =
            |name: &str| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(fault);
        // SQLite counts free pages among all pages.
        let used = number("page_count")?.saturating_sub(number("freelist_count")?);
        // A size for the operator.
        Ok(used.saturating_mul(number("page_size")?))
    }
}
