//! Solves the workloads by hand in plain Rust: the fixed form of the rule over strings, and two effects. It answers amounts and statuses in
//! the format of the API, without reasons, validity, counts and bounds. The engine is measured against this floor.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A promotion that is read once.
struct Offer {
    code: String,
    more_than: u64,
    segments: Vec<String>,
    product: String,
    target: Option<String>,
    effect: Effect,
}

enum Effect {
    /// Hundredths of a percent.
    Share(u64),
    Amount(u64),
}

/// Rules that are read once.
pub struct Floor {
    offers: Vec<Offer>,
    limit: usize,
}

/// The request with the fields that this code reads.
#[derive(Deserialize)]
pub struct Request<'a> {
    #[serde(borrow)]
    redeemables: Vec<Redeemable<'a>>,
    #[serde(borrow)]
    customer: Customer<'a>,
    #[serde(borrow)]
    order: Order<'a>,
}

#[derive(Deserialize)]
struct Redeemable<'a> {
    id: &'a str,
}

#[derive(Deserialize)]
struct Customer<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    segment: &'a str,
}

#[derive(Deserialize)]
struct Order<'a> {
    #[serde(borrow)]
    items: Vec<Item<'a>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    product_id: &'a str,
    sku_id: &'a str,
    price: u64,
    quantity: u64,
}

/// The answer of this code.
#[derive(Serialize)]
pub struct Answer<'a> {
    valid: bool,
    redeemables: Vec<Applied<'a>>,
    order: Totals<'a>,
    inapplicable_redeemables: Vec<Left<'a>>,
    skipped_redeemables: Vec<Left<'a>>,
}

#[derive(Serialize)]
struct Applied<'a> {
    id: &'a str,
    status: &'static str,
    order: After,
}

#[derive(Serialize)]
struct After {
    total_applied_discount_amount: u64,
    total_amount: u64,
}

#[derive(Serialize)]
struct Left<'a> {
    id: &'a str,
    status: &'static str,
}

#[derive(Serialize)]
struct Totals<'a> {
    amount: u64,
    total_discount_amount: u64,
    total_amount: u64,
    items: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    product_id: &'a str,
    sku_id: &'a str,
    price: u64,
    quantity: u64,
    amount: u64,
    discount_amount: u64,
    subtotal_amount: u64,
}

impl Floor {
    /// Reads the rules that this code understands.
    pub fn new(rules: &Value) -> Option<Floor> {
        let codes = rules["vouchers"].as_array()?.iter().zip(rules["validation_rules"].as_array()?);
        let offer = |(voucher, rule): (&Value, &Value)| {
            let condition = |key: &str, operator: &str| rule["rules"][key]["conditions"][operator].as_array().cloned();
            let discount = &voucher["discount"];
            let target = rule["applicable_to"]["included"].get(0).and_then(|entry| entry["id"].as_str());
            let effect = match discount["amount_off"].as_u64() {
                Some(amount) => Effect::Amount(amount),
                None => Effect::Share((discount["percent_off"].as_f64()? * 100.0).round() as u64),
            };
            let segments = condition("2", "$in")?.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
            Some(Offer {
                code: voucher["code"].as_str()?.to_owned(),
                more_than: condition("1", "$more_than")?.first()?.as_u64()?,
                segments,
                product: condition("3", "$is")?.first()?["id"].as_str()?.to_owned(),
                target: target.map(str::to_owned),
                effect,
            })
        };
        let offers: Option<Vec<Offer>> = codes.map(offer).collect();
        let limit = rules["stacking_rules"]["applicable_redeemables_limit"].as_u64()?;
        Some(Floor { offers: offers?, limit: limit as usize })
    }

    /// Decides a request that has been read.
    pub fn validate<'a>(&self, request: &Request<'a>) -> Answer<'a> {
        let items = &request.order.items;
        let amounts: Vec<u64> = items.iter().map(|item| item.price * item.quantity).collect();
        let mut left = amounts.clone();
        let amount: u64 = amounts.iter().sum();
        let mut total = amount;
        let (mut applied, mut inapplicable, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for Redeemable { id } in &request.redeemables {
            if applied.len() == self.limit {
                skipped.push(Left { id, status: "SKIPPED" });
                continue;
            }
            let offer = self.offers.iter().find(|offer| offer.code == *id);
            match offer.filter(|offer| offer.holds(amount, request)) {
                None => inapplicable.push(Left { id, status: "INAPPLICABLE" }),
                Some(offer) => {
                    let off = offer.take(&mut left, total, items);
                    total -= off;
                    let order = After { total_applied_discount_amount: off, total_amount: total };
                    applied.push(Applied { id, status: "APPLICABLE", order });
                }
            }
        }
        let lines = items.iter().zip(&amounts).zip(&left).map(|((item, amount), left)| Line {
            product_id: item.product_id,
            sku_id: item.sku_id,
            price: item.price,
            quantity: item.quantity,
            amount: *amount,
            discount_amount: amount - left,
            subtotal_amount: *left,
        });
        Answer {
            valid: !applied.is_empty(),
            redeemables: applied,
            order: Totals {
                amount,
                total_discount_amount: amount - total,
                total_amount: total,
                items: lines.collect(),
            },
            inapplicable_redeemables: inapplicable,
            skipped_redeemables: skipped,
        }
    }
}

impl Offer {
    fn holds(&self, amount: u64, request: &Request<'_>) -> bool {
        amount > self.more_than
            && self.segments.iter().any(|segment| segment == request.customer.metadata.segment)
            && request.order.items.iter().any(|item| item.product_id == self.product)
    }

    fn take(&self, left: &mut [u64], total: u64, items: &[Item<'_>]) -> u64 {
        match self.effect {
            Effect::Amount(amount) => spread(amount.min(total), left, total),
            Effect::Share(share) => {
                let mut sum = 0;
                for (left, item) in left.iter_mut().zip(items) {
                    if self.target.as_deref().is_none_or(|target| target == item.product_id) {
                        let off = (*left * share + 5000) / 10000;
                        *left -= off;
                        sum += off;
                    }
                }
                sum
            }
        }
    }
}

/// Distributes by the largest remainder; the lower line is first among equal ones.
fn spread(pot: u64, left: &mut [u64], total: u64) -> u64 {
    let mut rests: Vec<(u64, usize)> = Vec::with_capacity(left.len());
    let mut missing = pot;
    for (place, left) in left.iter_mut().enumerate() {
        let product = pot * *left;
        rests.push((product % total, place));
        *left -= product / total;
        missing -= product / total;
    }
    rests.sort_unstable_by_key(|(rest, place)| (std::cmp::Reverse(*rest), *place));
    for (_, place) in rests.iter().take(missing as usize) {
        left[*place] -= 1;
    }
    pot
}
