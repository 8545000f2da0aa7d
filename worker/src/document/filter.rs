//! The deep filters of a query, `filters[field][conditions][$op][n]=value` and `filters[junction]`, as conditions of a clause.
//! It must not know which fields a list has; the list names them with their columns.
//!
//! A column is an expression, whose value is compared. One that begins with `flag ` is true or false, one with `each ` a list of which any
//! element may fit, one with `keys ` an object whose values are compared by their keys, and `state` is no column: whether a document is
//! switched on and within its dates. One that begins with `moment ` is a column of milliseconds, beside which the body has the same as text;
//! with `parent campaign `, the name of the campaign that it belongs to stands there, and so for other kinds; with
//! `keyed `, it is what the key was made of: the same, or the same in small letters.
//! `filters[field]=value` means `$is`.

use crate::document::clause::{Clause, Statement};
use crate::document::index;
use crate::http::query::Query;
use crate::http::reply::{ErrorBody, invalid_query};
use crate::moment;
use crate::store::dates;
use crate::store::sql::Value;
use serde_json::Value as Json;

/// Conditions in one query, at most: the statement may have 100 parameters.
const CONDITIONS_MAX: usize = 40;

/// The operators that the service knows.
const OPERATORS: &[&str] = &[
    "$is",
    "$is_not",
    "$in",
    "$not_in",
    "$has_value",
    "$is_unknown",
    "$contains",
    "$not_contain",
    "$starts_with",
    "$ends_with",
    "$before",
    "$after",
    "$more_than",
    "$less_than",
    "$more_than_equal",
    "$less_than_equal",
];

/// The operators about the state of a document, which take no value but `true`, by what must hold: `{}` stands for the moment of asking.
/// Last comes the column of the index that has these documents, where they are few.
const STATES: &[State] = &[
    ("$enabled", &[dates::IS_ACTIVE], None),
    ("$disabled", &[dates::IS_INACTIVE], Some(dates::IS_INACTIVE)),
    ("$active", &[dates::IS_ACTIVE, dates::HAS_BEGUN, dates::HAS_NOT_ENDED], None),
    ("$expired", &[dates::HAS_ENDED], None),
    ("before_start", &[dates::HAS_NOT_BEGUN], None),
    ("$failed", &["json_extract(body, '$.creation_status') = 'FAILED'"], None),
    ("$in_progress", &["json_extract(body, '$.creation_status') = 'IN_PROGRESS'"], None),
];

