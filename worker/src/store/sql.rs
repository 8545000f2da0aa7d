//! The narrow waist between the service and its database: one statement, its parameters, its rows.
//! It must not know which driver runs the statement, nor what the tables mean.

/// Bytes of one text in a row: the platform's rows hold 2 MB, and the columns beside it need some of them.
pub const TEXT_BYTES_MAX: usize = 1_900_000;

/// What a statement takes and gives. The platform's numbers are doubles, so integers stay within 2^53-1, and a statement
/// that puts a number into JSON says `CAST(… AS INTEGER)`, or the document would hold `3.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// SQL `NULL`.
    Null,
    /// A whole number, |n| <= 2^53-1.
    Int(i64),
    /// Text, at most 2 MB.
    Text(String),
}

/// One row of an answer.
pub type Row = Vec<Value>;

/// An internal failure. The host rolls the transaction back, logs it and answers 500 without a word about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(pub String);

impl Fault {
    /// A fault that says what went wrong, for the log.
    pub fn new(what: impl Into<String>) -> Fault {
        Fault(what.into())
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.0)
    }
}

/// A driver: runs one statement with parameters `?1`, `?2`, ... (at most 100) to its end.
///
/// Statements are compiled once and kept. A parameter that something is compared with or limited by is written `+?1`: SQLite may let
/// the plan follow what is bound to a bare one, and then compiles the statement anew at every run, which takes longer than to run it.
/// A list behind `IN` is made a table of its own whenever the statement runs: where it runs for every request, or in a trigger for every row,
/// names are joined (`json_each(?1) AS name CROSS JOIN document ...`) and words compared (`CASE`).
pub trait Sql {
    /// Runs the statement and gives all its rows.
    fn run(&self, statement: &str, params: &[Value]) -> Result<Vec<Row>, Fault>;
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// The text in a column; a fault when there is none.
pub fn text(row: &[Value], column: usize) -> Result<&str, Fault> {
    match row.get(column) {
        Some(Value::Text(text)) => Ok(text),
        other => Err(Fault(format!("column {column} should be text and is {other:?}"))),
    }
}

/// The text in a column that may be null.
pub fn text_or_null(row: &[Value], column: usize) -> Result<Option<&str>, Fault> {
    match row.get(column) {
        Some(Value::Null) => Ok(None),
        _ => text(row, column).map(Some),
    }
}

/// The whole number in a column; a fault when there is none.
pub fn int(row: &[Value], column: usize) -> Result<i64, Fault> {
    match row.get(column) {
        Some(Value::Int(number)) => Ok(*number),
        other => Err(Fault(format!("column {column} should be a number and is {other:?}"))),
    }
}

/// The whole number in a column that may be null.
pub fn int_or_null(row: &[Value], column: usize) -> Result<Option<i64>, Fault> {
    match row.get(column) {
        Some(Value::Null) => Ok(None),
        _ => int(row, column).map(Some),
    }
}
