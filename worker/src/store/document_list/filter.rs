//! The deep filters of a list as conditions of a clause, by their columns.
//!
//! A column is an expression, whose value is compared. Prefixes: `flag ` is a boolean; `each ` a list, any element of which may match;
//! `keys ` an object whose values are compared by their keys. `moment ` is a column of milliseconds, which the body also has as text.
//! `parent campaign ` is the name of the parent campaign, likewise for other kinds. `one ` counts as a list of one element or none.
//! `keyed ` is the source of the key: equal to it, or equal in lower case. `held ` is the holder that the document contains; a document may
//! have a holder that it does not contain. `state` is no column: the document is active and within its validity.

use super::clause::{Clause, Statement};
use super::condition::{
    Condition, InvalidCondition, STATES, comparison, days_of, in_state, instant_of, sign_of, statement,
};
use super::days::{self, DayOperator, Days};
use super::index;
use super::term::IndexTerm;
use super::voucher_columns;
use scrip::text::fold;
use serde_json::Value as Json;

/// The deep filters of a query as conditions.
#[derive(Default)]
pub struct Conditions {
    /// Conditions that all must be true, and that an index answers.
    pub terms: Vec<IndexTerm>,
    /// Conditions on the age that all must be true: created at a time or later, or else before it.
    pub made: Vec<(bool, i64)>,
    /// Required parents: a kind, and names of which one must match.
    pub parents: Vec<(String, Vec<String>)>,
    /// Conditions that must read every document.
    pub scanned: Vec<Statement>,
    /// Junction of these.
    pub junction: &'static str,
}

impl Conditions {
    /// Narrows a clause by all of them, for a statement that is no list: its columns name nothing by what it belongs to.
    pub fn narrow(self, clause: &mut Clause) {
        for (is_from, at) in self.made {
            if is_from { clause.made_from(at) } else { clause.made_before(at) }
        }
        clause.and_group("AND", self.terms.into_iter().map(|term| term.statement).collect());
        clause.and_group(self.junction, self.scanned);
    }
}

