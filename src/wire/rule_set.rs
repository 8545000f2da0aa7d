//! Decides how a whole set of rules is read from one JSON document: what a vector gives, what the npm package is fed,
//! and the body of a bundle. It must not know which of its facts a decision will ask for.

use std::sync::Arc;

use crate::facts::{
    Assignment, credits_account, points_account, points_spent_account, redeemed_account, redemptions_account,
    spent_account,
};
use crate::ledger::{AccountId, Entry, Hold, Journal, Transfer};
use crate::model::customer::Customer;
use crate::model::incentive::{Campaign, Category, Grant, Incentive};
use crate::model::order::{Goods, Order};
use crate::model::page::Terms;
use crate::model::promotion::Stack;
use crate::model::redemption::PastRedemption;
use crate::model::reward::{Reward, RewardAssignment};
use crate::model::stacking::StackingRules;
use crate::rules::{Collection, Rule, Segment};
use crate::shape::{Kind, may, must, shape};
use crate::shelf::Shelf;
use crate::text::{Text, digits, joined};
use crate::time::{Instant, TimeZone};
use crate::wire::at::{At, read, read_node};
use crate::wire::candidates::{Listed, read_listed};
use crate::wire::customer::read_customer;
use crate::wire::legible::{Illegible, set_apart};
use crate::wire::node::Node;
use crate::wire::order::{read_goods, read_order};
use crate::wire::page::read_terms;
use crate::wire::past::read_past;
use crate::wire::problem::Problem;
use crate::wire::reward::{read_reward, read_reward_assignment};
use crate::wire::rules::{read_assignment, read_collection, read_rule, read_segment};
use crate::wire::stacking::read_stacking_rules;
use crate::wire::voucher::{read_campaign, read_category, read_stack, read_tier, read_voucher};

/// Everything that a set of rules says.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    /// Whether what is not listed does not exist; otherwise only the server knows.
    pub complete: bool,
    /// The terms of pages where whoever asks is one, as of a bundle: then the catalogue's prices win over its own.
    pub client: Option<Arc<Terms>>,
    /// Whom a token of the page's proves, by id or `source_id`.
    pub proven: Option<Text>,
    /// Whether all products and SKUs are listed, also where not everything is: then those that are not do not exist.
    pub whole_catalogue: bool,
    /// The project's stacking rules.
    pub stacking_rules: StackingRules,
    /// The project's time zone.
    pub time_zone: TimeZone,
    /// Campaigns.
    pub campaigns: Vec<Arc<Campaign>>,
    /// Vouchers.
    pub vouchers: Vec<Arc<Incentive>>,
    /// The ids of vouchers that come without their code, by its hash.
    pub by_hash: Shelf<Text>,
    /// Promotion tiers.
    pub tiers: Vec<Arc<Incentive>>,
    /// Promotion stacks.
    pub stacks: Vec<Stack>,
    /// Rewards.
    pub rewards: Vec<Reward>,
    /// What rewards cost, by campaign.
    pub reward_assignments: Vec<RewardAssignment>,
    /// Categories.
    pub categories: Vec<Arc<Category>>,
    /// Customers.
    pub customers: Vec<Customer>,
    /// Stored orders.
    pub orders: Vec<Order>,
    /// Products.
    pub products: Vec<Goods>,
    /// SKUs.
    pub skus: Vec<Goods>,
    /// Validation rules.
    pub rules: Vec<Arc<Rule>>,
    /// Segments.
    pub segments: Vec<Segment>,
    /// Collections of products and SKUs.
    pub collections: Vec<Collection>,
    /// Which rule holds for what.
    pub assignments: Vec<Assignment>,
    /// What may be listed to somebody who names nothing.
    pub listed: Listed,
    /// Redemptions that were written down before.
    pub redemptions: Vec<PastRedemption>,
    /// What has been counted and is held; `None` when only the server knows.
    pub journal: Option<Journal>,
    /// What there is besides and cannot be read.
    pub illegible: Illegible,
}

/// Whether a value can be the terms of pages: then the rules are a bundle.
fn is_terms(node: &Node<'_>) -> bool {
    matches!(node, Node::Flag(true) | Node::Object(_))
}