/// An operator about a state, what must hold, and the column of its index.
type State = (&'static str, &'static [&'static str], Option<&'static str>);

/// One condition, with all the values that its operator was given.
struct Condition {
    field: String,
    operator: String,
    values: Vec<String>,
}

/// A condition on a column that an index has in front.
#[derive(Debug)]
pub struct Term {
    /// The column.
    pub column: String,
    /// What must hold of it.
    pub statement: Statement,
    /// The one value that it must have, where there is one.
    pub value: Option<String>,
}

impl Term {
    /// A column that must have one of some values.
    pub fn of(column: &str, values: &[String]) -> Term {
        let (condition, value) = match values {
            [one] => (format!("{column} = {{}}"), Some(one.clone())),
            _ => (format!("{column} IN (SELECT CAST(value AS TEXT) FROM json_each({{}}))"), None),
        };
        let param = value.clone().unwrap_or_else(|| Json::from(values.to_vec()).to_string());
        Term { column: column.to_owned(), statement: (condition, vec![param.into()]), value }
    }

    /// A column, of what the key was made of, that must have one of some values.
    fn keyed(column: &str, values: &[String]) -> Term {
        let keys = values.iter().cloned().chain(values.iter().map(|value| value.to_lowercase())).collect::<Vec<_>>();
        let listed = |values: Vec<String>| Value::Text(Json::from(values).to_string());
        let condition = "IN (SELECT value FROM json_each({}))";
        let statement =
            (format!("key {condition} AND {column} {condition}"), vec![listed(keys), listed(values.to_vec())]);
        Term { column: "key".to_owned(), statement, value: None }
    }

    /// A column, of moments, that must lie before or after one.
    pub fn bound(column: &str, sign: &str, at_ms: i64) -> Term {
        let statement = (format!("{column} {sign} {{}}"), vec![at_ms.into()]);
        Term { column: column.to_owned(), statement, value: None }
    }
}

/// The deep filters of a query as conditions.
#[derive(Default)]
pub struct Conditions {
    /// Those that all must hold, and an index answers.
    pub terms: Vec<Term>,
    /// Those that all must hold about the age: made at a moment or later, or else before it.
    pub made: Vec<(bool, i64)>,
    /// What it must belong to: one of some names, of a kind.
    pub parents: Vec<(String, Vec<String>)>,
    /// Those that take a look at every document.
    pub looked: Vec<Statement>,
    /// What joins these.
    pub junction: &'static str,
}

impl Conditions {
    /// Narrows a clause by all of them, for a statement that is no list: its columns name nothing by what it belongs to.
    pub fn narrow(self, clause: &mut Clause) {
        for (is_from, at) in self.made {
            if is_from { clause.made_from(at) } else { clause.made_before(at) }
        }
        clause.and_group("AND", self.terms.into_iter().map(|term| term.statement).collect());
        clause.and_group(self.junction, self.looked);
    }
}

/// Reads the deep filters of a query, within a clause.
pub fn conditions(columns: &[(&str, &str)], query: &Query, clause: &Clause) -> Result<Conditions, ErrorBody> {
    let (conditions, junction) = read(query)?;
    if conditions.len() > CONDITIONS_MAX {
        return Err(invalid_query(format!("Property .filters must NOT have more than {CONDITIONS_MAX} conditions")));
    }
    let mut found = Conditions { junction, ..Conditions::default() };
    for condition in conditions {
        let column =
            columns.iter().find(|(name, _)| *name == condition.field).map(|(_, column)| *column).ok_or_else(|| {
                let known: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
                let known = if known.is_empty() { "none here".to_owned() } else { known.join(", ") };
                invalid_query(format!(
                    "Property .filters.{} is not a filter of this list (known are {known})",
                    condition.field
                ))
            })?;
        found.add(condition, column, clause)?;
    }
    Ok(found)
}

impl Conditions {
    fn add(&mut self, condition: Condition, column: &str, clause: &Clause) -> Result<(), ErrorBody> {
        if let Some((column, sign)) = column.strip_prefix("moment ").zip(sign_of(&condition.operator)) {
            return self.add_moment(&condition, column, sign, clause);
        }
        let is_equal = matches!(condition.operator.as_str(), "$is" | "$in");
        let parent = column.strip_prefix("parent ").and_then(|rest| rest.split_once(' '));
        let keyed = column.strip_prefix("keyed ");
        let column = match (column.strip_prefix("moment "), parent) {
            (Some(column), _) => format!("json_extract(body, '$.{column}')"),
            (None, Some((_, column))) => column.to_owned(),
            (None, None) => keyed.unwrap_or(column).to_owned(),
        };
        match parent {
            None if keyed.is_some() && is_equal && self.has_index("key", clause) => {
                self.terms.push(Term::keyed(&column, &condition.values));
            }
            Some((kind, _)) if is_equal && self.has_index("parent", clause) => {
                self.parents.push((kind.to_owned(), condition.values));
            }
            _ if is_equal && self.has_index(&column, clause) => self.terms.push(Term::of(&column, &condition.values)),
            _ => match self.state(&condition, &column, clause)? {
                Some(term) => self.terms.push(term),
                None => self.looked.push(statement(&condition, &column, clause)?),
            },
        }
        Ok(())
    }

    /// Whether an index answers for a column: of conditions of which any one may hold none does.
    fn has_index(&self, column: &str, clause: &Clause) -> bool {
        self.junction == "AND" && index::by_value(clause.whole.as_deref().unwrap_or_default(), column).is_some()
    }

    fn add_moment(
        &mut self,
        condition: &Condition,
        column: &str,
        sign: &str,
        clause: &Clause,
    ) -> Result<(), ErrorBody> {
        let at = moment_of(condition, condition.values.first().map_or("", String::as_str))?;
        match (column, self.junction) {
            ("created_at", "AND") => {
                let is_next = matches!(sign, ">" | "<=");
                self.made.push((sign.starts_with('>'), at.saturating_add(i64::from(is_next))));
            }
            _ if self.has_index(column, clause) => self.terms.push(Term::bound(column, sign, at)),
            _ => self.looked.push((format!("{column} {sign} {{}}"), vec![at.into()])),
        }
        Ok(())
    }

    /// What an index has of a condition that is none of equality: of dates that are text, and of what few documents are.
    fn state(&self, condition: &Condition, column: &str, clause: &Clause) -> Result<Option<Term>, ErrorBody> {
        let operator = condition.operator.as_str();
        let (column, statement) = match (column, sign_of(operator)) {
            ("state", _) => {
                let rare = STATES.iter().find(|(known, ..)| *known == operator).and_then(|(_, _, rare)| *rare);
                let Some(rare) = rare else { return Ok(None) };
                (rare, in_state(condition, clause)?)
            }
            (column, Some(_)) => (column, compared(condition, column)?),
            (column, None) if operator == "$starts_with" => {
                let first = condition.values.first().cloned().unwrap_or_default();
                let behind = format!("{first}{}", char::MAX);
                let text = format!("{column} >= {{}} AND {column} < {{}} AND substr({column}, 1, length({{}})) = {{}}");
                (column, (text, vec![first.clone().into(), behind.into(), first.clone().into(), first.into()]))
            }
            (column, None) => {
                let is_true = operator == "$is"
                    && matches!(condition.values.as_slice(), [one] if one.eq_ignore_ascii_case("true"));
                let Some(flag) = column.strip_prefix("flag ").filter(|_| is_true) else { return Ok(None) };
                (flag, (format!("{flag} = 1"), Vec::new()))
            }
        };
        Ok(self.has_index(column, clause).then(|| Term { column: column.to_owned(), statement, value: None }))
    }
}

/// How an operator holds moments and numbers against each other.
fn sign_of(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "$before" | "$less_than" => "<",
        "$less_than_equal" => "<=",
        "$more_than_equal" => ">=",
        "$after" | "$more_than" => ">",
        _ => return None,
    })
}

