//! The deep filters of a query, `filters[field][conditions][$op][n]=value` and `filters[junction]`, as conditions of a clause.
//! It must not know which fields a list has; the list names them with their columns.
//!
//! A column is an expression, whose value is compared. One that begins with `flag ` is true or false, one with `each ` a list of which any
//! element may fit, one with `keys ` an object whose values are compared by their keys, and `state` is no column: whether a document is
//! switched on and within its dates. One that begins with `moment ` is a column of milliseconds, beside which the body has the same as text;
//! with `parent campaign `, the name of the campaign that it belongs to stands there, and so for other kinds; with
//! `one `, it is counted as a list that has one element, or none; with `keyed `, it is what the key was made of: the same, or the same in
//! small letters; with `held `, it is who is told to hold the document, which its holder may be without being told.
//! `filters[field]=value` means `$is`.

use crate::document::clause::{Clause, Statement};
use crate::document::condition::{
    self, Condition, STATES, compared, days_of, in_state, moment_of, no_moment, sign_of, statement,
};
use crate::document::days::{self, Days, Named};
use crate::document::index;
use crate::http::query::Query;
use crate::http::reply::{ErrorBody, invalid_query};
use crate::moment;
use crate::store::sql::Value;
use serde_json::Value as Json;

/// Conditions in one query, at most: the statement may have 100 parameters.
const CONDITIONS_MAX: usize = 40;

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

    /// A column, of who is told to hold a document, that must have one of some values: the holder has it as well.
    fn held(column: &str, values: &[String]) -> Term {
        let Term { column: holder, statement: (text, mut params), value } = Term::of("holder", values);
        params.extend(params.clone());
        Term { statement: (format!("{text} AND {}", text.replace("holder", column)), params), column: holder, value }
    }

    /// A column, of what the key was made of, that must begin so; none where a letter becomes another small one by what follows it.
    fn begun(column: &str, start: &str) -> Option<Term> {
        if start.contains('Σ') {
            return None;
        }
        let range = "(key >= {} AND key < {})";
        let bounds = [start.to_owned(), start.to_lowercase()].map(|from| [format!("{from}{}", char::MAX), from]);
        let bounds = bounds.into_iter().flat_map(|[behind, from]| [Value::Text(from), Value::Text(behind)]);
        let params = bounds.chain([start.into(), start.into()]).collect();
        let condition = format!("({range} OR {range}) AND substr({column}, 1, length({{}})) = {{}}");
        Some(Term { column: "key".to_owned(), statement: (condition, params), value: None })
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
    let (conditions, junction) = condition::read(query)?;
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
        let bare = column.strip_prefix("one ").filter(|_| !condition.operator.starts_with("$count"));
        let column = bare.unwrap_or(column);
        let first = condition.values.first().map_or("", String::as_str);
        let is_date = days::is_moment(&condition.field)
            || column.starts_with("moment ")
            || (!column.contains(' ') && column != "state")
            || column.starts_with("json_extract(");
        if let Some(operator) =
            days::meant(&condition.field, &condition.operator, first).filter(|_| is_date && clause.asked_at() > 0)
        {
            self.add_days(days_of(&condition, operator, clause)?, column, clause);
            return Ok(());
        }
        let named = days::named(&condition.field, &condition.operator, &condition.values);
        if let Some(named) = named.filter(|_| is_date && clause.asked_at() > 0) {
            return self.add_named(condition, named, column, clause);
        }
        if let Some((column, sign)) = column.strip_prefix("moment ").zip(sign_of(&condition.operator)) {
            return self.add_moment(&condition, column, sign, clause);
        }
        let is_equal = matches!(condition.operator.as_str(), "$is" | "$in");
        let parent = column.strip_prefix("parent ").and_then(|rest| rest.split_once(' '));
        let (keyed, held) = (column.strip_prefix("keyed "), column.strip_prefix("held "));
        let column = match parent {
            Some((_, column)) => column.to_owned(),
            None => keyed.or(held).map_or_else(|| text_of(column), str::to_owned),
        };
        match parent {
            None if keyed.is_some() && is_equal && self.has_index("key", clause) => {
                self.terms.push(Term::keyed(&column, &condition.values));
            }
            None if held.is_some() && is_equal && self.has_index("holder", clause) => {
                self.terms.push(Term::held(&column, &condition.values));
            }
            None if keyed.is_some() && condition.operator == "$starts_with" && self.has_index("key", clause) => {
                match Term::begun(&column, first) {
                    Some(term) => self.terms.push(term),
                    None => self.looked.push(statement(&condition, &column, clause)?),
                }
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

    /// What lies within days: of moments each end is a bound that an index may have.
    fn add_days(&mut self, days: Days, column: &str, clause: &Clause) {
        let Some(name) = column.strip_prefix("moment ") else {
            return self.looked.push(within(days, column, clause));
        };
        let bounds = bounds(days, clause);
        match (self.junction, name) {
            ("AND", "created_at") => self.made.extend(bounds.iter().map(|(sign, at)| (*sign == ">=", *at))),
            ("AND", _) if self.has_index(name, clause) => {
                self.terms.extend(bounds.iter().map(|(sign, at)| Term::bound(name, sign, *at)));
            }
            _ => self.looked.push(within(days, column, clause)),
        }
    }

    /// What lies within one of several days, or outside all of them: an index finds what is between the first and the last, and among
    /// these each is looked at. What was at no moment is outside.
    fn add_named(
        &mut self,
        condition: Condition,
        Named { days, others, is_outside }: Named,
        column: &str,
        clause: &Clause,
    ) -> Result<(), ErrorBody> {
        let is_bounded = others.is_empty() && !is_outside;
        if is_bounded && let [one] = days.as_slice() {
            self.add_days(*one, column, clause);
            return Ok(());
        }
        let may_have_index = self.junction == "AND" && column.starts_with("moment ");
        if is_bounded
            && may_have_index
            && let Some(all) = Days::around(&days)
        {
            self.add_days(all, column, clause);
        }
        let mut parts = vec![Days::any_of(&days, column, clause.zone())];
        if !others.is_empty() {
            let exact = Condition { operator: "$in".to_owned(), values: others, ..condition };
            parts.push(compared(&exact, &text_of(column))?);
        }
        let (texts, params): (Vec<String>, Vec<Vec<Value>>) = parts.into_iter().unzip();
        let any = texts.join(" OR ");
        let text = if is_outside { format!("NOT COALESCE({any}, 0)") } else { format!("({any})") };
        self.looked.push((text, params.into_iter().flatten().collect()));
        Ok(())
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

/// A column as text: of one of moments the body has it.
fn text_of(column: &str) -> String {
    column.strip_prefix("moment ").map_or_else(|| column.to_owned(), |name| format!("json_extract(body, '$.{name}')"))
}

/// The moments between which days lie.
fn bounds(days: Days, clause: &Clause) -> Vec<(&'static str, i64)> {
    days.moments(clause.zone()).into_iter().filter_map(|(sign, at)| Some((sign, at?))).collect()
}

/// That a column lies within days.
fn within(days: Days, column: &str, clause: &Clause) -> Statement {
    let Some(column) = column.strip_prefix("moment ") else { return days.of_text(column, clause.zone()) };
    let bounds = bounds(days, clause);
    let parts: Vec<String> = bounds.iter().map(|(sign, _)| format!("{column} {sign} {{}}")).collect();
    (format!("({})", parts.join(" AND ")), bounds.iter().map(|(_, at)| (*at).into()).collect())
}

/// Reads a moment of the query.
pub fn read_moment(query: &Query, path: &[&str]) -> Result<Option<i64>, ErrorBody> {
    let Some(text) = query.get_path(path) else { return Ok(None) };
    moment::parse(text).map(Some).ok_or_else(|| no_moment(&path.join(".")))
}
