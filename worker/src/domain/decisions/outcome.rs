//! Outcome of a redemption as JSON, and the differences of two outcomes.

use crate::http::decision_observer::DecidedRedemption;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::count::Countable;
use scrip::wire::decision::write_outcome;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;

/// Returns the outcome of a decision: its result, the reason of a failure, and for each redeemable and line what it got. It has no ids
/// of the redemption and no settings.
pub fn outcome(decided: &DecidedRedemption<'_>, context: &Context) -> Result<Json, Fault> {
    let unreadable = |error| Fault(format!("an outcome cannot be read: {error}"));
    let (failure_code, mut members) = match decided {
        Err(refusal) => (Some(refusal.reason.key()), Map::new()),
        Ok(decision) => {
            let text = write_outcome(&decision.answer.evaluated, context);
            let members = serde_json::from_slice(&text).map_err(unreadable)?;
            (decision.answer.failure.as_ref().map(|failure| failure.reason.key()), members)
        }
    };
    members.insert("result".into(), if failure_code.is_some() { "FAILURE" } else { "SUCCESS" }.into());
    if let Some(key) = failure_code {
        members.insert("failure_code".into(), key.into());
    }
    Ok(Json::Object(members))
}

/// Differences of two outcomes.
#[derive(Debug, Default)]
pub struct OutcomeDifferences {
    /// The first ones, each with its JSON pointer and the value of either side; a value that is absent is left out.
    pub listed: Vec<Json>,
    /// Number of all.
    pub count: usize,
}

impl OutcomeDifferences {
    /// Maximum number of differences that are listed.
    pub const LISTED_MAX: usize = 200;

    /// Compares the outcome under kept facts with that under today's rules.
    pub fn of(kept: &Json, today: &Json) -> OutcomeDifferences {
        let mut differences = OutcomeDifferences::default();
        differences.compare(String::new(), Some(kept), Some(today));
        differences
    }

    fn compare(&mut self, path: String, kept: Option<&Json>, today: Option<&Json>) {
        match (kept, today) {
            (Some(Json::Object(kept)), Some(Json::Object(today))) => {
                let names: BTreeSet<&String> = kept.keys().chain(today.keys()).collect();
                for name in names {
                    let escaped = name.replace('~', "~0").replace('/', "~1");
                    self.compare(format!("{path}/{escaped}"), kept.get(name), today.get(name));
                }
            }
            (Some(Json::Array(kept)), Some(Json::Array(today))) => {
                for place in 0..kept.len().max(today.len()) {
                    self.compare(format!("{path}/{place}"), kept.get(place), today.get(place));
                }
            }
            (kept, today) if kept != today => self.add(path, kept, today),
            _ => {}
        }
    }

    fn add(&mut self, path: String, kept: Option<&Json>, today: Option<&Json>) {
        self.count = self.count.plus_one();
        if self.listed.len() >= Self::LISTED_MAX {
            return;
        }
        let mut difference = Map::new();
        difference.insert("path".into(), path.into());
        for (name, value) in [("kept", kept), ("today", today)] {
            difference.extend(value.map(|value| (name.to_owned(), value.clone())));
        }
        self.listed.push(Json::Object(difference));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_have_a_pointer_and_both_values() {
        let kept = json!({ "result": "SUCCESS", "a/b": [1, { "c~": 2 }], "same": [1], "gone": null });
        let today = json!({ "result": "FAILURE", "a/b": [1, { "c~": 3 }, 4], "same": [1] });
        let found = OutcomeDifferences::of(&kept, &today);
        let expected = [
            json!({ "path": "/a~1b/1/c~0", "kept": 2, "today": 3 }),
            json!({ "path": "/a~1b/2", "today": 4 }),
            json!({ "path": "/gone", "kept": null }),
            json!({ "path": "/result", "kept": "SUCCESS", "today": "FAILURE" }),
        ];
        assert_eq!((found.listed.as_slice(), found.count), (expected.as_slice(), 4));
    }

    #[test]
    fn only_the_first_differences_are_listed() {
        let list = |item: i64| Json::from(vec![item; 300]);
        let found = OutcomeDifferences::of(&list(1), &list(2));
        assert_eq!((found.listed.len(), found.count), (OutcomeDifferences::LISTED_MAX, 300));
    }
}