impl Conditions {
    /// Adds a condition on a column within a clause.
    pub fn add(&mut self, condition: Condition, column: &str, clause: &Clause) -> Result<(), InvalidCondition> {
        let folded = voucher_columns::without_case(column).filter(|_| clause.ignores_case());
        if let Some(folded) = folded {
            return self.add_code(condition, column, folded, clause);
        }
        let bare = column.strip_prefix("one ").filter(|_| !condition.operator.starts_with("$count"));
        let column = bare.unwrap_or(column);
        let first = condition.values.first().map_or("", String::as_str);
        let is_date = days::is_instant(&condition.field)
            || column.starts_with("moment ")
            || (!column.contains(' ') && column != "state")
            || column.starts_with("json_extract(");
        if let Some(operator) =
            days::meant(&condition.field, &condition.operator, first).filter(|_| is_date && clause.now_ms() > 0)
        {
            self.add_days(days_of(&condition, operator, clause)?, column, clause);
            return Ok(());
        }
        let named = days::parse_operator(&condition.field, &condition.operator, &condition.values);
        if let Some(named) = named.filter(|_| is_date && clause.now_ms() > 0) {
            return self.add_named(condition, named, column, clause);
        }
        if let Some((column, sign)) = column.strip_prefix("moment ").zip(sign_of(&condition.operator)) {
            return self.add_instant(&condition, column, sign, clause);
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
                self.terms.push(IndexTerm::of_key(&column, &condition.values));
            }
            None if held.is_some() && is_equal && self.has_index("holder", clause) => {
                self.terms.push(IndexTerm::of_holder(&column, &condition.values));
            }
            None if keyed.is_some() && condition.operator == "$starts_with" && self.has_index("key", clause) => {
                self.terms.push(IndexTerm::with_prefix(&column, first));
            }
            Some((kind, _)) if is_equal && self.has_index("parent", clause) => {
                self.parents.push((kind.to_owned(), condition.values));
            }
            _ if is_equal && self.has_index(&column, clause) => {
                self.terms.push(IndexTerm::of(&column, &condition.values))
            }
            _ => match self.state(&condition, &column, clause)? {
                Some(term) => self.terms.push(term),
                None => self.scanned.push(statement(&condition, &column, clause)?),
            },
        }
        Ok(())
    }

    /// Adds a condition on a code in a project that ignores case. A record about a voucher is found by that voucher's code.
    fn add_code(
        &mut self,
        mut condition: Condition,
        column: &str,
        folded: &str,
        clause: &Clause,
    ) -> Result<(), InvalidCondition> {
        let is_equal = matches!(condition.operator.as_str(), "$is" | "$in");
        let sent = Json::from(condition.values.clone()).to_string();
        condition.values = condition.values.iter().map(|value| fold(value).into_owned()).collect();
        if is_equal && column == voucher_columns::CODE && self.has_index(column, clause) {
            let text = format!(
                "{column} IN (SELECT value FROM json_each({{}}) UNION SELECT json_extract(of.body, '$.code') FROM document AS of
                   WHERE of.kind = 'voucher' AND of.key IN (SELECT value FROM json_each({{}})))"
            );
            let keys = Json::from(condition.values).to_string();
            let statement = (text, vec![sent.into(), keys.into()]);
            self.terms.push(IndexTerm { column: column.to_owned(), statement, value: None });
            return Ok(());
        }
        self.add(condition, folded, clause)
    }

    /// Returns true if an index answers for a column. With an OR junction no index does.
    fn has_index(&self, column: &str, clause: &Clause) -> bool {
        self.junction == "AND" && index::by_value(clause.kind.as_deref().unwrap_or_default(), column).is_some()
    }

    /// Adds the condition to lie within days. For instants each end is a bound that an index may answer.
    fn add_days(&mut self, days: Days, column: &str, clause: &Clause) {
        let Some(name) = column.strip_prefix("moment ") else {
            return self.scanned.push(within(days, column, clause));
        };
        let bounds = bounds(days, clause);
        match (self.junction, name) {
            ("AND", "created_at") => self.made.extend(bounds.iter().map(|(sign, at)| (*sign == ">=", *at))),
            ("AND", _) if self.has_index(name, clause) => {
                self.terms.extend(bounds.iter().map(|(sign, at)| IndexTerm::bound(name, sign, *at)));
            }
            _ => self.scanned.push(within(days, column, clause)),
        }
    }

    /// Adds the condition to lie within one of several days, or outside of all. An index finds the documents between the first and
    /// the last, each of which is then read. A document without the time is outside.
    fn add_named(
        &mut self,
        condition: Condition,
        DayOperator { days, others, is_outside }: DayOperator,
        column: &str,
        clause: &Clause,
    ) -> Result<(), InvalidCondition> {
        let is_bounded = others.is_empty() && !is_outside;
        if is_bounded && let [one] = days.as_slice() {
            self.add_days(*one, column, clause);
            return Ok(());
        }
        let may_have_index = self.junction == "AND" && column.starts_with("moment ");
        if is_bounded
            && may_have_index
            && let Some(all) = Days::span_of(&days)
        {
            self.add_days(all, column, clause);
        }
        let mut parts = vec![Days::any_of(&days, column, clause.zone())];
        if !others.is_empty() {
            let exact = Condition { operator: "$in".to_owned(), values: others, ..condition };
            parts.push(comparison(&exact, &text_of(column))?);
        }
        let (texts, params) = parts.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        let any = texts.join(" OR ");
        let text = if is_outside { format!("NOT COALESCE({any}, 0)") } else { format!("({any})") };
        self.scanned.push((text, params.into_iter().flatten().collect()));
        Ok(())
    }

    fn add_instant(
        &mut self,
        condition: &Condition,
        column: &str,
        sign: &str,
        clause: &Clause,
    ) -> Result<(), InvalidCondition> {
        let at = instant_of(condition, condition.values.first().map_or("", String::as_str))?;
        match (column, self.junction) {
            ("created_at", "AND") => {
                let is_next = matches!(sign, ">" | "<=");
                // Saturates at the end of time.
                self.made.push((sign.starts_with('>'), at.saturating_add(i64::from(is_next))));
            }
            _ if self.has_index(column, clause) => self.terms.push(IndexTerm::bound(column, sign, at)),
            _ => self.scanned.push((format!("{column} {sign} {{}}"), vec![at.into()])),
        }
        Ok(())
    }

    /// Returns the index term of a condition other than equality: of dates as text, and of rare states.
    fn state(
        &self,
        condition: &Condition,
        column: &str,
        clause: &Clause,
    ) -> Result<Option<IndexTerm>, InvalidCondition> {
        let operator = condition.operator.as_str();
        let (column, statement) = match (column, sign_of(operator)) {
            ("state", _) => {
                let rare = STATES.iter().find(|(known, ..)| *known == operator).and_then(|(_, _, rare)| *rare);
                let Some(rare) = rare else { return Ok(None) };
                (rare, in_state(condition, clause)?)
            }
            (column, Some(_)) => (column, comparison(condition, column)?),
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
        Ok(self.has_index(column, clause).then(|| IndexTerm { column: column.to_owned(), statement, value: None }))
    }
}

/// Returns a column as text, which the body has for a column of instants.
fn text_of(column: &str) -> String {
    column.strip_prefix("moment ").map_or_else(|| column.to_owned(), |name| format!("json_extract(body, '$.{name}')"))
}

/// Returns the instants that bound days.
fn bounds(days: Days, clause: &Clause) -> Vec<(&'static str, i64)> {
    days.bounds(clause.zone()).into_iter().filter_map(|(sign, at)| Some((sign, at?))).collect()
}

/// Returns the statement that a column lies within days.
fn within(days: Days, column: &str, clause: &Clause) -> Statement {
    let Some(column) = column.strip_prefix("moment ") else { return days.of_text(column, clause.zone()) };
    let bounds = bounds(days, clause);
    let parts: Vec<String> = bounds.iter().map(|(sign, _)| format!("{column} {sign} {{}}")).collect();
    (format!("({})", parts.join(" AND ")), bounds.iter().map(|(_, at)| (*at).into()).collect())
}
