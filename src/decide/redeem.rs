//! Decides a redemption: the same evaluation as a validation, and the one chain of transfers that makes it true. It
//! must not know how redemptions are written or stored.
//!
//! calculation.md section 14.

use std::sync::Arc;

use crate::decide::caps::cap_postings;
use crate::decide::case::{Case, Offer};
use crate::decide::postings::{counted, reserved, spent};
use crate::decide::referral;
use crate::decide::tally::{Counted, recounted, sum};
use crate::decide::validate::{Evaluated, exceeded};
use crate::decide::{Changes, Decision, RewardGrant, Tally};
use crate::facts::{Fact, Facts, Known, credits_account, incentive_account, points_account};
use crate::id::{Context, Ids};
use crate::ledger::{AccountId, Book, Standing, Transfer};
use crate::model::customer::Customer;
use crate::model::incentive::Grant;
use crate::model::order::{LINE_ID, Order, OrderStatus};
use crate::model::request::Redeemables;
use crate::model::reward::RewardKind;
use crate::refusal::{Reason, Refusal};
use crate::stacking::{Outcome, Step};
use crate::text::{Text, joined};
use crate::time::Instant;

/// What was redeemed of one redeemable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedeemedPart {
    /// The id of its redemption.
    pub id: Text,
    /// Its place in the request.
    pub place: usize,
    /// Gift credits spent, in minor units.
    pub credits: Option<u64>,
    /// How often its voucher has been redeemed, this time included.
    pub redeemed_quantity: u64,
    /// All credits spent of its gift card, these included, in minor units.
    pub redeemed_amount: Option<u64>,
    /// Points of a loyalty card spent.
    pub points: Option<u64>,
    /// All points spent of its loyalty card, these included.
    pub redeemed_points: Option<u64>,
}

/// The answer to a redemption.
#[derive(Clone)]
pub struct Redeemed<'a> {
    /// Everything that was tried.
    pub evaluated: Box<Evaluated<'a>>,
    /// When.
    pub date: Instant,
    /// What was redeemed, in the order of application; empty when it failed.
    pub parts: Vec<RedeemedPart>,
    /// The id of the stack, when there is more than one part.
    pub parent: Option<Text>,
    /// The ids of the order's lines, those included that unit effects added.
    pub line_ids: Vec<Text>,
    /// The id of the order that it was redeemed for.
    pub order_id: Option<Text>,
    /// The id of the customer who redeemed.
    pub customer_id: Option<Text>,
    /// Why nothing was redeemed.
    pub failure: Option<Failure>,
}

/// Why nothing was redeemed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The id of the failed redemption.
    pub id: Text,
    /// What whoever asked is told.
    pub told: Refusal,
    /// Why it was, for the shop.
    pub reason: Reason,
}

impl Redeemed<'_> {
    /// The id under which the redemption as a whole is rolled back.
    pub fn whole_id(&self) -> Option<&Text> {
        let single = || self.parts.first().map(|part| &part.id);
        self.parent.as_ref().or_else(single)
    }
}

/// Redeems a request. That nothing could be redeemed is an answer, with its failure; only a request that is wrong
/// as a whole is an `Err`.
pub fn redeem<'a>(
    facts: &'a dyn Facts,
    request: &'a Redeemables,
    context: &'a Context,
) -> Result<Decision<Redeemed<'a>>, Refusal> {
    let mut ids = Ids::new(context);
    let mut evaluated = Evaluated::open(facts, request, context)?;
    evaluated.evaluate();
    evaluated.case.within_bounds()?;
    let applied = evaluated.applied().count();
    if !evaluated.valid || applied == 0 {
        return Ok(fail(evaluated, context.now, &mut ids));
    }
    let case = &evaluated.case;
    // A stack is redeemed as a whole, even when one of its tiers alone was applied (calculation.md section 14).
    let parent = (applied > 1 || case.stack.is_some()).then(|| ids.hex18("r_"));
    let parts = parts(&evaluated, &mut ids);
    let whole = parent.clone().or_else(|| parts.first().map(|part| part.id.clone())).unwrap_or_default();
    let customer_id = customer_id(case, &mut ids);
    let mut book = Book::default();
    if let Err(refusal) = post(&evaluated, &parts, (&whole, customer_id.as_deref()), &mut book) {
        let reason = Reason::QuantityExceeded;
        return Ok(fail_with(evaluated, context.now, &mut ids, (refusal, reason)));
    }
    if let Some(own) = case.own_session() {
        book.release(own);
    }
    let grants = grants(case, &parts);
    let referrals = referral::by_redemption(case, parts.iter().map(|part| (part.place, &part.id)));
    let order = evaluated.case.order.take().map(|order| {
        let order = close(order.into_owned(), &evaluated, customer_id.clone(), context.now, &mut ids);
        let referrer_id = referrals.first().map(|referral| referral.referrer_id.clone());
        Order { referrer_id: order.referrer_id.clone().or(referrer_id), ..order }
    });
    let customer = changed_customer(&evaluated, customer_id.clone());
    let order_id = order.as_ref().and_then(|order| order.id.clone());
    let counted = order.as_ref().and_then(|order| Counted::of(order, evaluated.walk.cart.total()));
    let orders = recounted(evaluated.case.counted.take(), counted);
    evaluated.case.order = order.map(|order| Fact::Own(Arc::new(order)));
    let line_ids = line_ids(&evaluated, &mut ids);
    let changes = Changes {
        entries: book.into_entries(),
        grants,
        referrals,
        customer: customer.map(Box::new),
        tally: tally(&parts),
        orders,
    };
    let answer =
        Redeemed { evaluated, date: context.now, parts, parent, line_ids, order_id, customer_id, failure: None };
    Ok(Decision { answer, changes: Some(Box::new(changes)) })
}

