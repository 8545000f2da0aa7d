//! Reads a whole set of rules from one JSON document: of a test vector, of the npm package, and the body of a bundle.

mod copies;
mod joined;
mod lists;
mod nested;
mod new_customer;
mod own_counts;
mod own_facts;
mod stated_facts;
pub(in crate::wire) mod strict;

use std::sync::Arc;

use crate::facts::{KnownSettings, credits_account, points_account, redemptions_account};
use crate::json::Node;
use crate::ledger::{AccountId, Entry, Hold, Journal, Transfer};
use crate::model::goods_buckets::KnownGoodsNames;
use crate::wire::cursor::{JsonCursor, read, read_node};
use crate::wire::customer::read_customer;
use crate::wire::order::{read_goods, read_order};
use crate::wire::problem::Problem;
use crate::wire::project::client::read_terms;
use crate::wire::project::stacking::read_stacking_rules;
use crate::wire::project::time_zone::read_time_zone;
use crate::wire::readability::separate_unreadable;
use crate::wire::reward::{read_reward, read_reward_assignment};
use crate::wire::rule_set::copies::find_copies;
pub use crate::wire::rule_set::lists::{Coverage, LISTS as DOCUMENT_LISTS, ListedKind};
pub use crate::wire::rule_set::new_customer::NewCustomerConditions;
pub use crate::wire::rule_set::own_facts::OwnFacts;
pub use crate::wire::rule_set::stated_facts::RuleSet;
pub use crate::wire::rule_set::strict::OTHER_MEMBERS;
use crate::wire::rule_set::strict::check_rules;
use crate::wire::rules::{read_assignment, read_rule};
use crate::wire::stored_redemption::read_stored_redemption;
use crate::wire::voucher::read_category;

/// Returns whether a value is a client policy: then the rules are a bundle.
fn is_terms(node: &Node<'_>) -> bool {
    matches!(node, Node::Flag(true) | Node::Object(_))
}

