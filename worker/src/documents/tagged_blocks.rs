//! Blocks that a tag next to them chooses, as data: `type: ROLLING_EXPIRATION` with `rolling_expiration`, and no other.
//!
//! Without a tag, the only choice whose blocks are present applies: older clients send no tag.

use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// A choice: its path, its tag member, and for each tag the members that belong to it, `order.amount` for a
/// nested one.
#[derive(Debug, Clone, Copy)]
pub struct TaggedBlock {
    /// The path of the object: `earnings[].effects[]`; empty for the body.
    pub at: &'static str,
    /// Member with the tag.
    pub by: &'static str,
    /// Tags with their members.
    pub cases: &'static [(&'static str, &'static [&'static str])],
}

/// Declares a choice.
pub const fn tagged_block(
    at: &'static str,
    by: &'static str,
    cases: &'static [(&'static str, &'static [&'static str])],
) -> TaggedBlock {
    TaggedBlock { at, by, cases }
}

/// Checks a body against its choices, in their order: members of the tag must be present, members of other tags absent. A
/// null or empty member counts as absent and is removed.
pub fn check_blocks(body: &mut Map<String, Json>, blocks: &[TaggedBlock]) -> Result<(), Problem> {
    blocks.iter().try_for_each(|block| descend(body, block.at, String::new(), block))
}

/// Follows the path of a choice, through lists, and tracks the path for refusals.
fn descend(object: &mut Map<String, Json>, rest: &str, path: String, block: &TaggedBlock) -> Result<(), Problem> {
    if rest.is_empty() {
        return block.hold(object, &path);
    }
    let (step, rest) = rest.split_once('.').unwrap_or((rest, ""));
    let name = step.trim_end_matches("[]");
    let path = crate::http::shape::below(&path, name);
    match object.get_mut(name) {
        Some(Json::Object(inner)) => descend(inner, rest, path, block),
        Some(Json::Array(items)) => {
            let objects = items.iter_mut().enumerate();
            let mut objects = objects.filter_map(|(place, item)| Some((place, item.as_object_mut()?)));
            objects.try_for_each(|(place, item)| descend(item, rest, format!("{path}[{place}]"), block))
        }
        _ => Ok(()),
    }
}

impl TaggedBlock {
    /// Removes from a stored body the members of the tag that a change replaces.
    pub fn remove_replaced(&self, body: &mut Map<String, Json>, sent: &Map<String, Json>) {
        if sent.get(self.by).is_some_and(|tag| body.get(self.by) != Some(tag)) {
            let members = self.cases.iter().flat_map(|(_, members)| members.iter());
            members.for_each(|member| drop(body.remove(*member)));
        }
    }

    fn hold(&self, object: &mut Map<String, Json>, path: &str) -> Result<(), Problem> {
        let has = |member: &&str| present_member(object, member).is_some();
        let all = || self.cases.iter().flat_map(|(_, members)| members.iter());
        let named = object.get(self.by).and_then(Json::as_str).map(str::to_owned);
        let inferred = || {
            let mut fitting = self.cases.iter().filter(|(_, members)| !members.is_empty() && members.iter().all(&has));
            fitting.next().filter(|_| fitting.next().is_none()).map(|(tag, _)| (*tag).to_owned())
        };
        let tag = named.or_else(inferred).ok_or_else(|| Problem::missing(path, self.by))?;
        let expected = self.cases.iter().find(|(known, _)| *known == tag).map_or(&[][..], |(_, members)| members);
        if let Some(lacking) = expected.iter().find(|member| !has(member)) {
            let (inner, name) = lacking.rsplit_once('.').unwrap_or(("", lacking));
            let place = if inner.is_empty() { path.to_owned() } else { crate::http::shape::below(path, inner) };
            return Err(Problem::missing(place, name));
        }
        if let Some(other) = all().find(|member| has(member) && !expected.contains(member)) {
            let message = format!("must NOT be present where {} is {tag}", self.by);
            return Err(Problem::at(crate::http::shape::below(path, other), message));
        }
        let unwanted: Vec<&str> = all().filter(|member| !expected.contains(member)).copied().collect();
        unwanted.into_iter().for_each(|member| drop_empty(object, member));
        object.insert(self.by.into(), tag.into());
        Ok(())
    }
}