/// What the customer's summary counts of it.
fn tally(parts: &[RedeemedPart]) -> Tally {
    Tally {
        succeeded: i64::try_from(parts.len()).unwrap_or(i64::MAX),
        credits: sum(parts.iter().filter_map(|part| part.credits)),
        points: sum(parts.iter().filter_map(|part| part.points)),
        ..Tally::default()
    }
}

fn parts(evaluated: &Evaluated<'_>, ids: &mut Ids) -> Vec<RedeemedPart> {
    let case = &evaluated.case;
    let part = |step: &Step| {
        let Outcome::Applied(gain) = &step.outcome else { return None };
        let offer = case.offer(step.place)?;
        let incentive = &offer.incentive;
        let given = gain.total().unwrap_or_default().minor();
        let spent = spent(offer, evaluated.found.get(step.place), given);
        let taken = |account: &AccountId| {
            let balance = case.facts.balance(account).found().unwrap_or(0);
            Standing { balance, ..Standing::default() }.taken()
        };
        let credits = matches!(incentive.grant, Grant::Gift(_)).then_some(spent);
        let points = matches!(incentive.grant, Grant::Loyalty(_)).then_some(spent);
        Some(RedeemedPart {
            id: ids.hex18("r_"),
            place: step.place,
            credits,
            redeemed_quantity: taken(&incentive_account(incentive)).saturating_add(1),
            redeemed_amount: credits.map(|spent| taken(&credits_account(&incentive.id)).saturating_add(spent)),
            points,
            redeemed_points: points.map(|spent| taken(&points_account(&incentive.id)).saturating_add(spent)),
        })
    };
    evaluated.walk.steps.iter().filter_map(part).collect()
}

/// Posts one chain for the whole redemption: all that its parts reserve and count, or nothing.
fn post(
    evaluated: &Evaluated<'_>,
    parts: &[RedeemedPart],
    (whole, customer_id): (&Text, Option<&str>),
    book: &mut Book,
) -> Result<(), Refusal> {
    let case = &evaluated.case;
    let mut chain: Vec<Transfer> = Vec::new();
    let mut owners: Vec<(usize, &Offer<'_>)> = Vec::new();
    let mut campaigns: Vec<&Text> = Vec::new();
    for part in parts {
        let Some(offer) = case.offer(part.place) else { continue };
        let step = evaluated.walk.steps.iter().find(|step| step.place == part.place);
        let (discount, caps) = match step.map(|step| &step.outcome) {
            Some(Outcome::Applied(gain)) => {
                (gain.total().unwrap_or_default().minor(), cap_postings(case, part.place, gain, customer_id))
            }
            _ => (0, Vec::new()),
        };
        let campaign = offer.incentive.campaign_id.as_ref();
        let is_first = campaign.is_some_and(|campaign| !campaigns.contains(&campaign));
        campaigns.extend(campaign);
        let postings = reserved(offer, evaluated.found.get(part.place), discount, customer_id).into_iter();
        for posting in postings.chain(counted(case, offer, discount, is_first)).chain(caps) {
            if let Known::Is(standing) = case.standing(&posting.debit, posting.allotment) {
                book.open(posting.debit.clone(), standing);
            }
            if let Some(credit) = posting.credit.filter(|_| posting.amount > 0) {
                owners.push((part.place, offer));
                chain.push(Transfer {
                    id: joined(&[&part.id, ".", &chain.len().to_string()]),
                    chain: whole.clone(),
                    debit: posting.debit,
                    credit,
                    amount: posting.amount,
                    reverses: None,
                    at: case.context.now,
                });
            }
        }
    }
    let debits: Vec<AccountId> = chain.iter().map(|transfer| transfer.debit.clone()).collect();
    // The walk took each from what was left for the next, so that this refuses only what no check looks at.
    book.post(chain).map_err(|shortfall| {
        let mut of = debits.iter().zip(owners).filter(|(debit, _)| **debit == shortfall.account);
        // The last that takes from the account is the one for which there was nothing left.
        let told = |(_, (place, offer)): (_, (usize, &Offer<'_>))| case.told(place, exceeded(offer));
        of.next_back().map_or_else(|| Refusal::new(Reason::QuantityExceeded, ""), told)
    })
}

/// The rewards that the host is to hand over.
fn grants(case: &Case<'_>, parts: &[RedeemedPart]) -> Vec<RewardGrant> {
    parts.iter().filter_map(|part| grant(case, part.place, &part.id)).collect()
}

/// The rewards that the host would hand over if what was tried were redeemed.
pub fn promised(evaluated: &Evaluated<'_>) -> Vec<RewardGrant> {
    evaluated.applied().filter_map(|step| grant(&evaluated.case, step.place, &Text::default())).collect()
}

fn grant(case: &Case<'_>, place: usize, redemption_id: &Text) -> Option<RewardGrant> {
    let offer = case.offer(place)?;
    let reward = &offer.exchange.as_ref()?.reward;
    let RewardKind::Campaign { campaign_id, balance } = &reward.kind else { return None };
    Some(RewardGrant {
        redemption_id: redemption_id.clone(),
        reward_id: reward.id.clone(),
        campaign_id: campaign_id.clone(),
        balance: *balance,
        customer_id: offer.incentive.holder_id.clone(),
    })
}

fn fail<'a>(evaluated: Box<Evaluated<'a>>, now: Instant, ids: &mut Ids) -> Decision<Redeemed<'a>> {
    let why = match evaluated.first_refusal() {
        Some((refusal, truth)) if evaluated.all_or_nothing() => (refusal.clone(), truth.reason),
        _ => {
            let reason = Reason::NoApplicableRedeemables;
            (Refusal::new(reason, reasons(&evaluated)), reason)
        }
    };
    fail_with(evaluated, now, ids, why)
}

/// Why nothing was applied, of each by its name, in the order of trying.
fn reasons(evaluated: &Evaluated<'_>) -> String {
    let told = |step: &Step| {
        let why = match &step.outcome {
            Outcome::Applied(_) => return None,
            Outcome::Refused(refusal) => refusal.reason.message(),
            Outcome::Skipped(skip) => skip.message(),
        };
        Some([&evaluated.redeemable(step)?.id, ": ", why].concat())
    };
    evaluated.walk.steps.iter().filter_map(told).collect::<Vec<_>>().join("; ")
}

fn fail_with<'a>(
    evaluated: Box<Evaluated<'a>>,
    now: Instant,
    ids: &mut Ids,
    (told, reason): (Refusal, Reason),
) -> Decision<Redeemed<'a>> {
    let customer_id = evaluated.buyer.counted().customer.as_ref().and_then(|customer| customer.id.clone());
    let answer = Redeemed {
        evaluated,
        date: now,
        parts: Vec::new(),
        parent: None,
        line_ids: Vec::new(),
        order_id: None,
        customer_id,
        failure: Some(Failure { id: ids.hex18("rf_"), told, reason }),
    };
    Decision { answer, changes: None }
}

