//! Reads the balances of cards (v1), and sums them by customer.

use crate::domain::balances::customer_loyalty::CustomerLoyalty;
use crate::http::reply::{ErrorBody, error};
use crate::http::route::Call;
use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::{Document, DocumentBody};
use crate::store::ledger::{AccountBalance, balance_of};
use crate::store::sql::Fault;
use crate::store::transfer_rows::TransferRow;
use scrip::facts::{credits_account, part_of, points_account};
use scrip::ledger::AccountId;
use scrip::model::redeemable::Grant;
use scrip::time::Instant;
use scrip::wire::voucher::card_of;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Describes one of the two kinds of cards: its block, its fields, its account and its API names.
pub struct BalanceKind {
    /// Name of the block in the voucher document that has the balance.
    pub block: &'static str,
    /// Field with the total ever credited.
    pub total: &'static str,
    /// Field with the units that were subtracted by hand.
    pub subtracted: &'static str,
    /// Name of the kind in the API.
    pub kind: &'static str,
    /// Name of the unit in transactions.
    pub unit: &'static str,
    /// Account of the redemptions of a card.
    pub account: fn(&str) -> AccountId,
}

/// Gift cards and loyalty cards.
pub const BALANCE_KINDS: &[BalanceKind] = &[GIFT, CARD];

/// Gift cards.
pub const GIFT: BalanceKind = BalanceKind {
    block: "gift",
    total: "amount",
    subtracted: "subtracted_amount",
    kind: "gift_voucher",
    unit: "CREDITS",
    account: credits_account,
};

/// Loyalty cards.
pub const CARD: BalanceKind = BalanceKind {
    block: "loyalty_card",
    total: "points",
    subtracted: "subtracted_points",
    kind: "loyalty_card",
    unit: "POINTS",
    account: points_account,
};

/// Units that were credited to a card, units that were subtracted by hand, and their difference.
pub struct CreditedTotal {
    /// Total ever credited.
    pub total: i64,
    /// Points that are pending: they will be part of the total.
    pub pending: i64,
    /// Units that were subtracted by hand.
    pub subtracted: i64,
    net_credited: i64,
}

impl CreditedTotal {
    /// Returns the balance; units that a lock reserves are part of it.
    pub fn balance(&self, account_balance: AccountBalance) -> Result<i64, Fault> {
        self.net_credited.plus(account_balance.balance)
    }
}

/// Returns the kind of a card; `None` for a voucher without a balance.
pub fn of_card(voucher: &Document) -> Option<&'static BalanceKind> {
    let voucher = voucher.as_voucher();
    match (voucher.is_gift_card(), voucher.is_loyalty_card()) {
        (true, _) => Some(&GIFT),
        (false, true) => Some(&CARD),
        (false, false) => None,
    }
}

/// Returns the id of the card whose balance a transfer changes.
pub fn card_of_transfer(post: &TransferRow) -> Option<&str> {
    [&post.debit, &post.credit].into_iter().find_map(|account| match part_of(account)? {
        ("voucher", id, "credits" | "points") => Some(id),
        _ => None,
    })
}

/// Returns the kind of the cards of a campaign; refuses a campaign whose vouchers have no balance.
pub fn of_campaign(campaign: &Document) -> Result<&'static BalanceKind, ErrorBody> {
    match campaign.as_campaign().campaign_type() {
        "LOYALTY_PROGRAM" => Ok(&CARD),
        "GIFT_VOUCHERS" => Ok(&GIFT),
        _ => {
            let message = "Transactions are allowed only for loyalty or gift campaigns";
            Err(error(403, "forbidden", "Forbidden", message))
        }
    }
}

impl BalanceKind {
    /// Returns the units credited to a card until `now`; `None` for a card of another kind or one that cannot be read.
    pub fn credited_total(&self, card: &Document, now: Instant) -> Result<Option<CreditedTotal>, Fault> {
        let Some(grant) = card_of(&card.body, now) else { return Ok(None) };
        let [total, pending, subtracted, net_credited] = match grant {
            Grant::Gift(gift) if self.block == GIFT.block => {
                [gift.amount.minor(), 0, gift.subtracted_amount.minor(), gift.credited_total().minor()]
            }
            Grant::Loyalty(card) if self.block == CARD.block => {
                [card.points, card.pending_points(), card.subtracted_points, card.credited_total()]
            }
            Grant::Gift(_) | Grant::Loyalty(_) | Grant::Discount(_) => return Ok(None),
        }
        .map(amount::signed);
        Ok(Some(CreditedTotal {
            total: total?,
            pending: pending?,
            subtracted: subtracted?,
            net_credited: net_credited?,
        }))
    }
}

/// Balances of all cards of a customer.
#[derive(Debug, Default)]
pub struct CustomerBalances {
    /// Credits of gift cards.
    pub credits: i64,
    /// Points of loyalty cards.
    pub points: i64,
    /// Points by the names of the campaigns.
    pub campaigns: BTreeMap<String, i64>,
}

