//! Provides the inputs of a discount's formulas other than the amounts of the order. They are the customer, the
//! metadata of the order, the redeemable and the instant.
//!
//! docs/spec/calculation.md#6.

use std::cell::RefCell;

use crate::decide::case::{Case, Offer};
use crate::facts::{Known, publications_account, redemptions_account};
use crate::formula::{FormulaName, FormulaOperand, FormulaValue};
use crate::ledger::{AccountId, AccountState};
use crate::model::order::{Goods, Item, Metadata};
use crate::model::redeemable::IncentiveObject;
use crate::pricing::{Cart, FormulaInputs};
use crate::text::{Text, joined};
use crate::time::{Instant, TimeZone};

/// The inputs of one redeemable's formulas.
pub struct OfferInputs<'a> {
    /// The request with its names resolved.
    pub case: &'a Case<'a>,
    /// The redeemable.
    pub offer: &'a Offer<'a>,
    /// The order before this redeemable is applied.
    pub cart: &'a Cart,
    /// Requested facts that only the server has.
    pub missing: RefCell<Vec<Text>>,
}

impl<'a> OfferInputs<'a> {
    /// Returns inputs without requested facts.
    pub fn new(case: &'a Case<'a>, offer: &'a Offer<'a>, cart: &'a Cart) -> OfferInputs<'a> {
        OfferInputs { case, offer, cart, missing: RefCell::default() }
    }

    fn item(&self, position: usize) -> Option<&Item> {
        let items = &self.case.order.as_ref()?.items;
        items.get(position).or_else(|| self.cart.added().get(position.checked_sub(items.len())?))
    }

    /// Returns metadata of a line's product: sent metadata before that of the catalogue, and the SKU before the
    /// product.
    fn product_metadata(&self, position: usize, key: &str) -> Option<FormulaValue> {
        let item = self.item(position)?;
        let hidden = self.case.hidden_of_goods(position, Some(item), key);
        self.missing.borrow_mut().extend(hidden.into_iter().flatten().flatten());
        let own = |goods: Option<&Goods>| value_of(goods.map(|goods| &goods.metadata), key);
        let priced = &self.case.priced;
        let sent = own(item.sku.as_deref()).or_else(|| own(item.product.as_deref()));
        sent.or_else(|| own(priced.sku(position))).or_else(|| own(priced.product(position)))
    }

    /// Returns how often the code has been redeemed, or published.
    fn times(&self, account: fn(&str) -> AccountId) -> Option<u64> {
        let account = account(&self.offer.incentive.id);
        match self.case.balance(&account) {
            Known::Is(balance) => Some(AccountState { balance, ..AccountState::default() }.taken()),
            Known::Absent | Known::Unreadable => Some(0),
            Known::Unknown => {
                self.missing.borrow_mut().push(Text::from(account.as_str()));
                None
            }
        }
    }
}

impl OfferInputs<'_> {
    /// Returns metadata of the latest publication of the code to the customer.
    fn publication_metadata(&self, key: &str) -> Option<FormulaValue> {
        let incentive = &self.offer.incentive;
        match self.case.publication(incentive) {
            Known::Is(metadata) => value_of(Some(&metadata), key),
            Known::Absent | Known::Unreadable => None,
            Known::Unknown => {
                self.missing.borrow_mut().push(joined(&["publication/", &incentive.id]));
                None
            }
        }
    }
}

impl FormulaInputs for OfferInputs<'_> {
    fn spend(&self, steps: usize) -> bool {
        self.case.budget.spend(steps)
    }

    fn find(&self, operand: &FormulaOperand, position: Option<usize>) -> Option<FormulaValue> {
        let key = operand.key.as_str();
        let incentive = &self.offer.incentive;
        let customer = self.case.request_customer.customer.as_deref();
        if matches!(operand.name, FormulaName::CustomerMetadata | FormulaName::CustomerBirthdate) {
            self.missing.borrow_mut().extend(self.case.request_customer.unknown.clone());
            self.missing.borrow_mut().extend(self.case.unread_profile());
        }
        let is_tier = incentive.object == IncentiveObject::PromotionTier;
        let date = |is_set: bool, date: Option<Instant>| date.filter(|_| is_set).map(FormulaValue::of_instant);
        match operand.name {
            FormulaName::OrderMetadata => value_of(self.case.order.as_ref().map(|order| &order.metadata), key),
            FormulaName::CustomerMetadata => value_of(customer.map(|customer| &customer.metadata), key),
            FormulaName::RedeemableMetadata => {
                self.missing.borrow_mut().extend(self.case.hidden_of_offer(incentive, key));
                value_of(Some(&incentive.metadata), key)
            }
            FormulaName::RedemptionMetadata => value_of(Some(&self.case.request.metadata), key),
            FormulaName::ItemMetadata => value_of(self.item(position?).map(|item| &item.metadata), key),
            FormulaName::ItemProductMetadata => self.product_metadata(position?, key),
            FormulaName::VoucherRedemptionQuantity if !is_tier => incentive.quantity.map(FormulaValue::of_count),
            FormulaName::VoucherRedeemedQuantity if !is_tier => {
                self.times(redemptions_account).map(FormulaValue::of_count)
            }
            FormulaName::VoucherPublishCount if !is_tier => {
                self.times(publications_account).map(FormulaValue::of_count)
            }
            FormulaName::PublicationMetadata if !is_tier => self.publication_metadata(key),
            FormulaName::VoucherStartDate => date(!is_tier, incentive.validity.start_date),
            FormulaName::VoucherExpirationDate => date(!is_tier, incentive.validity.expiration_date),
            FormulaName::PromotionTierStartDate => date(is_tier, incentive.validity.start_date),
            FormulaName::PromotionTierExpirationDate => date(is_tier, incentive.validity.expiration_date),
            FormulaName::CustomerBirthdate => {
                let document = customer.map(|customer| &customer.document);
                value_of(document, "birthdate").or_else(|| value_of(document, "birthday"))
            }
            FormulaName::Now => Some(FormulaValue::of_instant(self.case.context.now)),
            // The others are read from the amounts of the order.
            _ => None,
        }
    }

    fn zone(&self) -> &TimeZone {
        self.case.zone_use.set(true);
        &self.case.zone
    }
}

/// Returns a value of metadata.
pub(in crate::decide) fn value_of(metadata: Option<&Metadata>, key: &str) -> Option<FormulaValue> {
    FormulaValue::of_json(metadata?.get(key)?)
}
