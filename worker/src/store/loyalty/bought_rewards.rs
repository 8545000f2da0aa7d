//! Vouchers that points bought, and the value that can be taken back from them.
//!
//! A row has the voucher and the value that a redemption or purchase bought. Older redemptions have them in their own record.

use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::Document;
use crate::store::ledger::balance_of;
use crate::store::records::Members;
use crate::store::sql::Fault;
use scrip::count::Countable;
use scrip::facts::{credits_account, points_account, redemptions_account};
use scrip::json::Node;
use scrip::model::redeemable::Grant;
use scrip::model::redemption::StoredRedemption;
use scrip::model::reward::BoughtReward;
use scrip::time::Instant;
use scrip::wire::voucher::card_of;
use serde_json::{Value as Json, json};

/// Kind of the rows. The id is that of the redemption or purchase, the parent the voucher.
const BOUGHT_REWARD: &str = "bought_reward";

/// Bought voucher.
#[derive(Debug, Clone, Copy)]
pub struct BoughtVoucher<'v> {
    /// The voucher.
    pub voucher: &'v Document,
    /// Credits or points bought; `None` for a coupon.
    pub value: Option<u64>,
    /// True for the generic code of a campaign, which all customers use.
    pub is_public: bool,
}

/// Bought voucher as its row or the record of a redemption has it.
pub struct RewardRow {
    /// Id of the voucher.
    pub voucher_id: String,
    /// Credits or points bought; `None` for a coupon.
    pub value: Option<u64>,
    /// True for the generic code of a campaign, which all customers use.
    pub is_public: bool,
}

impl Store<'_> {
    /// Queues the row of a bought voucher.
    pub fn insert_bought_reward(&mut self, id: &str, bought: BoughtVoucher<'_>, now_ms: i64) {
        let body = json!({ "value": bought.value, "is_public": bought.is_public });
        let mut row = Document::new(id.to_owned(), None, now_ms, body.as_object().cloned().unwrap_or_default());
        row.parent = Some(bought.voucher.id.clone());
        self.insert(BOUGHT_REWARD, &row);
    }

    /// Finds the reward that a redemption bought, with the value that can be taken back now.
    pub fn find_bought_reward(
        &self,
        redemption: &StoredRedemption,
        now: Instant,
    ) -> Result<Option<BoughtReward>, Fault> {
        let row = self.find_row(&redemption.id)?;
        match row.or_else(|| recorded_reward(redemption)) {
            Some(row) => self.read_bought_reward(row, now).map(Some),
            None => Ok(None),
        }
    }

    /// Finds the voucher that a purchase bought; `recorded` is its record in the transaction, for purchases without a row.
    pub fn find_bought_voucher(
        &self,
        purchase_id: &str,
        recorded: RewardRow,
        now: Instant,
    ) -> Result<BoughtReward, Fault> {
        let row = self.find_row(purchase_id)?;
        self.read_bought_reward(row.unwrap_or(recorded), now)
    }

    fn find_row(&self, id: &str) -> Result<Option<RewardRow>, Fault> {
        let Some(Document { body, parent, .. }) = self.document(BOUGHT_REWARD, id)? else { return Ok(None) };
        Ok(Some(RewardRow {
            voucher_id: parent.unwrap_or_default(),
            value: Members::of(&body).amount("value")?,
            is_public: body.get("is_public").and_then(Json::as_bool).unwrap_or(false),
        }))
    }

    fn read_bought_reward(&self, row: RewardRow, now: Instant) -> Result<BoughtReward, Fault> {
        let voucher = self.document("voucher", &row.voucher_id)?;
        let accounts = [redemptions_account, credits_account, points_account];
        let accounts = accounts.map(|account| account(&row.voucher_id).to_string());
        let balances = self.account_balances(&accounts, now.millis(), "")?;
        let [used, credits, points] = accounts.map(|account| balance_of(&balances, &account));
        let (used, credits, points) = (used?, credits?, points?);
        let is_used = used.balance != 0 || used.held != 0;
        let left = |credited: u64, of: crate::store::ledger::AccountBalance| {
            let left = amount::signed(credited)?.plus(of.balance)?.minus(of.held)?;
            Ok::<u64, Fault>(left.max(0).unsigned_abs())
        };
        let available = match (row.value, voucher.and_then(|voucher| card_of(&voucher.body, now))) {
            _ if row.is_public => 0,
            (None, _) => u64::from(!is_used),
            (Some(_), Some(Grant::Gift(gift))) => left(gift.credited_total().minor(), credits)?,
            (Some(_), Some(Grant::Loyalty(card))) => left(card.credited_total(), points)?,
            // The rest of a deleted card is lost to the customer.
            (Some(value), Some(Grant::Discount(_)) | None) => {
                value.remaining_after(credits.balance.unsigned_abs()).remaining_after(points.balance.unsigned_abs())
            }
        };
        // A coupon has no value: it counts as one unit.
        Ok(BoughtReward { voucher_id: row.voucher_id.as_str().into(), bought: row.value.unwrap_or(1), available })
    }
}

/// Reads the bought reward from the record of a redemption.
fn recorded_reward(redemption: &StoredRedemption) -> Option<RewardRow> {
    let reward = redemption.document.get("reward")?;
    let voucher = reward.get("voucher")?;
    let balance = reward.get("parameters").and_then(|parameters| parameters.get("campaign")?.get("balance"));
    Some(RewardRow {
        voucher_id: voucher.get("id").and_then(Node::as_str)?.to_owned(),
        value: balance.and_then(Node::as_u64),
        is_public: voucher.get("holder_id").is_none_or(|holder| matches!(holder, Node::Null)),
    })
}
