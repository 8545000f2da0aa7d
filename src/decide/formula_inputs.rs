//! Decides what the formulas of a discount may read besides the amounts of the order: who buys, what was sent with the
//! order, the incentive, the moment. It must not know what a formula does with it.
//!
//! calculation.md section 6.

use std::cell::RefCell;

use crate::decide::case::{Case, Offer};
use crate::facts::{Known, publications_account, redemptions_account};
use crate::formula::{Name, Operand, Value};
use crate::ledger::{AccountId, Standing};
use crate::model::incentive::IncentiveObject;
use crate::model::order::{Goods, Item, Metadata};
use crate::pricing::{Cart, FormulaInputs};
use crate::text::{Text, joined};
use crate::time::{Instant, TimeZone};

/// What one redeemable's formulas see.
pub struct OfferInputs<'a> {
    /// The request with its names resolved.
    pub case: &'a Case<'a>,
    /// The redeemable.
    pub offer: &'a Offer<'a>,
    /// The order as it is before this redeemable.
    pub cart: &'a Cart,
    /// Facts that were asked for and only the server has.
    pub lacks: RefCell<Vec<Text>>,
}

impl<'a> OfferInputs<'a> {
    /// A view that has not been used.
    pub fn new(case: &'a Case<'a>, offer: &'a Offer<'a>, cart: &'a Cart) -> OfferInputs<'a> {
        OfferInputs { case, offer, cart, lacks: RefCell::default() }
    }

    fn item(&self, place: usize) -> Option<&Item> {
        let items = &self.case.order.as_ref()?.items;
        items.get(place).or_else(|| self.cart.added().get(place.checked_sub(items.len())?))
    }

    /// Custom data of a line's product: what was sent over what the catalogue has, of the SKU before the product.
    fn product_metadata(&self, place: usize, key: &str) -> Option<Value> {
        let item = self.item(place)?;
        let hidden = self.case.hidden_of_goods(place, Some(item), key);
        self.lacks.borrow_mut().extend(hidden.into_iter().flatten().flatten());
        let own = |goods: Option<&Goods>| value_of(goods.map(|goods| &goods.metadata), key);
        let priced = &self.case.priced;
        let sent = own(item.sku.as_deref()).or_else(|| own(item.product.as_deref()));
        sent.or_else(|| own(priced.sku(place))).or_else(|| own(priced.product(place)))
    }

    /// How often the code has been redeemed, or published.
    fn times(&self, account: fn(&str) -> AccountId) -> Option<u64> {
        let account = account(&self.offer.incentive.id);
        match self.case.facts.balance(&account) {
            Known::Is(balance) => Some(Standing { balance, ..Standing::default() }.taken()),
            Known::Absent | Known::Unreadable => Some(0),
            Known::Unknown => {
                self.lacks.borrow_mut().push(Text::from(account.as_str()));
                None
            }
        }
    }
}

impl OfferInputs<'_> {
    /// What was said with the latest publication of the code to whoever buys.
    fn publication_metadata(&self, key: &str) -> Option<Value> {
        let incentive = &self.offer.incentive;
        match self.case.publication(incentive) {
            Known::Is(metadata) => value_of(Some(&metadata), key),
            Known::Absent | Known::Unreadable => None,
            Known::Unknown => {
                self.lacks.borrow_mut().push(joined(&["publication/", &incentive.id]));
                None
            }
        }
    }
}

impl FormulaInputs for OfferInputs<'_> {
    fn takes(&self, steps: usize) -> bool {
        self.case.work.takes(steps)
    }

    fn find(&self, operand: &Operand, place: Option<usize>) -> Option<Value> {
        let key = operand.key.as_str();
        let incentive = &self.offer.incentive;
        let customer = self.case.buyer.customer.as_deref();
        if matches!(operand.name, Name::CustomerMetadata | Name::CustomerBirthdate) {
            self.lacks.borrow_mut().extend(self.case.buyer.unknown.clone());
        }
        let is_tier = incentive.object == IncentiveObject::PromotionTier;
        let moment = |wanted: bool, moment: Option<Instant>| moment.filter(|_| wanted).map(Value::of_moment);
        match operand.name {
            Name::OrderMetadata => value_of(self.case.order.as_ref().map(|order| &order.metadata), key),
            Name::CustomerMetadata => value_of(customer.map(|customer| &customer.metadata), key),
            Name::RedeemableMetadata => {
                self.lacks.borrow_mut().extend(self.case.hidden_of_offer(incentive, key));
                value_of(Some(&incentive.metadata), key)
            }
            Name::RedemptionMetadata => value_of(Some(&self.case.request.metadata), key),
            Name::ItemMetadata => value_of(self.item(place?).map(|item| &item.metadata), key),
            Name::ItemProductMetadata => self.product_metadata(place?, key),
            Name::VoucherRedemptionQuantity if !is_tier => incentive.quantity.map(Value::of_count),
            Name::VoucherRedeemedQuantity if !is_tier => self.times(redemptions_account).map(Value::of_count),
            Name::VoucherPublishCount if !is_tier => self.times(publications_account).map(Value::of_count),
            Name::PublicationMetadata if !is_tier => self.publication_metadata(key),
            Name::VoucherStartDate => moment(!is_tier, incentive.validity.start_date),
            Name::VoucherExpirationDate => moment(!is_tier, incentive.validity.expiration_date),
            Name::PromotionTierStartDate => moment(is_tier, incentive.validity.start_date),
            Name::PromotionTierExpirationDate => moment(is_tier, incentive.validity.expiration_date),
            Name::CustomerBirthdate => {
                let document = customer.map(|customer| &customer.document);
                value_of(document, "birthdate").or_else(|| value_of(document, "birthday"))
            }
            Name::Now => Some(Value::of_moment(self.case.context.now)),
            // The others are read from the amounts of the order.
            _ => None,
        }
    }

    fn zone(&self) -> &TimeZone {
        &self.case.zone
    }
}

/// A value of custom data.
pub(super) fn value_of(metadata: Option<&Metadata>, key: &str) -> Option<Value> {
    Value::of_json(metadata?.get(key)?)
}