impl RuleSet {
    /// Reads a set of rules. Whoever writes one by hand is told of the first problem in it; in a bundle, which is many
    /// people's work, what does not read is set apart.
    pub fn read(bytes: &[u8]) -> Result<RuleSet, Problem> {
        let node = Node::read(bytes)?;
        match read_node(&node, RuleSet::read_body) {
            Err(_) if node.get("client").is_some_and(is_terms) => RuleSet::read_legible(node),
            read => read,
        }
    }

    #[cold]
    fn read_legible(node: Node<'_>) -> Result<RuleSet, Problem> {
        let (legible, illegible, hashes) = set_apart(node);
        let mut given = read_node(&legible, RuleSet::read_body)?;
        given.illegible.join(illegible);
        for (hash, id) in hashes {
            given.by_hash.put(hash, id);
        }
        Ok(given)
    }

    fn read_body(body: &At<'_>) -> RuleSet {
        body.object();
        let mut given = RuleSet { journal: Some(Journal::default()), ..RuleSet::default() };
        body.fill("complete", &mut given.complete, read::flag);
        if let Some(client) = body.get("client").filter(|client| client.node.as_bool() != Some(false)) {
            given.client = Some(read_terms(&client));
        }
        body.fill_some("proven", &mut given.proven, read::name);
        body.fill("whole_catalogue", &mut given.whole_catalogue, read::flag);
        body.fill("stacking_rules", &mut given.stacking_rules, read_stacking_rules);
        body.fill("time_zone", &mut given.time_zone, read_time_zone);
        body.fill_list("campaigns", &mut given.campaigns, |at| Arc::new(read_campaign(at)));
        body.fill_list("promotion_tiers", &mut given.tiers, |tier| Arc::new(read_tier(tier, &document(tier))));
        body.fill_list("promotion_stacks", &mut given.stacks, read_stack);
        body.fill_list("rewards", &mut given.rewards, read_reward);
        body.fill_list("reward_assignments", &mut given.reward_assignments, read_reward_assignment);
        body.fill_list("categories", &mut given.categories, |at| Arc::new(read_category(at)));
        body.fill_list("customers", &mut given.customers, read_customer);
        body.fill_list("orders", &mut given.orders, read_order);
        body.fill_list("products", &mut given.products, read_goods);
        body.fill_list("skus", &mut given.skus, read_goods);
        body.fill_list("validation_rules", &mut given.rules, |at| Arc::new(read_rule(at)));
        body.fill_list("segments", &mut given.segments, read_segment);
        body.fill_list("product_collections", &mut given.collections, read_collection);
        body.fill_list("validation_rules_assignments", &mut given.assignments, read_assignment);
        if let Some(noted) = body.get("unreadable") {
            noted.each(&mut given, RuleSet::note_unreadable);
        }
        given.listed = read_listed(body);
        given.redemptions = read_redemptions(body);
        if let Some(vouchers) = body.get("vouchers") {
            vouchers.each(&mut given, RuleSet::add_voucher);
        }
        if let Some(holds) = body.get("holds") {
            holds.each(&mut given, RuleSet::hold);
        }
        if let Some(transfers) = body.get("transfers") {
            given.note(&transfers.all(read_transfer), &transfers);
        }
        if !body.option("counted", read::flag).unwrap_or(true) {
            given.journal = None;
        }
        given
    }

    /// Notes a document that whoever made the set could not read.
    fn note_unreadable(&mut self, at: &At<'_>) {
        self.illegible.note(at);
        if let Some((hash, id)) = at.option("code_hash", read::text).zip(at.option("id", read::text)) {
            self.by_hash.put(hash, id);
        }
    }

    fn add_voucher(&mut self, at: &At<'_>) {
        let voucher = read_voucher(at, &document(at));
        self.note(&count(&voucher, at), at);
        if let Some(hash) = at.option("code_hash", read::text) {
            self.by_hash.put(hash, voucher.id.clone());
        }
        self.vouchers.push(Arc::new(voucher));
    }

    fn hold(&mut self, at: &At<'_>) {
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
        self.note(&entries, at);
    }

    /// Notes entries, each once.
    #[inline(never)]
    fn note(&mut self, entries: &[Entry], at: &At<'_>) {
        if let Some(Err(conflict)) = self.journal.as_mut().map(|journal| journal.apply(entries)) {
            at.problem(&joined(&["is given twice: `", &conflict.0, "`"]));
        }
    }
}

