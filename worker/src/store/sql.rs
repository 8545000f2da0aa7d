//! Interface between the service and its database drivers: a statement, its parameters and its rows.

/// Maximum size of one text in a row, in bytes: the platform's rows have 2 MB, and the other columns need some of them.
pub const TEXT_BYTES_MAX: usize = 1_900_000;

/// Value of a parameter or column. The platform's numbers are doubles, so integers stay within 2^53-1. A statement that
/// writes a number into JSON uses `CAST(… AS INTEGER)`, or the document would contain `3.0`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SqlValue {
    /// SQL `NULL`.
    Null,
    /// An integer, |n| <= 2^53-1.
    Int(i64),
    /// Text, at most 2 MB.
    Text(String),
}

/// A condition over the rows of a table, whose parameters are numbered from ?1.
#[derive(Debug, Clone, Copy)]
pub struct RowCondition<'c> {
    /// The condition.
    pub text: &'c str,
    /// Its parameters.
    pub params: &'c [SqlValue],
}

/// Row of a result.
pub type SqlRow = Vec<SqlValue>;

/// Internal failure. The host rolls the transaction back, logs it and answers 500 without details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(pub String);

impl Fault {
    /// Creates a fault with a reason for the log.
    pub fn new(reason: impl Into<String>) -> Fault {
        Fault(reason.into())
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.0)
    }
}

/// A driver: runs one statement with parameters `?1`, `?2`, ... (at most 100) to its end.
///
/// Statements are compiled once and cached. A parameter in a comparison or limit is written `+?1`: SQLite may choose the plan
/// by the value of a bare one. It then compiles the statement at every run, which takes longer than the run.
/// A list behind `IN` becomes a temporary table at every run. Statements of every request, and triggers, join names
/// (`json_each(?1) AS name CROSS JOIN document ...`) and compare words with `CASE`.
pub trait Sql {
    /// Runs a statement and returns all its rows.
    fn run(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault>;

    /// Returns the size of the database in bytes, without free pages.
    fn bytes(&self) -> Result<i64, Fault>;
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> SqlValue {
        SqlValue::Text(text.to_owned())
    }
}

impl From<String> for SqlValue {
    fn from(text: String) -> SqlValue {
        SqlValue::Text(text)
    }
}

impl From<i64> for SqlValue {
    fn from(number: i64) -> SqlValue {
        SqlValue::Int(number)
    }
}

impl<T: Into<SqlValue>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> SqlValue {
        value.map_or(SqlValue::Null, Into::into)
    }
}

/// Returns the text in a column; a fault for other values.
pub fn text(row: &[SqlValue], column: usize) -> Result<&str, Fault> {
    match row.get(column) {
        Some(SqlValue::Text(text)) => Ok(text),
        other => Err(Fault(format!("column {column} should be text and is {other:?}"))),
    }
}

/// Returns the text in a column that may be null.
pub fn text_or_null(row: &[SqlValue], column: usize) -> Result<Option<&str>, Fault> {
    match row.get(column) {
        Some(SqlValue::Null) => Ok(None),
        _ => text(row, column).map(Some),
    }
}

/// Returns the integer in a column; a fault for other values.
pub fn int(row: &[SqlValue], column: usize) -> Result<i64, Fault> {
    match row.get(column) {
        Some(SqlValue::Int(number)) => Ok(*number),
        other => Err(Fault(format!("column {column} should be a number and is {other:?}"))),
    }
}

/// Returns the integer in a column that may be null.
pub fn int_or_null(row: &[SqlValue], column: usize) -> Result<Option<i64>, Fault> {
    match row.get(column) {
        Some(SqlValue::Null) => Ok(None),
        _ => int(row, column).map(Some),
    }
}

/// Returns the total length of parameters in bytes.
pub fn total(params: &[SqlValue]) -> usize {
    let length = |value: &SqlValue| match value {
        SqlValue::Text(text) => text.len(),
        SqlValue::Null | SqlValue::Int(_) => 8,
    };
    // The parameters fit memory.
    params.iter().map(length).fold(0, usize::saturating_add)
}

/// Returns the length of the longest text in bytes.
pub fn longest(params: &[SqlValue]) -> usize {
    let length = |value: &SqlValue| match value {
        SqlValue::Text(text) => text.len(),
        SqlValue::Null | SqlValue::Int(_) => 0,
    };
    params.iter().map(length).max().unwrap_or(0)
}
