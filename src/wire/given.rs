//! Decides how a whole set of rules is read from one JSON document: what a vector gives, what the npm package is fed,
//! and the body of a bundle. It must not know which of its facts a decision will ask for.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::facts::{PastRedemption, credits_account, redeemed_account, redemptions_account, spent_account};
use crate::ledger::{Entry, Hold, Journal, Transfer};
use crate::model::customer::Customer;
use crate::model::order::{Goods, Metadata, Order};
use crate::model::stacking::StackingRules;
use crate::model::voucher::{Campaign, Category, Grant, Voucher};
use crate::rules::Rule;
use crate::text::Text;
use crate::time::{Instant, TimeZone};
use crate::wire::order::{GoodsBody, OrderBody};
use crate::wire::problem::{Problem, read};
use crate::wire::request::{or_default, read_customer};
use crate::wire::rules::read_rule;
use crate::wire::voucher::{read_campaign, read_category, read_voucher};

/// Everything that a set of rules says.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Whether what is not listed does not exist; otherwise only the server knows.
    pub complete: bool,
    /// The project's stacking rules.
    pub stacking_rules: StackingRules,
    /// The project's time zone.
    pub time_zone: TimeZone,
    /// Campaigns.
    pub campaigns: Vec<Campaign>,
    /// Vouchers, and the hash of the code for those that come without it.
    pub vouchers: Vec<(Voucher, Option<Text>)>,
    /// Categories.
    pub categories: Vec<Category>,
    /// Customers.
    pub customers: Vec<Customer>,
    /// Stored orders.
    pub orders: Vec<Order>,
    /// Products.
    pub products: Vec<Goods>,
    /// SKUs.
    pub skus: Vec<Goods>,
    /// Validation rules.
    pub rules: Vec<Rule>,
    /// Which rule holds for what: the id of a voucher or campaign, and of the rule.
    pub assignments: Vec<(Text, Text)>,
    /// Redemptions that were written down before.
    pub redemptions: Vec<PastRedemption>,
    /// What has been counted and is held; `None` when only the server knows.
    pub journal: Option<Journal>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct GivenBody {
    #[serde(default, deserialize_with = "or_default")]
    complete: bool,
    #[serde(default, deserialize_with = "or_default")]
    counted: Option<bool>,
    stacking_rules: Option<StackingRules>,
    time_zone: Option<TimeZoneBody>,
    #[serde(default, deserialize_with = "or_default")]
    campaigns: Vec<Box<RawValue>>,
    #[serde(default, deserialize_with = "or_default")]
    vouchers: Vec<Box<RawValue>>,
    #[serde(default, deserialize_with = "or_default")]
    categories: Vec<Box<RawValue>>,
    #[serde(default, deserialize_with = "or_default")]
    customers: Vec<Metadata>,
    #[serde(default, deserialize_with = "or_default")]
    orders: Vec<OrderBody>,
    #[serde(default, deserialize_with = "or_default")]
    products: Vec<GoodsBody>,
    #[serde(default, deserialize_with = "or_default")]
    skus: Vec<GoodsBody>,
    #[serde(default, deserialize_with = "or_default")]
    validation_rules: Vec<Box<RawValue>>,
    #[serde(default, deserialize_with = "or_default")]
    validation_rules_assignments: Vec<AssignmentBody>,
    #[serde(default, deserialize_with = "or_default")]
    holds: Vec<HoldBody>,
    #[serde(default, deserialize_with = "or_default")]
    redemptions: Vec<Metadata>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct TimeZoneBody {
    name: Text,
    #[serde(default)]
    offset: i32,
    #[serde(default)]
    transitions: Vec<TransitionBody>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct TransitionBody {
    at: Instant,
    offset: i32,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct AssignmentBody {
    rule_id: Text,
    related_object_id: Text,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct HoldBody {
    key: Text,
    voucher: Text,
    quantity: Option<u64>,
    credits: Option<u64>,
    expires_at: Instant,
}

#[derive(Deserialize, Default)]
struct CountedBody {
    code_hash: Option<Text>,
    #[serde(default)]
    redemption: Option<CountsBody>,
    #[serde(default)]
    gift: Option<BalanceBody>,
}

#[derive(Deserialize, Default)]
struct CountsBody {
    redeemed_quantity: Option<u64>,
    redeemed_amount: Option<u64>,
}

#[derive(Deserialize, Default)]
struct BalanceBody {
    balance: Option<u64>,
}

impl Given {
    /// Reads a set of rules.
    pub fn read(bytes: &[u8]) -> Result<Given, Problem> {
        let body: GivenBody = read(bytes)?;
        let counted = body.counted.unwrap_or(true);
        let mut given = Given {
            complete: body.complete,
            stacking_rules: body.stacking_rules.unwrap_or_default(),
            time_zone: body.time_zone.map(TimeZoneBody::into_model).unwrap_or_default(),
            campaigns: each("campaigns", &body.campaigns, read_campaign)?,
            categories: each("categories", &body.categories, read_category)?,
            rules: each("validation_rules", &body.validation_rules, |text| read_rule(text.as_bytes()))?,
            products: body.products.into_iter().map(GoodsBody::into_model).collect(),
            skus: body.skus.into_iter().map(GoodsBody::into_model).collect(),
            ..Given::default()
        };
        for (place, order) in body.orders.into_iter().enumerate() {
            let order = order.into_model().map_err(|problem| problem.within(&format!("orders[{place}]")))?;
            given.orders.push(order);
        }
        for (place, customer) in body.customers.into_iter().enumerate() {
            given.customers.push(read_customer(customer, &format!("customers[{place}]"))?);
        }
        for assignment in body.validation_rules_assignments {
            given.assignments.push((assignment.related_object_id, assignment.rule_id));
        }
        let past = body.redemptions.into_iter().map(crate::wire::redemption::read_past);
        given.redemptions = past.collect();
        let mut journal = Journal::default();
        given.read_vouchers(&body.vouchers, &mut journal)?;
        given.read_holds(body.holds, &mut journal)?;
        given.journal = counted.then_some(journal);
        Ok(given)
    }

    fn read_vouchers(&mut self, documents: &[Box<RawValue>], journal: &mut Journal) -> Result<(), Problem> {
        for (place, document) in documents.iter().enumerate() {
            let path = format!("vouchers[{place}]");
            let voucher = read_voucher(document.get()).map_err(|problem| problem.within(&path))?;
            let counted: CountedBody = read(document.get().as_bytes()).map_err(|problem| problem.within(&path))?;
            count(&voucher, &counted, journal).map_err(|problem| problem.within(&path))?;
            self.vouchers.push((voucher, counted.code_hash));
        }
        Ok(())
    }

    fn read_holds(&self, holds: Vec<HoldBody>, journal: &mut Journal) -> Result<(), Problem> {
        let mut entries = Vec::new();
        for (place, hold) in holds.into_iter().enumerate() {
            let found = self.vouchers.iter().find(|(voucher, _)| voucher.code == hold.voucher);
            let unknown = || {
                Problem::bound(format!("holds[{place}].voucher"), "must be the code of a given voucher", &hold.voucher)
            };
            let (voucher, _) = found.ok_or_else(unknown)?;
            let mut held = |account, amount| {
                let (key, expires_at) = (hold.key.clone(), hold.expires_at);
                entries.push(Entry::Hold(Hold { key, account, amount, expires_at }));
            };
            held(redemptions_account(&voucher.id), hold.quantity.unwrap_or(1));
            if let Some(credits) = hold.credits {
                held(credits_account(&voucher.id), credits);
            }
        }
        let conflict = |conflict: crate::ledger::journal::Conflict| Problem::at("holds", conflict.0);
        journal.apply(&entries).map_err(conflict)
    }
}

/// Reads every document of a list, telling of a problem which one it is in.
fn each<T>(
    name: &str,
    documents: &[Box<RawValue>],
    read: impl Fn(&str) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    let numbered = documents.iter().enumerate();
    numbered
        .map(|(place, document)| read(document.get()).map_err(|problem| problem.within(&format!("{name}[{place}]"))))
        .collect()
}

impl TimeZoneBody {
    fn into_model(self) -> TimeZone {
        let transitions = self.transitions.into_iter().map(|transition| (transition.at, transition.offset));
        TimeZone { name: self.name, offset: self.offset, transitions: transitions.collect() }
    }
}

/// Writes what a voucher's document says has been used as transfers, so that there is one way of counting.
fn count(voucher: &Voucher, counted: &CountedBody, journal: &mut Journal) -> Result<(), Problem> {
    let campaign = voucher.campaign_id.as_deref();
    let redemption = counted.redemption.as_ref();
    let used = redemption.and_then(|redemption| redemption.redeemed_quantity).unwrap_or(0);
    let mut moves = vec![(redemptions_account(&voucher.id), redeemed_account(campaign), used)];
    if let Grant::Gift(gift) = &voucher.grant {
        let balance = counted.gift.as_ref().and_then(|gift| gift.balance);
        let allotment = gift.allotment().minor();
        let spent = match (redemption.and_then(|redemption| redemption.redeemed_amount), balance) {
            (Some(spent), _) => spent,
            (None, Some(balance)) => allotment.saturating_sub(balance),
            (None, None) => 0,
        };
        if spent > allotment {
            return Err(Problem::bound("redemption.redeemed_amount", format!("must be at most {allotment}"), spent));
        }
        moves.push((credits_account(&voucher.id), spent_account(campaign), spent));
    }
    let mut entries = Vec::new();
    for (debit, credit, amount) in moves {
        if amount == 0 {
            continue;
        }
        entries.push(Entry::Post(Transfer {
            id: compact_str::format_compact!("given/{debit}"),
            chain: "given".into(),
            debit,
            credit,
            amount,
            reverses: None,
            at: Instant::default(),
        }));
    }
    journal.apply(&entries).map_err(|conflict| Problem::at("id", format!("is given twice: `{}`", conflict.0)))
}