fn customer_id(case: &Case<'_>, ids: &mut Ids) -> Option<Text> {
    let buyer = case.buyer.counted();
    let customer = buyer.customer.as_ref()?;
    let known = customer.id.clone().filter(|_| buyer.stored);
    if case.buyer.named.is_some() {
        // The ids that come after it do not tell whether there is anybody of the name. Without a name it is nobody.
        let new = ids.alphanumeric("cust_", 24);
        return known.or(customer.source_id.is_some().then_some(new));
    }
    Some(known.unwrap_or_else(|| ids.alphanumeric("cust_", 24)))
}

/// What the host is to merge into its customer: what the request sent, under the id that the redemption shows. Of whom a page
/// only names nothing is changed.
fn changed_customer(evaluated: &Evaluated<'_>, id: Option<Text>) -> Option<Customer> {
    if let Some(named) = &evaluated.buyer.named {
        let source_id = named.customer.as_ref()?.source_id.clone();
        return Some(Customer { id: Some(id?), source_id, ..Customer::default() });
    }
    let sent = evaluated.request.customer.clone().or_else(|| evaluated.buyer.customer.clone().map(Fact::into_owned))?;
    Some(Customer { id, ..sent })
}

/// A line that was stored before keeps its id; every other one is given its own.
fn line_ids(evaluated: &Evaluated<'_>, ids: &mut Ids) -> Vec<Text> {
    let Some(order) = evaluated.case.order.as_ref() else { return Vec::new() };
    let known = |place: usize| order.items.get(place).and_then(|item| item.id.clone());
    let lines = 0..evaluated.walk.cart.lines.len();
    lines.map(|place| known(place).unwrap_or_else(|| ids.hex18(LINE_ID))).collect()
}

/// The order as a redemption leaves it: paid, where a page may say so. Its amounts are in the cart.
fn close(order: Order, evaluated: &Evaluated<'_>, customer_id: Option<Text>, now: Instant, ids: &mut Ids) -> Order {
    let sent = evaluated.request.order.as_ref();
    let usual = evaluated.request.channel.page.as_ref().map_or(OrderStatus::Paid, |page| page.terms.usual_status());
    Order {
        id: Some(order.id.clone().unwrap_or_else(|| ids.hex18("ord_"))),
        status: Some(sent.and_then(|sent| sent.status).unwrap_or(usual)),
        customer_id: customer_id.or(order.customer_id.clone()),
        created_at: order.created_at.or(Some(now)),
        ..order
    }
}