/// Adds a document to a set of rules.
type Add = fn(&mut RuleSet, &JsonCursor<'_>);

/// The lists of a set of rules, with the function that adds their documents.
const LISTS: &[(&str, Add)] = &[
    ("validation_rules_assignments", |given, at| given.assignments.push(read_assignment(at))),
    ("validation_rules", |given, at| given.rules.push(Arc::new(read_rule(at)))),
    ("categories", |given, at| given.categories.push(Arc::new(read_category(at)))),
    ("campaigns", RuleSet::add_campaign),
    ("vouchers", RuleSet::add_voucher),
    ("promotion_tiers", RuleSet::add_tier),
    ("campaigns", RuleSet::add_tiers_of),
    ("promotion_stacks", RuleSet::add_stack),
    ("rewards", |given, at| given.rewards.push(read_reward(at))),
    ("reward_assignments", |given, at| {
        let assignment = read_reward_assignment(at);
        given.add_guards(at, "reward_assignment", &assignment.id);
        given.reward_assignments.push(assignment);
    }),
    ("customers", |given, at| given.customers.push(read_customer(at))),
    ("orders", |given, at| given.orders.push(read_order(at))),
    ("products", RuleSet::add_product),
    ("skus", |given, at| given.skus.push(read_goods(at))),
    ("segments", RuleSet::add_segment),
    ("product_collections", RuleSet::add_collection),
    ("redemptions", |given, at| match read_stored_redemption(at.metadata()) {
        Ok(redemption) => given.redemptions.push(redemption),
        Err(problem) => at.report(problem.within(&at.path())),
    }),
];

impl RuleSet {
    /// Reads a set of rules. A handwritten one fails with its first problem; in a bundle, which has many authors,
    /// unreadable documents are separated.
    pub fn read(bytes: &[u8]) -> Result<RuleSet, Problem> {
        RuleSet::read_set(Node::read(bytes)?)
    }

    fn read_set(node: Node<'_>) -> Result<RuleSet, Problem> {
        if !node.get("client").is_some_and(is_terms) {
            return read_node(&node, |body| {
                check_rules(body);
                RuleSet::read_once(body, &find_copies(body))
            });
        }
        match read_node(&node, RuleSet::read_body) {
            Err(_) => RuleSet::read_readable(node),
            read => read,
        }
    }

    #[cold]
    fn read_readable(node: Node<'_>) -> Result<RuleSet, Problem> {
        let (readable, unreadable) = separate_unreadable(node);
        let mut given = read_node(&readable, RuleSet::read_body)?;
        given.unreadable.join(unreadable);
        Ok(given)
    }

    fn read_body(body: &JsonCursor<'_>) -> RuleSet {
        RuleSet::read_once(body, &[])
    }

    /// Reads a set of rules, without the copies at these paths.
    fn read_once(body: &JsonCursor<'_>, copies: &[String]) -> RuleSet {
        body.object();
        let mut given = RuleSet { coverage: Coverage::of(body), ..RuleSet::default() };
        body.fill("complete", &mut given.complete, read::flag);
        if body.option("counted", read::flag).unwrap_or(false) {
            given.journal = Some(Journal::default());
            given.has_history = body.get("transfers").is_some();
        }
        if let Some(client) = body.get("client").filter(|client| client.node.as_bool() != Some(false)) {
            given.client = Some(read_terms(&client));
            body.set_compiled();
        }
        body.fill_optional("proven", &mut given.proven, read::name);
        given.own = OwnFacts::read(body);
        body.fill(new_customer::NEW_CUSTOMER, &mut given.new_customer, NewCustomerConditions::read);
        body.fill("whole_catalogue", &mut given.whole_catalogue, read::flag);
        given.goods_names = body.get("named_goods").map(|names| KnownGoodsNames::of_core(names.all(read::name)));
        body.fill("public_offers", &mut given.lists_public_offers, read::flag);
        if let Some(ids) = body.get("unexamined_offers") {
            given.unexamined_offers = ids.all(read::name);
        }
        if let Some(objects) = body.get("metadata_schemas") {
            given.metadata_schemas = objects.all(read::name);
        }
        given.settings = KnownSettings {
            time_zone: body.get("time_zone").is_some(),
            stacking_rules: body.get("stacking_rules").is_some(),
        };
        body.fill("stacking_rules", &mut given.stacking_rules, read_stacking_rules);
        body.fill("time_zone", &mut given.time_zone, read_time_zone);
        body.set_zone(&given.time_zone);
        let case_sensitive = body.option("case_sensitive_codes", read::flag);
        (given.states_case, given.ignores_case) = (case_sensitive.is_some(), case_sensitive == Some(false));
        if let Some(names) = body.get("unreadable") {
            names.each(&mut given, RuleSet::add_unreadable);
        }
        // Referenced documents come before those that name them.
        for (list, add) in LISTS {
            if let Some(documents) = body.get(list) {
                documents.each_listed(&mut (&mut given, *add, copies), |(given, add, copies), document| {
                    if copies.is_empty() || !copies.contains(&document.path()) {
                        add(given, document);
                    }
                });
            }
        }
        if body.get("validation_rules_assignments").is_some() {
            given.unguarded = Vec::new();
        }
        if let Some(holds) = body.get("holds") {
            holds.each(&mut given, RuleSet::hold);
        }
        if let Some(transfers) = body.get("transfers") {
            given.add_entries(&transfers.all(read_transfer), &transfers);
        }
        given
    }

    /// Adds a document that the author of the set could not read.
    fn add_unreadable(&mut self, at: &JsonCursor<'_>) {
        self.unreadable.add_unreadable(at);
    }

    fn hold(&mut self, at: &JsonCursor<'_>) {
        at.object();
        let code = at.need("voucher", read::name);
        let found = self.vouchers.iter().find(|voucher| voucher.code == code);
        let Some(voucher) = found else {
            return at.need("voucher", |voucher| voucher.wrong("must be the code of a given voucher"));
        };
        let key = at.need("key", read::name);
        let expires_at = at.need("expires_at", read::instant);
        let owner = at.option("owner", read::name).unwrap_or_default();
        let hold =
            |account, amount| Entry::Hold(Hold { key: key.clone(), owner: owner.clone(), account, amount, expires_at });
        let quantity = at.option("quantity", read::whole_number);
        let mut entries = vec![hold(redemptions_account(&voucher.id), quantity.unwrap_or(1))];
        if let Some(credits) = at.option("credits", read::whole_number) {
            entries.push(hold(credits_account(&voucher.id), credits));
        }
        if let Some(points) = at.option("points", read::whole_number) {
            entries.push(hold(points_account(&voucher.id), points));
        }
        self.add_entries(&entries, at);
    }
}

/// Reads a past transfer: accounts, amount, instant and the reversed transfer.
fn read_transfer(at: &JsonCursor<'_>) -> Entry {
    at.object();
    let account = |name: &str| AccountId::new(at.need(name, read::text));
    Entry::Post(Transfer {
        id: at.need("id", read::name),
        chain: at.option("chain", read::text).unwrap_or_else(|| "given".into()),
        debit: account("debit"),
        credit: account("credit"),
        amount: at.option("amount", read::whole_number).unwrap_or(1),
        reverses: at.option("reverses", read::text),
        part_of: at.option("part_of", read::text),
        at: at.need("at", read::instant),
    })
}