fn read(query: &Query) -> Result<(Vec<Condition>, &'static str), ErrorBody> {
    let mut conditions: Vec<Condition> = Vec::new();
    let mut junction = "AND";
    for (path, value) in query.below("filters") {
        match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["junction"] => {
                junction = match value.to_ascii_lowercase().as_str() {
                    "and" => "AND",
                    "or" => "OR",
                    _ => {
                        return Err(invalid_query(format!(
                            "Property .filters.junction must be one of and, or (actual value is `{value}`)"
                        )));
                    }
                }
            }
            [field, "conditions"] => {
                return Err(invalid_query(format!(
                    "Property .filters.{field}.conditions must be an object (actual value is `{value}`)"
                )));
            }
            [field, "conditions", operator] | [field, "conditions", operator, _] | [field, operator] => {
                match conditions.iter_mut().find(|known| known.field == *field && known.operator == *operator) {
                    Some(known) => known.values.push(value.to_owned()),
                    None => conditions.push(Condition {
                        field: (*field).into(),
                        operator: (*operator).into(),
                        values: vec![value.to_owned()],
                    }),
                }
            }
            [field] => conditions.push(Condition {
                field: (*field).into(),
                operator: "$is".into(),
                values: vec![value.to_owned()],
            }),
            other => {
                return Err(invalid_query(format!(
                    "Property .filters.{} should have required property 'conditions'",
                    other.join(".")
                )));
            }
        }
    }
    Ok((conditions, junction))
}

/// Refuses an operator that a column does not have.
fn check_operator(condition: &Condition, known: &[&str]) -> Result<(), ErrorBody> {
    if known.contains(&condition.operator.as_str()) {
        return Ok(());
    }
    Err(invalid_query(format!(
        "Property .filters.{}.conditions must have operators of {} (actual value is `{}`)",
        condition.field,
        known.join(", "),
        condition.operator
    )))
}

/// Whether a document is in a state now.
fn in_state(condition: &Condition, clause: &Clause) -> Result<Statement, ErrorBody> {
    let known: Vec<&str> = STATES.iter().map(|(operator, ..)| *operator).collect();
    check_operator(condition, &known)?;
    if let Some(value) = condition.values.iter().find(|value| *value == "false") {
        let (field, operator) = (&condition.field, &condition.operator);
        let told = format!("Property .filters.{field}.conditions.{operator} must be true (actual value is `{value}`)");
        return Err(invalid_query(told));
    }
    let parts =
        STATES.iter().find(|(operator, ..)| *operator == condition.operator).map_or(&[][..], |(_, parts, _)| parts);
    let pattern = format!("({})", parts.join(" AND "));
    let now = Value::Text(moment::text(clause.asked_at()));
    let params = vec![now; pattern.matches("{}").count()];
    Ok((pattern, params))
}

