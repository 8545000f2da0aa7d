//! Orders paid with points, and the points that come back with them: what moves and what is written down, all at the commit. It must not
//! know routes, nor what decides how much is paid.

use crate::document::part;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::moment;
use crate::shop::card_changes::write;
use crate::shop::card_checks::{definition_of, refusal};
use crate::shop::card_rows::{SpentOn, Told};
use crate::shop::cards::{Held, Present, TRANSACTION, load};
use crate::shop::lives::{CARD, named};
use crate::shop::purchase_refunds::spent_by;
use crate::shop::returns::{read_bought, write_bought};
use crate::shop::wallets::{ORDER_TRANSACTION, Wallet};
use crate::store::Store;
use crate::store::document::{Document, read_held};
use crate::store::post::Post;
use crate::store::sql::Fault;
use scrip::decide::payment::Payment;
use scrip::decide::returned::Bought;
use scrip::facts::cards::{paid_account, payments_account};
use scrip::model::order::Order;
use scrip::money::Money;
use scrip::points::{Spent, SpentBack, Take};
use scrip::wire::order::read_order;
use serde_json::{Map, Value as Json, json};

/// An order as a payment looks at it.
pub struct Bill {
    /// Its row.
    pub row: Document,
    /// The order.
    pub order: Order,
    /// All that was to pay before anything was paid with points.
    pub total: Money,
    /// What is left of that.
    pub due: Money,
}

/// The bill of an order that is stored.
pub fn bill(store: &Store<'_>, row: Document) -> Result<Bill, CallError> {
    let order =
        read_held("order", &row, read_order).map_err(|_| Fault(format!("the order `{}` does not read", row.id)))?;
    let number = |name: &str| row.body.get(name).and_then(Json::as_u64);
    let total = number("total_amount").or_else(|| number("amount")).and_then(Money::of).unwrap_or_default();
    let due = total.saturating_sub(paid(store, &row.id)?);
    Ok(Bill { row, order, total, due })
}

/// What was paid of an order with points, and did not come back.
fn paid(store: &Store<'_>, order: &str) -> Result<Money, Fault> {
    let account = paid_account(order).to_string();
    let standings = store.standings(std::slice::from_ref(&account), 0, "")?;
    let paid = standings.get(&account).map_or(0, |standing| standing.balance);
    Ok(u64::try_from(paid).ok().and_then(Money::of).unwrap_or_default())
}

/// What was decided on a payment.
pub enum Verdict {
    /// It is paid.
    Paid(Payment),
    /// It is not, for this reason.
    Rejected(Json),
}

/// The document of a payment, without its id and without what only one that is made has.
pub fn told(member: &Document, wallet: &Wallet, bill: &Bill, limits: &Json, verdict: &Verdict) -> Map<String, Json> {
    let card = wallet.cards.first();
    let (status, rejection) = match verdict {
        Verdict::Paid(_) => ("APPROVED", Json::Null),
        Verdict::Rejected(why) => ("REJECTED", why.clone()),
    };
    let mut details = json!({ "reason": "Order payment", "rejection": rejection, "metadata": limits });
    if let (Verdict::Paid(payment), Some(details)) = (verdict, details.as_object_mut()) {
        let ratio: Json =
            serde_json::from_str(&payment.ratio.text()).unwrap_or_else(|_| payment.ratio.text().as_str().into());
        let paid = json!({ "amount": payment.amount, "points_spent": payment.points, "exchange_ratio": ratio });
        details.insert("payment".into(), paid);
    }
    let mut body = Map::new();
    body.insert("program_id".into(), member.parent.clone().into());
    body.insert("member_id".into(), member.id.as_str().into());
    body.insert("card_id".into(), card.map(|held| held.row.id.as_str()).into());
    body.insert("card_definition_id".into(), card.map(|held| held.definition()).into());
    body.insert("card_transaction_id".into(), Json::Null);
    body.insert("order_id".into(), bill.row.id.as_str().into());
    body.insert("status".into(), status.into());
    body.insert("type".into(), "PAY_WITH_POINTS".into());
    body.insert("details".into(), details);
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), ORDER_TRANSACTION.into());
    body
}

fn about(transaction: &str, order: &str) -> Map<String, Json> {
    let named = |id: &str| json!({ "id": id });
    let mut about = part::one("order", named(order));
    about.insert("order_transaction".into(), named(transaction));
    about
}

/// Pays at the commit, or writes down why not. Gives the transaction.
pub fn pay(
    call: &mut Call<'_, '_>,
    present: &Present,
    (member, wallet, bill): (&Document, &mut Wallet, &Bill),
    (verdict, mut body): (&Verdict, Map<String, Json>),
) -> Result<Document, CallError> {
    let id = call.ids.hex18("lotx_").to_string();
    if let (Verdict::Paid(payment), Some(held)) = (verdict, wallet.cards.first_mut()) {
        let outcome = held.card.take(Take::Spend, payment.points, &present.now());
        let outcome = outcome.map_err(|refused| refusal(&held.row.id, refused))?;
        let told = Told { reason: None, spent_on: Some(SpentOn::Order), about: about(&id, &bill.row.id) };
        let made = write(call.store, present, held, outcome, Some((&told, &mut call.ids)))?;
        body.insert("card_transaction_id".into(), made.into_iter().next().map(|row| row.id).into());
        let payment_id = call.ids.hex18("lpay_");
        if let Some(told) = body.get_mut("details").and_then(|details| details.get_mut("payment")?.as_object_mut()) {
            told.insert("id".into(), payment_id.as_str().into());
        }
        let mut bought = Bought::of(&bill.order);
        // Which goods there were matters to whom they are asked for alone.
        if definition_of(call.store, held)?.spent_back != Some(SpentBack::Item) {
            bought.goods.clear();
        }
        let kept =
            json!({ "spent": payment.points, "back": 0, "amount": payment.amount, "bought": write_bought(&bought) });
        body.insert("kept".into(), kept);
        post(call, &id, &bill.row.id, payment.amount, false);
    }
    body.insert("id".into(), id.as_str().into());
    body.insert("created_at".into(), moment::text(call.now_ms()).into());
    let mut document = Document::new(id, None, call.now_ms(), body);
    (document.parent, document.holder) = (Some(member.id.clone()), member.holder.clone());
    call.store.insert(ORDER_TRANSACTION, &document);
    Ok(document)
}