/// Returns the value at a path of members, unless it is null or empty.
fn present_member<'j>(object: &'j Map<String, Json>, member: &str) -> Option<&'j Json> {
    let (name, rest) = member.split_once('.').unwrap_or((member, ""));
    let found = object.get(name).filter(|value| !is_empty(value))?;
    if rest.is_empty() { Some(found) } else { present_member(found.as_object()?, rest) }
}

/// Removes a null or empty member at a path.
fn drop_empty(object: &mut Map<String, Json>, member: &str) {
    let (name, rest) = member.split_once('.').unwrap_or((member, ""));
    if let Some(inner) = object.get_mut(name).and_then(Json::as_object_mut).filter(|_| !rest.is_empty()) {
        drop_empty(inner, rest);
    }
    if object.get(name).is_some_and(is_empty) {
        object.remove(name);
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// Removes every null member, at any depth, except inside the named members, where null has its own meaning.
pub fn remove_nulls(body: &mut Map<String, Json>, but: &[&str]) {
    let members = body.iter_mut().filter(|(name, _)| !but.contains(&name.as_str()));
    members.for_each(|(_, value)| prune_value(value, but));
}

fn prune_value(value: &mut Json, but: &[&str]) {
    match value {
        Json::Object(members) => {
            members.retain(|_, value| !value.is_null());
            remove_nulls(members, but);
        }
        Json::Array(items) => items.iter_mut().for_each(|item| prune_value(item, but)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const CHOICES: &[TaggedBlock] = &[
        tagged_block("hours", "type", &[("ANY", &[]), ("DAILY", &["daily"])]),
        tagged_block("list[].of", "kind", &[("A", &["order.amount"]), ("B", &["order.total"]), ("C", &["customer"])]),
    ];

    fn check(body: Json, expected: Json) {
        let Json::Object(mut body) = body else { panic!("the case should be an object") };
        let found = match check_blocks(&mut body, CHOICES) {
            Ok(()) => Json::Object(body),
            Err(problem) => problem.to_string().into(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_tag_and_its_blocks_belong_together() {
        check(json!({ "hours": null }), json!({ "hours": null }));
        check(json!({ "hours": { "type": "ANY", "daily": [] } }), json!({ "hours": { "type": "ANY" } }));
        check(json!({ "hours": { "daily": [1] } }), json!({ "hours": { "type": "DAILY", "daily": [1] } }));
        check(json!({ "hours": {} }), json!("Property .hours should have required property 'type'"));
        check(json!({ "hours": { "type": "DAILY" } }), json!("Property .hours should have required property 'daily'"));
        check(
            json!({ "hours": { "type": "ANY", "daily": [1] } }),
            json!("Property .hours.daily must NOT be present where type is ANY"),
        );
    }

    #[test]
    fn blocks_in_lists_and_below_others() {
        check(
            json!({ "list": [{}, { "of": { "order": { "total": 1, "amount": null }, "customer": {} } }] }),
            json!({ "list": [{}, { "of": { "kind": "B", "order": { "total": 1 } } }] }),
        );
        check(
            json!({ "list": [{ "of": { "kind": "A", "order": { "total": 1 } } }] }),
            json!("Property .list[0].of.order should have required property 'amount'"),
        );
        check(
            json!({ "list": [{ "of": { "order": { "total": 1, "amount": 2 } } }] }),
            json!("Property .list[0].of should have required property 'kind'"),
        );
        check(
            json!({ "list": [{ "of": { "kind": "A", "order": { "total": 1, "amount": 2 } } }] }),
            json!("Property .list[0].of.order.total must NOT be present where kind is A"),
        );
    }
}