fn statement(condition: &Condition, column: &str, clause: &Clause) -> Result<Statement, ErrorBody> {
    if column == "state" {
        return in_state(condition, clause);
    }
    if let Some(list) = column.strip_prefix("each ") {
        check_operator(condition, &["$is", "$in"])?;
        let text = format!(
            "EXISTS (SELECT 1 FROM json_each({list}) WHERE CAST(value AS TEXT) IN (SELECT value FROM json_each({{}})))"
        );
        return Ok((text, vec![Value::Text(Json::from(condition.values.clone()).to_string())]));
    }
    if let Some(object) = column.strip_prefix("keys ") {
        let text = format!(
            "EXISTS (SELECT 1 FROM json_each({object}) WHERE key = {{}} AND CAST(value AS TEXT) IN (SELECT value FROM json_each({{}})))"
        );
        let listed = Json::from(condition.values.clone()).to_string();
        return Ok((text, vec![Value::Text(condition.operator.clone()), Value::Text(listed)]));
    }
    if let Some(flag) = column.strip_prefix("flag ") {
        check_operator(condition, &["$is", "$is_not", "$in", "$not_in"])?;
        let lower = Condition {
            field: condition.field.clone(),
            operator: condition.operator.clone(),
            values: condition.values.iter().map(|value| value.to_ascii_lowercase()).collect(),
        };
        return compared(&lower, &format!("CASE WHEN {flag} THEN 'true' ELSE 'false' END"));
    }
    check_operator(condition, OPERATORS)?;
    compared(condition, column)
}

fn compared(condition: &Condition, column: &str) -> Result<Statement, ErrorBody> {
    let first = condition.values.first().cloned().unwrap_or_default();
    let listed = || Value::Text(Json::from(condition.values.clone()).to_string());
    let text = |pattern: &str| pattern.replace("@", column);
    Ok(match condition.operator.as_str() {
        "$is" | "$in" => (text("CAST(@ AS TEXT) IN (SELECT value FROM json_each({}))"), vec![listed()]),
        "$is_not" | "$not_in" => {
            (text("(@ IS NULL OR CAST(@ AS TEXT) NOT IN (SELECT value FROM json_each({})))"), vec![listed()])
        }
        "$has_value" => (text("@ IS NOT NULL"), vec![]),
        "$is_unknown" => (text("@ IS NULL"), vec![]),
        "$contains" => (text("instr(@, {}) > 0"), vec![first.into()]),
        "$not_contain" => (text("(@ IS NULL OR instr(@, {}) = 0)"), vec![first.into()]),
        "$starts_with" => (text("substr(@, 1, length({})) = {}"), vec![first.clone().into(), first.into()]),
        "$ends_with" => (text("substr(@, -length({})) = {}"), vec![first.clone().into(), first.into()]),
        operator => {
            let sign = sign_of(operator).unwrap_or(">");
            (text(&format!("@ {sign} {{}}")), vec![comparable(condition, &first)?])
        }
    })
}

/// Numbers compare as numbers; dates, which are stored as ISO text in UTC, compare as such text.
fn comparable(condition: &Condition, value: &str) -> Result<Value, ErrorBody> {
    match value.parse::<i64>() {
        Ok(number) => Ok(Value::Int(number)),
        Err(_) => Ok(Value::Text(moment::text(moment_of(condition, value)?))),
    }
}

fn moment_of(condition: &Condition, value: &str) -> Result<i64, ErrorBody> {
    let path = ["filters", &condition.field, "conditions", &condition.operator].join(".");
    moment::parse(value).ok_or_else(|| no_moment(&path))
}

fn no_moment(path: &str) -> ErrorBody {
    invalid_query(format!("Property .{path} cannot be recognized as a ISO-8601 compliant date"))
}

/// Reads a moment of the query.
pub fn read_moment(query: &Query, path: &[&str]) -> Result<Option<i64>, ErrorBody> {
    let Some(text) = query.get_path(path) else { return Ok(None) };
    moment::parse(text).map(Some).ok_or_else(|| no_moment(&path.join(".")))
}