/// A document as it is kept for answers that show it. Only redemptions do, and no page redeems.
fn document(at: &At<'_>) -> String {
    if cfg!(feature = "package") { String::new() } else { at.node.to_string() }
}

/// Reads redemptions of the past. Only a rollback asks for them, and no page rolls back.
fn read_redemptions(body: &At<'_>) -> Vec<PastRedemption> {
    if cfg!(feature = "package") {
        return Vec::new();
    }
    body.list("redemptions", |past| read_past(past.metadata()))
}

/// Reads a transfer of the past: what moved where, when, and what it undid.
fn read_transfer(at: &At<'_>) -> Entry {
    at.object();
    let account = |name: &str| AccountId::new(at.need(name, read::text));
    Entry::Post(Transfer {
        id: at.need("id", read::name),
        chain: at.option("chain", read::text).unwrap_or_else(|| "given".into()),
        debit: account("debit"),
        credit: account("credit"),
        amount: at.option("amount", read::whole_number).unwrap_or(1),
        reverses: at.option("reverses", read::text),
        at: at.need("at", read::instant),
    })
}

/// A zone with the moments at which its clocks change.
pub const TIME_ZONE: Kind = shape!(
    "TimeZone",
    "A zone with the moments at which its clocks change",
    &[
        must("name", Kind::Text),
        may("offset", OFFSET).says("Seconds ahead of UTC before the first transition"),
        may("transitions", Kind::List(&TRANSITION, 0, usize::MAX)).says("When its clocks change"),
    ]
);

const OFFSET: Kind = Kind::Int(-86_399, 86_399);
const TRANSITION: Kind = Kind::Object(&[
    must("at", Kind::DateTime).says("From when"),
    may("offset", OFFSET).says("Seconds ahead of UTC from then on"),
]);

fn read_time_zone(at: &At<'_>) -> TimeZone {
    at.object();
    let transitions = at.list("transitions", |transition| {
        let offset = transition.option("offset", read_offset);
        (transition.need("at", read::instant), offset.unwrap_or(0))
    });
    TimeZone { name: at.need("name", read::text), offset: at.option("offset", read_offset).unwrap_or(0), transitions }
}

fn read_offset(at: &At<'_>) -> i32 {
    let seconds = at.node.as_i64().and_then(|seconds| i32::try_from(seconds).ok());
    let seconds = seconds.filter(|seconds| seconds.unsigned_abs() < 86_400);
    at.or_wrong(seconds, "must be an integer of seconds, less than a day")
}

/// What a voucher's document says has been used, as transfers, so that there is one way of counting.
fn count(voucher: &Incentive, at: &At<'_>) -> Vec<Entry> {
    let campaign = voucher.campaign_id.as_deref();
    let counted = |block: &str, name: &str| at.get(block).and_then(|block| block.option(name, read::whole_number));
    let mut entries = Vec::new();
    let mut add = |debit: AccountId, credit: AccountId, amount: u64| {
        if amount > 0 {
            entries.push(Entry::Post(Transfer {
                id: joined(&["given/", debit.as_str()]),
                chain: "given".into(),
                debit,
                credit,
                amount,
                reverses: None,
                at: Instant::default(),
            }));
        }
    };
    let used = counted("redemption", "redeemed_quantity").unwrap_or(0);
    add(redemptions_account(&voucher.id), redeemed_account(campaign), used);
    match &voucher.grant {
        Grant::Discount(_) => {}
        Grant::Loyalty(_) => {
            let spent = counted("redemption", "redeemed_points").unwrap_or(0);
            add(points_account(&voucher.id), points_spent_account(campaign), spent);
        }
        Grant::Gift(gift) => {
            let allotment = gift.allotment().minor();
            let balance = counted("gift", "balance").unwrap_or(allotment);
            let spent = counted("redemption", "redeemed_amount").unwrap_or(allotment.saturating_sub(balance));
            if spent > allotment {
                let path = [&at.path(), ".redemption.redeemed_amount"].concat();
                at.tell(Problem::bound(path, &["must be at most ", &digits(allotment)].concat(), &digits(spent)));
            }
            add(credits_account(&voucher.id), spent_account(campaign), spent);
        }
    }
    entries
}
