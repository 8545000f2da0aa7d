//! Refuses unknown members, by their path and with the nearest known name.

use crate::json::Node;
use crate::shape::{COUNT, Field, FieldType, KEY, may, must};
use crate::wire::cursor::JsonCursor;
use crate::wire::project::stacking::STACKING_RULES_DOCUMENT;
use crate::wire::project::time_zone::TIME_ZONE;
use crate::wire::rule_set::lists::{LISTS, ListedKind};

/// The members of a set of rules other than its lists.
pub const OTHER_MEMBERS: &[Field] = &[
    may("complete", FieldType::Bool)
        .description("`true` if each given list contains all objects of its kind, so that others do not exist. `false` means that only the server knows the others. Default `false`."),
    may("counted", FieldType::Bool)
        .description("`true` if documents, `transfers` and `holds` contain everything that was counted and reserved. `false` means that counts are unknown. Default `false`."),
    may("case_sensitive_codes", FieldType::Bool)
        .description("`true` if codes that differ only by case are different codes. Absent leaves such codes to the server."),
    may("client", FieldType::Any).description("Client policy of the project. Present only in a bundle."),
    may("proven", FieldType::Text).description("ID or `source_id` of the customer that the customer token proves."),
    may("own_counts", FieldType::Any).description("Counts of the customer. Present only with a bundle."),
    may("own_balances", FieldType::MapOf(&FieldType::Any))
        .description("Balances of the accounts of the customer's vouchers. Present only with a bundle."),
    may("own_candidates", FieldType::Bool)
        .description("`true` if all vouchers of the customer that a qualification lists are given. Present only with a bundle. Default `false`."),
    may("new_customer", FieldType::Any)
        .description("Numbers of the conditions that a new customer without data meets and does not meet. Present only in a bundle."),
    may("whole_catalogue", FieldType::Bool)
        .description("`true` if all products and SKUs are listed, even if `complete` is `false`. Default `false`."),
    may("named_goods", FieldType::List(&KEY, 0, usize::MAX))
        .description("Names of which all products and SKUs are listed; of other names they are in goods buckets. Present only in a bundle."),
    may("public_offers", FieldType::Bool)
        .description("`true` if all promotions in force that clients may list are given, even if `complete` is `false`. Default `false`."),
    may("unexamined_offers", FieldType::List(&KEY, 0, usize::MAX))
        .description("IDs of listed promotions that no qualification examines, because there are too many newer ones. Default none."),
    may("metadata_schemas", FieldType::List(&KEY, 0, usize::MAX))
        .description("Objects for whose metadata the project has a schema, such as `order`. A verdict on their metadata is provisional. Default none."),
    may("project", FieldType::Any).description("Project of a bundle. Present only in a bundle."),
    may("stacking_rules", STACKING_RULES_DOCUMENT)
        .description("Stacking rules of the project. An empty object means the defaults. Absent means that a verdict on several redeemables is provisional."),
    may("time_zone", FieldType::Either(&[FieldType::Text, TIME_ZONE]))
        .description("Time zone of the project, as in a bundle, or `UTC`. Absent means that a verdict that depends on hours or days is provisional."),
    may("unreadable", FieldType::Any).description("Documents of a bundle that the service could not read."),
    may("holds", FieldType::List(&HOLD, 0, usize::MAX)).description("Reservations of sessions. Default none."),
    may("transfers", FieldType::List(&TRANSFER, 0, usize::MAX))
        .description("Movements between accounts of everything that was counted. Absent means that only the totals of the documents are known."),
];

const HOLD: FieldType = FieldType::Object(&[
    must("voucher", KEY).description("Code of the voucher with the reservation. The voucher must be given."),
    must("key", KEY).description("Key of the session."),
    must("expires_at", FieldType::DateTime).description("Moment at which the reservation ends, in UTC."),
    may("owner", KEY).description("Client that owns the session. Absent means the merchant's server."),
    may("quantity", COUNT).description("Number of reserved redemptions. Default 1."),
    may("credits", COUNT).description("Reserved amount of a gift card, in minor units. Absent means none."),
    may("points", COUNT).description("Number of reserved points of a loyalty card. Absent means none."),
]);

const TRANSFER: FieldType = FieldType::Object(&[
    must("id", KEY),
    must("at", FieldType::DateTime).description("Moment of the transfer, in UTC."),
    must("debit", FieldType::Text).description("Account that the units are taken from."),
    must("credit", FieldType::Text).description("Account that the units are added to."),
    may("chain", FieldType::Text).description("ID of the chain of transfers that happen all or none."),
    may("amount", COUNT).description("Number of units. Default 1."),
    may("reverses", FieldType::Text).description("ID of the transfer that this one reverses."),
    may("part_of", FieldType::Text).description("ID of the transfer of which this one returns a part."),
]);