impl CustomerBalances {
    /// Completes a profile with the balances: in its loyalty block and in its redemption summary.
    pub fn complete(&self, customer: &mut DocumentBody) {
        self.put_points(customer);
        let mut redemptions = customer.get_mut("summary").and_then(|summary| summary.get_mut("redemptions"));
        let blocks = [("gift", "amount_to_go", self.credits), ("loyalty_card", "points_to_go", self.points)];
        for (block, name, left) in blocks {
            let block = redemptions.as_mut().and_then(|redemptions| redemptions.get_mut(block));
            if let Some(block) = block.and_then(Json::as_object_mut) {
                block.insert(name.into(), left.into());
            }
        }
    }

    /// Writes the points into the loyalty block of a customer.
    pub fn put_points(&self, customer: &mut DocumentBody) {
        let loyalty = customer.entry("loyalty").or_insert(Json::Null);
        if !loyalty.is_object() {
            *loyalty = CustomerLoyalty::empty();
        }
        let Some(loyalty) = loyalty.as_object_mut() else { return };
        loyalty.insert("points".into(), self.points.into());
        let Some(campaigns) = loyalty.get_mut("campaigns").and_then(Json::as_object_mut) else { return };
        for campaign in campaigns.values_mut().filter_map(Json::as_object_mut) {
            campaign.insert("points".into(), 0.into());
        }
        for (name, points) in self.campaigns.iter().filter(|(_, points)| **points > 0) {
            let campaign =
                campaigns.entry(name.as_str()).or_insert_with(|| json!({ "points": 0, "referred_customers": 0 }));
            if let Some(campaign) = campaign.as_object_mut() {
                campaign.insert("points".into(), (*points).into());
            }
        }
    }
}

/// Returns the balances of customers, by the customer's id.
pub fn find_balances(
    store: &Store<'_>,
    now: Instant,
    customers: &[&str],
) -> Result<HashMap<String, CustomerBalances>, Fault> {
    sum_balances(store, now, &store.list_cards_of_customers(customers)?, &|_| Ok(0))
}

/// Returns the balances of a customer at the instant of a call.
pub fn find_current_balances(call: &Call<'_, '_>, customer: &str) -> Result<CustomerBalances, Fault> {
    Ok(find_balances(call.store, call.context.now, &[customer])?.remove(customer).unwrap_or_default())
}

/// Returns the balances of a customer with all queued writes applied.
pub fn find_balances_with_queued(store: &Store<'_>, now: Instant, customer: &str) -> Result<CustomerBalances, Fault> {
    let mut cards = store.list_cards_of_customers(&[customer])?;
    for written in store.queued_documents().filter(|written| written.kind == "voucher") {
        cards.retain(|card| card.id != written.id);
        if written.holder == Some(customer) {
            let mut card = Document::read_queued(&written, now.millis())?;
            card.parent = card.as_voucher().campaign_id().map(str::to_owned);
            cards.push(card);
        }
    }
    let queued = |account: &str| {
        store.queued_transfers().try_fold(0_i64, |sum, post| match (post.debit == account, post.credit == account) {
            (true, false) => sum.minus(post.amount),
            (false, true) => sum.plus(post.amount),
            _ => Ok(sum),
        })
    };
    Ok(sum_balances(store, now, &cards, &queued)?.remove(customer).unwrap_or_default())
}

/// Sums the balances of cards; `queued` returns the change of an account by transfers that are still queued.
fn sum_balances(
    store: &Store<'_>,
    now: Instant,
    cards: &[Document],
    queued: &dyn Fn(&str) -> Result<i64, Fault>,
) -> Result<HashMap<String, CustomerBalances>, Fault> {
    let account = |balance_kind: &BalanceKind, card: &Document| (balance_kind.account)(&card.id).to_string();
    let accounts = cards.iter().flat_map(|card| BALANCE_KINDS.iter().map(|balance_kind| account(balance_kind, card)));
    let account_balances = store.account_balances(&accounts.collect::<Vec<_>>(), now.millis(), "")?;
    let on = |balance_kind: &BalanceKind, card: &Document| {
        let account = account(balance_kind, card);
        let mut account_balance = balance_of(&account_balances, &account)?;
        account_balance.balance = account_balance.balance.plus(queued(&account)?)?;
        balance_kind
            .credited_total(card, now)?
            .map_or(Ok(0), |credited| Ok::<i64, Fault>(credited.balance(account_balance)?.max(0)))
    };
    let names = find_campaign_names_of(store, cards)?;
    let mut all: HashMap<String, CustomerBalances> = HashMap::new();
    for card in cards {
        let held = all.entry(card.holder.clone().unwrap_or_default()).or_default();
        held.credits = held.credits.plus(on(&GIFT, card)?)?;
        let points = on(&CARD, card)?;
        held.points = held.points.plus(points)?;
        if let Some(name) = card.parent.as_ref().and_then(|campaign| names.get(campaign)) {
            let of_campaign = held.campaigns.entry(name.clone()).or_default();
            *of_campaign = of_campaign.plus(points)?;
        }
    }
    Ok(all)
}

/// Returns the names of the campaigns of loyalty cards, by id.
fn find_campaign_names_of(store: &Store<'_>, cards: &[Document]) -> Result<HashMap<String, String>, Fault> {
    let loyalty_cards = cards.iter().filter(|card| card.as_voucher().is_loyalty_card());
    let ids: BTreeSet<&str> = loyalty_cards.filter_map(|card| card.parent.as_deref()).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    store.find_campaign_names(&ids.into_iter().collect::<Vec<_>>())
}
