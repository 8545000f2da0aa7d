//! Runs statements on the SQLite database of a Durable Object.
//! It never awaits: every row is read before it returns.

use crate::store::sql::{Fault, Sql, SqlRow, SqlValue};
use crate::store::sql_rows::read_rows;
use js_sys::{Array, Error, JsString};
use scrip::money::LARGEST;
use std::cell::RefCell;
use std::collections::BTreeMap;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

/// Maximum number of statements that are kept as texts of JavaScript; above it all are dropped.
const STATEMENTS_MAX: usize = 1_000;

#[wasm_bindgen(module = "/src/host/statement.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    fn execute(sql: &ObjectSql, statement: &JsString, params: &Array) -> Result<Option<WrittenRows>, JsValue>;

    type WrittenRows;

    #[wasm_bindgen(method)]
    fn write(this: &WrittenRows) -> String;
}

#[wasm_bindgen]
extern "C" {
    /// `sql` of a Durable Object's storage.
    pub type ObjectSql;

    #[wasm_bindgen(method, getter, catch, js_name = databaseSize)]
    fn database_size(this: &ObjectSql) -> Result<f64, JsValue>;
}

thread_local! {
    /// Statements that have run. The runtime finds a compiled statement faster by the same text than by an equal one.
    static STATEMENTS: RefCell<BTreeMap<String, JsString>> = const { RefCell::new(BTreeMap::new()) };
}

/// Returns a statement as a text of JavaScript.
fn js_statement(statement: &str) -> JsString {
    STATEMENTS.with_borrow_mut(|all| {
        if let Some(known) = all.get(statement) {
            return known.clone();
        }
        if all.len() >= STATEMENTS_MAX {
            all.clear();
        }
        let new = JsString::from(statement);
        all.insert(statement.to_owned(), new.clone());
        new
    })
}

impl Sql for ObjectSql {
    fn run(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        let bound = Array::new();
        for param in params {
            bound.push(&write_value(param)?);
        }
        let fault = |reason: &str| Fault::new(format!("{reason} in `{statement}`"));
        let written = execute(self, &js_statement(statement), &bound);
        let mut rows = Vec::new();
        if let Some(written) = written.map_err(|error| fault(&describe(&error)))? {
            while read_rows(&written.write(), &mut rows).map_err(|Fault(reason)| fault(&reason))? {}
        }
        Ok(rows)
    }

    fn bytes(&self) -> Result<i64, Fault> {
        self.database_size().map(|bytes| bytes as i64).map_err(|error| Fault(describe(&error)))
    }
}

/// Describes a thrown JavaScript value.
pub(super) fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<Error>() {
        Some(error) => error.message().into(),
        None => format!("{error:?}"),
    }
}

/// Converts a parameter to a JavaScript value.
fn write_value(value: &SqlValue) -> Result<JsValue, Fault> {
    match value {
        SqlValue::Null => Ok(JsValue::NULL),
        // Beyond this bound a different number would be stored.
        SqlValue::Int(number) if !(-LARGEST..=LARGEST).contains(number) => {
            Err(Fault::new(format!("the parameter `{number}` is beyond 2^53-1")))
        }
        SqlValue::Int(number) => Ok(JsValue::from_f64(*number as f64)),
        SqlValue::Text(text) => Ok(JsValue::from_str(text)),
    }
}