/// The owner of the checked members.
#[derive(Clone, Copy)]
enum Owner<'a> {
    /// The set of rules itself.
    Rules,
    /// A document, with the noun of its kind.
    Document(&'a str),
    /// A member of a document.
    Member(&'a str),
}

/// Refuses the first unknown member of a set of rules.
pub(super) fn check_rules(body: &JsonCursor<'_>) {
    if body.data_ref().is_some() {
        body.problem("must NOT be a list: give the list whole as a member, such as `vouchers`");
        return;
    }
    for (name, member) in body.members() {
        match LISTS.iter().find(|kind| kind.list == name) {
            Some(kind) if kind.fields.is_empty() || member.is_null() => {}
            Some(kind) => member.each_listed(&mut { kind }, |kind, document| check_document(document, kind)),
            None => check_member(&member, name, OTHER_MEMBERS, Owner::Rules),
        }
    }
}

/// Refuses the members of an object that are in none of these tables; the nearest name comes from the first.
pub(in crate::wire) fn check_names(at: &JsonCursor<'_>, tables: &[&[Field]], noun: &str) {
    for (name, member) in at.members() {
        if !tables.iter().any(|fields| fields.iter().any(|field| field.name == name)) {
            refuse(&member, name, tables.first().copied().unwrap_or_default(), Owner::Document(noun));
        }
    }
}

fn check_document(document: &JsonCursor<'_>, kind: &ListedKind) {
    check_fields(document, kind.fields, Owner::Document(kind.noun));
}

fn check_fields(at: &JsonCursor<'_>, fields: &[Field], owner: Owner<'_>) {
    if matches!(at.node, Node::Object(_)) {
        at.members().for_each(|(name, member)| check_member(&member, name, fields, owner));
    }
}

fn check_member(member: &JsonCursor<'_>, name: &str, fields: &[Field], owner: Owner<'_>) {
    match fields.iter().find(|field| field.name == name) {
        Some(field) => check_kind(member, &field.kind, Owner::Member(name)),
        None => refuse(member, name, fields, owner),
    }
}

/// Checks a value whose type its reader does not check.
fn check_kind(at: &JsonCursor<'_>, kind: &FieldType, owner: Owner<'_>) {
    match (kind.resolved(), at.node) {
        (FieldType::Object(fields), Node::Object(_)) => check_fields(at, fields, owner),
        (FieldType::List(item, ..), Node::List(_)) => at.items().for_each(|one| check_kind(&one, item, owner)),
        (FieldType::MapOf(value), Node::Object(_)) => {
            at.members().for_each(|(_, member)| check_kind(&member, value, owner))
        }
        (FieldType::Open(fields, value), Node::Object(_)) => {
            for (name, member) in at.members() {
                let known = fields.iter().find(|field| field.name == name);
                check_kind(&member, known.map_or(*value, |field| &field.kind), Owner::Member(name));
            }
        }
        (FieldType::Either(kinds), node) => {
            let fits = |kind: &&FieldType| match kind.resolved() {
                FieldType::Object(_) | FieldType::Map | FieldType::MapOf(_) | FieldType::Open(..) => {
                    matches!(node, Node::Object(_))
                }
                FieldType::List(..) => matches!(node, Node::List(_)),
                _ => false,
            };
            if let Some(kind) = kinds.iter().find(fits) {
                check_kind(at, kind, owner);
            }
        }
        _ => {}
    }
}

#[cold]
fn refuse(member: &JsonCursor<'_>, name: &str, fields: &[Field], owner: Owner<'_>) {
    let (quote, owner, lists) = match owner {
        Owner::Rules => ("", "a set of rules", LISTS),
        Owner::Document(noun) => ("", noun, &[][..]),
        Owner::Member(name) => ("`", name, &[][..]),
    };
    let mut text = format!("is not a field of {quote}{owner}{quote}");
    let lists = lists.iter().map(|kind| kind.list);
    if let Some(nearest) = nearest(name, fields.iter().map(|field| field.name).chain(lists)) {
        text.push_str(&format!("; did you mean `{nearest}`?"));
    }
    member.problem(&text);
}

/// The maximum length of names with a nearest one, in bytes.
const LONGEST_COMPARED: usize = 64;

/// Returns the nearest name with an edit distance of at most a third of the length.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > LONGEST_COMPARED {
        return None;
    }
    let near = known.map(|known| (strsim::osa_distance(name, known), known));
    // A distance is at most the length of a name.
    near.filter(|(distance, _)| distance.saturating_mul(3) <= name.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}
