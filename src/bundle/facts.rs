//! Answers a decision's questions from a set of rules in memory. It must not know what the decision is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::facts::{Facts, Known, PastRedemption};
use crate::ledger::{AccountId, Journal, Transfer};
use crate::model::customer::Customer;
use crate::model::order::{Goods, Order};
use crate::model::stacking::StackingRules;
use crate::model::voucher::{Campaign, Category, Voucher};
use crate::rules::Rule;
use crate::text::{Text, sha256_hex};
use crate::time::{Instant, TimeZone};
use crate::wire::given::Given;

/// Everything that was given, by what it is asked for.
#[derive(Debug, Clone, Default)]
pub struct GivenFacts {
    complete: bool,
    stacking_rules: StackingRules,
    time_zone: TimeZone,
    vouchers: Vec<Voucher>,
    by_code: BTreeMap<Text, usize>,
    by_hash: BTreeMap<Text, usize>,
    campaigns: BTreeMap<Text, Campaign>,
    categories: BTreeMap<Text, Category>,
    customers: BTreeMap<Text, Customer>,
    orders: BTreeMap<Text, Order>,
    products: BTreeMap<Text, Goods>,
    skus: BTreeMap<Text, Goods>,
    rules: BTreeMap<Text, Rule>,
    assignments: BTreeMap<Text, Vec<Text>>,
    redemptions: BTreeMap<Text, PastRedemption>,
    journal: Option<Journal>,
}

/// Files a thing under both of its names.
fn file<T: Clone>(map: &mut BTreeMap<Text, T>, names: [Option<&Text>; 2], thing: &T) {
    for name in names.into_iter().flatten() {
        map.insert(name.clone(), thing.clone());
    }
}

impl GivenFacts {
    /// Files everything under the names it is asked for.
    pub fn new(given: Given) -> GivenFacts {
        let mut facts = GivenFacts {
            complete: given.complete,
            stacking_rules: given.stacking_rules,
            time_zone: given.time_zone,
            journal: given.journal,
            ..GivenFacts::default()
        };
        for (place, (voucher, hash)) in given.vouchers.into_iter().enumerate() {
            match hash {
                Some(hash) => facts.by_hash.insert(hash, place),
                None => facts.by_code.insert(voucher.code.clone(), place),
            };
            facts.by_code.entry(voucher.id.clone()).or_insert(place);
            facts.vouchers.push(voucher);
        }
        facts.campaigns.extend(given.campaigns.into_iter().map(|campaign| (campaign.id.clone(), campaign)));
        facts.categories.extend(given.categories.into_iter().map(|category| (category.id.clone(), category)));
        facts.rules.extend(given.rules.into_iter().map(|rule| (rule.id.clone(), rule)));
        facts.redemptions.extend(given.redemptions.into_iter().map(|past| (past.id.clone(), past)));
        for customer in &given.customers {
            file(&mut facts.customers, [customer.id.as_ref(), customer.source_id.as_ref()], customer);
        }
        for order in &given.orders {
            file(&mut facts.orders, [order.id.as_ref(), order.source_id.as_ref()], order);
        }
        for goods in &given.products {
            file(&mut facts.products, [goods.id.as_ref(), goods.source_id.as_ref()], goods);
        }
        for goods in &given.skus {
            file(&mut facts.skus, [goods.id.as_ref(), goods.source_id.as_ref()], goods);
        }
        for (object, rule) in given.assignments {
            facts.assignments.entry(object).or_default().push(rule);
        }
        facts
    }

    /// What is not here does not exist, or only the server knows.
    fn known<'a, T: Clone>(&self, found: Option<&'a T>) -> Known<Cow<'a, T>> {
        match found {
            Some(fact) => Known::Is(Cow::Borrowed(fact)),
            None if self.complete => Known::Absent,
            None => Known::Unknown,
        }
    }

    fn counted<T>(&self, read: impl FnOnce(&Journal) -> T) -> Known<T> {
        self.journal.as_ref().map_or(Known::Unknown, |journal| Known::Is(read(journal)))
    }
}

impl Facts for GivenFacts {
    fn stacking_rules(&self) -> Cow<'_, StackingRules> {
        Cow::Borrowed(&self.stacking_rules)
    }

    fn time_zone(&self) -> Cow<'_, TimeZone> {
        Cow::Borrowed(&self.time_zone)
    }

    fn voucher(&self, code: &str) -> Known<Cow<'_, Voucher>> {
        let place = self.by_code.get(code);
        if let Some(voucher) = place.and_then(|place| self.vouchers.get(*place)) {
            return Known::Is(Cow::Borrowed(voucher));
        }
        let place = match self.by_hash.is_empty() {
            true => None,
            false => self.by_hash.get(sha256_hex(code.as_bytes()).as_str()),
        };
        match place.and_then(|place| self.vouchers.get(*place)) {
            Some(voucher) => Known::Is(Cow::Owned(Voucher { code: Text::from(code), ..voucher.clone() })),
            None => self.known(None),
        }
    }

    fn campaign(&self, id: &str) -> Known<Cow<'_, Campaign>> {
        self.known(self.campaigns.get(id))
    }

    fn category(&self, id: &str) -> Known<Cow<'_, Category>> {
        self.known(self.categories.get(id))
    }

    fn rules(&self, voucher: &Voucher) -> Known<Vec<Cow<'_, Rule>>> {
        let names = [Some(&voucher.id), Some(&voucher.code), voucher.campaign_id.as_ref()];
        let assigned = names.into_iter().flatten().filter_map(|name| self.assignments.get(name));
        let mut rules: Vec<Cow<'_, Rule>> = Vec::new();
        for id in assigned.flatten() {
            match self.rules.get(id) {
                // A voucher whose code is its id is named twice, and its rules count once.
                Some(rule) if rules.iter().any(|known| known.id == rule.id) => {}
                Some(rule) => rules.push(Cow::Borrowed(rule)),
                None if self.complete => {}
                None => return Known::Unknown,
            }
        }
        Known::Is(rules)
    }

    fn customer(&self, key: &str) -> Known<Cow<'_, Customer>> {
        self.known(self.customers.get(key))
    }

    fn order(&self, key: &str) -> Known<Cow<'_, Order>> {
        self.known(self.orders.get(key))
    }

    fn product(&self, key: &str) -> Known<Cow<'_, Goods>> {
        self.known(self.products.get(key))
    }

    fn sku(&self, key: &str) -> Known<Cow<'_, Goods>> {
        self.known(self.skus.get(key))
    }

    fn balance(&self, account: &AccountId) -> Known<i64> {
        self.counted(|journal| journal.balance(account))
    }

    fn held(&self, account: &AccountId, now: Instant, key: Option<&str>) -> Known<u64> {
        self.counted(|journal| journal.held(account, now, key))
    }

    fn redemption(&self, id: &str) -> Known<Cow<'_, PastRedemption>> {
        self.known(self.redemptions.get(id))
    }

    fn chain(&self, id: &str) -> Known<Vec<Transfer>> {
        self.counted(|journal| journal.chain(id))
    }

    fn tracking_id(&self, _source_id: &str) -> Known<Text> {
        if self.complete { Known::Absent } else { Known::Unknown }
    }
}
