//! Stores the content of a set of rules, and its counts.

use std::sync::Arc;

use crate::count::Countable;
use crate::facts::{
    Assignment, KnownSettings, credits_account, points_account, points_spent_account, redeemed_account,
    redemptions_account, spent_account,
};
use crate::ledger::journal::JournalError;
use crate::ledger::{AccountId, Entry, Journal, Transfer};
use crate::model::client::ClientPolicy;
use crate::model::customer::Customer;
use crate::model::goods_buckets::KnownGoodsNames;
use crate::model::order::{Goods, Order};
use crate::model::promotion::PromotionStack;
use crate::model::redeemable::{Campaign, Category, Grant, RedeemableTerms};
use crate::model::redemption::StoredRedemption;
use crate::model::reward::{Reward, RewardAssignment};
use crate::model::stacking::StackingRules;
use crate::rules::{Collection, Rule, Segment};
use crate::text::{Text, joined};
use crate::time::{Instant, TimeZone};
use crate::wire::candidates::CandidateList;
use crate::wire::cursor::{JsonCursor, read};
use crate::wire::problem::Problem;
use crate::wire::readability::UnreadableDocuments;
use crate::wire::rule_set::lists::Coverage;
use crate::wire::rule_set::new_customer::NewCustomerConditions;
use crate::wire::rule_set::own_facts::OwnFacts;

/// The content of a set of rules.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    /// `true` if objects that are not listed do not exist, for the kinds that are listed completely; otherwise only the
    /// server knows.
    pub complete: bool,
    /// The kinds that are listed completely.
    pub coverage: Coverage,
    /// The client policy if the caller is a client, as in a bundle: then the catalogue's prices win over the request's.
    pub client: Option<Arc<ClientPolicy>>,
    /// The customer proven by the client's token, by id or `source_id`.
    pub proven: Option<Text>,
    /// The facts about the client's customer that are in no list.
    pub own: OwnFacts,
    /// The conditions known to be met by a new customer.
    pub new_customer: NewCustomerConditions,
    /// `true` if all products and SKUs are listed, even if not every kind is: then unlisted ones do not exist.
    pub whole_catalogue: bool,
    /// The known names of goods, where these are in buckets apart from the set.
    pub goods_names: Option<KnownGoodsNames>,
    /// `true` if all offers are listed that every client sees, even if not every kind is.
    pub lists_public_offers: bool,
    /// The promotions among them that no qualification examines, because there are too many newer ones, by id.
    pub unexamined_offers: Vec<Text>,
    /// The objects for whose metadata the project has a schema, which only the server knows.
    pub metadata_schemas: Vec<Text>,
    /// The project's stacking rules.
    pub stacking_rules: StackingRules,
    /// The project's time zone.
    pub time_zone: TimeZone,
    /// The settings of the project that are present.
    pub settings: KnownSettings,
    /// `true` if `ignores_case` is present.
    pub states_case: bool,
    /// `true` if codes that differ only by case are equal.
    pub ignores_case: bool,
    /// Campaigns.
    pub campaigns: Vec<Arc<Campaign>>,
    /// Vouchers.
    pub vouchers: Vec<Arc<RedeemableTerms>>,
    /// Promotion tiers.
    pub tiers: Vec<Arc<RedeemableTerms>>,
    /// Promotion stacks.
    pub stacks: Vec<PromotionStack>,
    /// Rewards.
    pub rewards: Vec<Reward>,
    /// The prices of rewards, by campaign.
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
    /// The assignments of rules.
    pub assignments: Vec<Assignment>,
    /// The candidates of qualifications.
    pub listed: CandidateList,
    /// Stored redemptions.
    pub redemptions: Vec<StoredRedemption>,
    /// The objects whose documents do not contain their rules, by id.
    pub unguarded: Vec<Text>,
    /// The counts and holds; `None` if only the server knows them.
    pub journal: Option<Journal>,
    /// `true` if all past transfers are present with their instants, and not only the sums of vouchers.
    pub has_history: bool,
    /// The documents that cannot be read.
    pub unreadable: UnreadableDocuments,
}

impl RuleSet {
    /// Adds entries, each once.
    #[inline(never)]
    pub(super) fn add_entries(&mut self, entries: &[Entry], at: &JsonCursor<'_>) {
        match self.journal.as_mut().map(|journal| journal.apply(entries)) {
            Some(Err(JournalError::Conflict(id))) => at.problem(&format!("is given twice: `{id}`")),
            Some(Err(JournalError::Overflow(account))) => {
                at.problem(&format!("counts too much on `{}`", account.as_str()));
            }
            Some(Ok(())) | None => {}
        }
    }
}

/// Returns a document as stored for answers.
pub(super) fn document(at: &JsonCursor<'_>) -> String {
    at.node.to_string()
}

/// Returns the usage in a voucher's document as transfers, so that all counts come from the ledger.
pub(super) fn count(voucher: &RedeemableTerms, at: &JsonCursor<'_>) -> Vec<Entry> {
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
                part_of: None,
                at: Instant::default(),
            }));
        }
    };
    // A voucher without counts was not redeemed.
    let used = counted("redemption", "redeemed_quantity").unwrap_or(0);
    add(redemptions_account(&voucher.id), redeemed_account(campaign), used);
    match &voucher.grant {
        Grant::Discount(_) => {}
        Grant::Loyalty(_) => {
            // A card without a count of points has spent none.
            let spent = counted("redemption", "redeemed_points").unwrap_or(0);
            add(points_account(&voucher.id), points_spent_account(campaign), spent);
        }
        Grant::Gift(gift) => {
            let credited_total = gift.credited_total().minor();
            let balance = counted("gift", "balance").unwrap_or(credited_total);
            let spent = counted("redemption", "redeemed_amount").unwrap_or(credited_total.remaining_after(balance));
            if spent > credited_total {
                let path = format!("{}.redemption.redeemed_amount", at.path());
                at.report(Problem::bound(path, &format!("must be at most {credited_total}"), &spent.to_string()));
            }
            add(credits_account(&voucher.id), spent_account(campaign), spent);
        }
    }
    entries
}