fn post(call: &mut Call<'_, '_>, chain: &str, order: &str, amount: u64, is_back: bool) {
    let (paid, from) = (paid_account(order).to_string(), payments_account().to_string());
    let (debit, credit) = if is_back { (paid, from) } else { (from, paid) };
    let amount = i64::try_from(amount).unwrap_or(i64::MAX);
    let at = call.now_ms();
    call.store.post(vec![Post {
        id: format!("{chain}.paid"),
        chain: chain.to_owned(),
        debit,
        credit,
        amount,
        reverses: None,
        at,
    }]);
}

/// Gives back at the commit what was paid of an order with points, as far as the definitions of the cards let it come back now that so much
/// is left of the order; nothing is of one that is called off.
pub fn give_back(call: &mut Call<'_, '_>, order_id: &str, left: Option<&Bought>) -> Result<(), Fault> {
    match try_give_back(call, order_id, left) {
        Ok(()) => Ok(()),
        Err(CallError::Refused(why)) => {
            let why = why.details.as_deref().unwrap_or_default();
            call.store.note(format!("what `{order_id}` was paid with does not come back: {why}"));
            Ok(())
        }
        Err(CallError::Fault(fault)) => Err(fault),
    }
}

fn try_give_back(call: &mut Call<'_, '_>, order_id: &str, left: Option<&Bought>) -> Result<(), CallError> {
    let payments = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = +?1 AND id IN (SELECT chain FROM transfer WHERE credit = +?2)
           AND json_extract(body, '$.kept.spent') > json_extract(body, '$.kept.back') ORDER BY seq",
        &[ORDER_TRANSACTION.into(), paid_account(order_id).to_string().into()],
    )?;
    if payments.is_empty() {
        return Ok(());
    }
    let present = Present::of(call)?;
    let mut spendings = Vec::new();
    for payment in payments {
        let of = payment.body.get("card_transaction_id").and_then(Json::as_str).unwrap_or_default();
        let spending = call.store.document(TRANSACTION, of)?.map(|row| spent_by(&row)).unwrap_or_default();
        spendings.push((payment, spending));
    }
    let parts = spendings.iter().flat_map(|(_, spending)| &spending.parts);
    let lots: Vec<String> = parts.map(|part| part.lot.to_string()).collect();
    let lots: Vec<&str> = lots.iter().map(String::as_str).collect();
    let mut cards: Vec<Held> = Vec::new();
    for (payment, spending) in spendings {
        let id = payment.body.get("card_id").and_then(Json::as_str).unwrap_or_default();
        if !cards.iter().any(|held| held.row.id == id) {
            // Points of a card that is gone come back to nobody.
            let Some(row) = named(call.store, &CARD, id)? else { continue };
            cards.push(load(call.store, row, &lots)?);
        }
        if let Some(held) = cards.iter_mut().find(|held| held.row.id == id) {
            return_one(call, (&present, held), (payment, spending), left)?;
        }
    }
    Ok(())
}

/// Gives back what one payment was paid with, as far as it has not come back, now that so much is left of the order.
fn return_one(
    call: &mut Call<'_, '_>,
    (present, held): (&Present, &mut Held),
    (mut payment, mut spending): (Document, Spent),
    left: Option<&Bought>,
) -> Result<(), CallError> {
    let kept = |name: &str| payment.body.get("kept").and_then(|kept| kept.get(name)?.as_u64()).unwrap_or(0);
    let (spent, earlier, worth) = (kept("spent"), kept("back"), Money::of(kept("amount")).unwrap_or_default());
    let Some(mode) = definition_of(call.store, held)?.spent_back else { return Ok(()) };
    let bought = payment.body.get("kept").and_then(|kept| read_bought(kept.get("bought")?)).unwrap_or_default();
    let due = bought.spent_back(mode, left).of(spent);
    let now_back = due.saturating_sub(earlier);
    if now_back == 0 {
        return Ok(());
    }
    spending.refunded = earlier;
    let order = payment.body.get("order_id").and_then(Json::as_str).unwrap_or_default().to_owned();
    let outcome = held.card.refund(&spending, now_back, &present.now());
    let outcome = outcome.map_err(|refused| refusal(&held.row.id, refused))?;
    let told = Told { reason: None, spent_on: None, about: about(&payment.id, &order) };
    write(call.store, present, held, outcome, Some((&told, &mut call.ids)))?;
    let portion = |points: u64| worth.portion(points, spent).unwrap_or_default();
    let amount = portion(due).saturating_sub(portion(earlier)).minor();
    if amount > 0 {
        post(call, &format!("{}.back.{due}", payment.id), &order, amount, true);
    }
    if let Some(kept) = payment.body.get_mut("kept").and_then(Json::as_object_mut) {
        kept.insert("back".into(), due.into());
    }
    call.touch(&mut payment);
    call.store.update(ORDER_TRANSACTION, &payment);
    Ok(())
}
