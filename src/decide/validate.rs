//! Decides whether redeemables apply to an order, for how much, and what a session lock sets aside. Redeeming is
//! this and a commit. It must not know how the answer is written.
//!
//! calculation.md sections 11 and 12.

use std::borrow::Cow;
use std::ops::Deref;

use crate::decide::case::{Case, Offer, Resolved};
use crate::decide::check::{Findings, standing};
use crate::decide::items::Items;
use crate::decide::judge::CaseJudge;
use crate::decide::postings::{Posting, reserved};
use crate::decide::{Changes, Decision};
use crate::facts::{Facts, Known};
use crate::id::{Context, Ids};
use crate::ledger::{self, Book, Hold};
use crate::model::order::{Order, RelatedObject};
use crate::model::page::Page;
use crate::model::request::{Redeemable, Redeemables, Session, TtlUnit};
use crate::model::stacking::{ApplicationMode, StackingRules};
use crate::pricing::Cart;
use crate::refusal::{Reason, Refusal, Skip};
use crate::stacking::{Candidate, Class, Outcome, Selection, Step, Walk, select};
use crate::text::{Text, is_longer, joined};
use crate::time::Instant;

/// How long a lock lasts when the request does not say (objects.md section 2).
const DEFAULT_TTL: (u64, TtlUnit) = (7, TtlUnit::Days);
/// Letters that the key of a page's lock may have.
const PAGE_KEY_LETTERS: usize = 255;

/// The session of a validation, as it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionAnswer {
    /// The key to redeem with.
    pub key: Text,
    /// How long the lock lasts, in `unit`s.
    pub ttl: u64,
    /// The unit of `ttl`.
    pub unit: TtlUnit,
}

/// Whose order it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct People<'a> {
    /// The id of the customer.
    pub customer_id: Option<&'a Text>,
    /// The id of the customer who referred them.
    pub referrer_id: Option<&'a Text>,
}

/// A request tried from end to end. It is filled in where it stands, and handed on as a place: it is as large as half a
/// kilobyte, and what was just written is slow to copy.
#[derive(Clone)]
pub struct Evaluated<'a> {
    /// What was asked, and what it is about.
    pub case: Case<'a>,
    /// What the checks found, in the order of the request.
    pub found: Findings,
    /// Every redeemable once, in the order of trying, and the order at the end.
    pub walk: Walk,
    /// Whether the request as a whole holds.
    pub valid: bool,
    /// The hash that stands for the customer.
    pub tracking_id: Option<Text>,
}

impl<'a> Deref for Evaluated<'a> {
    type Target = Case<'a>;

    fn deref(&self) -> &Case<'a> {
        &self.case
    }
}

impl<'a> Evaluated<'a> {
    /// A request whose names are resolved, or the refusal of it as a whole.
    pub(super) fn open(
        facts: &'a dyn Facts,
        request: &'a Redeemables,
        context: &'a Context,
    ) -> Result<Box<Evaluated<'a>>, Refusal> {
        let mut evaluated = Box::new(Evaluated::of(Case::new(facts, request, context)));
        evaluated.case.open()?;
        Ok(evaluated)
    }

    /// A case of which nothing has been tried.
    #[inline]
    pub(super) fn of(case: Case<'a>) -> Evaluated<'a> {
        Evaluated { case, found: Findings::default(), walk: Walk::default(), valid: false, tracking_id: None }
    }

    /// Tries every redeemable of the case.
    pub(super) fn evaluate(&mut self) {
        let Evaluated { case, found, walk, valid, .. } = self;
        {
            let case = &*case;
            case.count_answers(0..case.resolved.len());
            let items = Items::new(case);
            let mut judge = CaseJudge::new(case, &items, found);
            let initial = &case.priced.cart;
            let mut selection = Selection::new(case.resolved.len(), &case.stacking);
            arrange(&mut selection, case, &mut judge);
            walk.run(&mut selection, &case.stacking, initial, &mut judge);
            *valid = is_valid(walk, &case.stacking);
        }
        for lack in found.lacks() {
            case.lacks.add(lack.clone());
        }
        self.conceal();
        self.track();
    }

    /// Finds the hash that stands for the customer.
    pub(super) fn track(&mut self) {
        self.tracking_id = tracking_id(&mut self.case);
    }

    /// The steps that were applied.
    pub fn applied(&self) -> impl Iterator<Item = &Step> {
        self.walk.steps.iter().filter(|step| matches!(step.outcome, Outcome::Applied(_)))
    }

    /// The order as one of the applied steps left it.
    pub fn cart_after(&self, step: &Step) -> Cart {
        let mut cart = self.priced.cart.clone();
        let through = self.walk.steps.iter().position(|one| one.place == step.place).unwrap_or(0);
        for step in self.walk.steps.iter().take(through.saturating_add(1)) {
            if let Outcome::Applied(gain) = &step.outcome {
                // It was added once before, so that it fits.
                let _ = cart.add(gain);
            }
        }
        cart
    }

    /// The order as the caller may see it. A page that may name a stored order is not told what its metadata says of somebody.
    pub fn shown_order(&self) -> Option<Cow<'_, Order>> {
        let order = self.order.as_deref()?;
        let sent = self.request.order.as_ref().filter(|sent| sent.id.is_some() || sent.source_id.is_some());
        let Some(sent) = sent.filter(|_| self.request.channel.is_page()) else {
            return Some(Cow::Borrowed(order));
        };
        let mut order = Order { metadata: sent.metadata.clone(), ..order.clone() };
        for (place, item) in order.items.iter_mut().enumerate() {
            let sent = sent.items.get(place);
            item.metadata = sent.map(|item| item.metadata.clone()).unwrap_or_default();
            for (kind, goods) in [(RelatedObject::Product, &mut item.product), (RelatedObject::Sku, &mut item.sku)] {
                let said = sent.and_then(|item| item.goods(kind));
                if let Some(goods) = goods {
                    goods.metadata = said.map(|said| said.metadata.clone()).unwrap_or_default();
                }
            }
        }
        Some(Cow::Owned(order))
    }

    /// The keys of the custom data of the catalogue's goods that whoever asks is told of; all where none.
    pub fn public_goods(&self) -> Option<&[Text]> {
        Some(self.request.channel.page.as_ref()?.terms.metadata.product.as_slice())
    }

    /// Whose order it is, by ids: of who buys, as far as they are stored, else of whom a stored order belongs to. Pages are not
    /// told.
    pub fn people(&self) -> People<'_> {
        if self.request.channel.is_page() {
            return People::default();
        }
        let order = self.order.as_deref();
        let customer_id = match &self.buyer.customer {
            Some(customer) => customer.id.as_ref().filter(|_| self.buyer.stored),
            None => order.and_then(|order| order.customer_id.as_ref()),
        };
        People { customer_id, referrer_id: order.and_then(|order| order.referrer_id.as_ref()) }
    }

    /// The redeemable of a step.
    pub fn redeemable(&self, step: &Step) -> Option<&Redeemable> {
        self.redeemables.get(step.place)
    }

    /// The first refusal in the order of trying: as it is told, and as it is.
    pub fn first_refusal(&self) -> Option<(&Refusal, &Refusal)> {
        self.walk.steps.iter().find_map(|step| match &step.outcome {
            Outcome::Refused(told) => Some((told, self.truth(step)?)),
            _ => None,
        })
    }

    /// Whether all must hold.
    pub fn all_or_nothing(&self) -> bool {
        self.stacking.redeemables_application_mode == ApplicationMode::All
    }
}

/// The answer to a validation.
#[derive(Clone)]
pub struct Validated<'a> {
    context: &'a Context,
    /// Everything that was tried.
    pub evaluated: Box<Evaluated<'a>>,
    /// The lock, when one was asked for and set.
    pub session: Option<SessionAnswer>,
}

impl Validated<'_> {
    /// Its id. It is made when somebody asks for it, because making it takes longer than many a decision.
    pub fn id(&self) -> Text {
        first_id(self.context).0
    }
}

/// The first identifier of a validation, and those after it.
fn first_id(context: &Context) -> (Text, Ids) {
    let mut ids = Ids::new(context);
    (ids.hex18("valid_"), ids)
}

/// Validates a request. A refusal of the request as a whole is an `Err`; of a redeemable it is part of the answer.
pub fn validate<'a>(
    facts: &'a dyn Facts,
    request: &'a Redeemables,
    context: &'a Context,
) -> Result<Decision<Validated<'a>>, Refusal> {
    let wanted = wanted(request, context)?;
    let mut evaluated = Evaluated::open(facts, request, context)?;
    evaluated.evaluate();
    evaluated.case.within_bounds()?;
    let session = wanted.filter(|_| evaluated.valid);
    let mut changes = None;
    if let Some(session) = &session {
        let entries = lock(&mut evaluated, session, context.now)?;
        changes = Some(Box::new(Changes { entries, ..Changes::default() }));
    }
    let answer = Validated { context, evaluated, session };
    Ok(Decision { answer, changes })
}

/// Arranges in which order redeemables are tried, and what the stacking rules say of their categories.
fn arrange(selection: &mut Selection, case: &Case<'_>, judge: &mut CaseJudge<'_>) {
    use crate::stacking::Judge;
    let count = selection.count;
    let category = |place: usize| case.offer(place)?.category.as_deref();
    // Without a category nothing is exclusive, and nothing comes before anything else.
    if (0..count).all(|place| category(place).is_none()) {
        return;
    }
    let mut names: Vec<&Text> = Vec::new();
    for place in 0..count {
        let class = category(place).map(|category| {
            names.iter().position(|known| **known == category.id).unwrap_or_else(|| {
                names.push(&category.id);
                selection.classes.push(Class::of(Some(category), &case.stacking));
                names.len().saturating_sub(1)
            })
        });
        let exists = !matches!(case.resolved.get(place), Some(Resolved::Refused(_)));
        let is_exclusive = class.and_then(|class| selection.classes.get(class)).is_some_and(|class| class.exclusive);
        let valid = is_exclusive && judge.refusal(place, &case.priced.cart).is_none();
        selection.candidates.push(Candidate { place, class, valid, exists, excluded: false });
    }
    select(selection, &case.stacking);
}

/// ALL: nothing was refused; PARTIAL: something was applied (calculation.md section 11.2, step 8, and 19, D10). What
/// only the server knows keeps an answer from being valid.
fn is_valid(walk: &Walk, rules: &StackingRules) -> bool {
    let outcomes = || walk.steps.iter().map(|step| &step.outcome);
    match rules.redeemables_application_mode {
        ApplicationMode::All => {
            !outcomes().any(|outcome| matches!(outcome, Outcome::Refused(_) | Outcome::Skipped(Skip::Undecided)))
        }
        ApplicationMode::Partial => outcomes().any(|outcome| matches!(outcome, Outcome::Applied(_))),
    }
}

/// The hash of the customer's `source_id`, or of the identifier that the request came with (objects.md section 15). Of whom a
/// page only names it is the hash of what the page says.
fn tracking_id(case: &mut Case<'_>) -> Option<Text> {
    let (request, buyer) = (case.request, &case.buyer);
    let sent = || request.customer.as_ref()?.source_id.as_ref();
    let found = || buyer.customer.as_ref()?.source_id.as_ref();
    let source_id = if buyer.named.is_some() { sent() } else { found() };
    if let (None, Some(unknown)) = (source_id, buyer.unknown.clone()) {
        // Who was named otherwise has a hash as soon as the server knows them.
        case.lacks.add(unknown);
    }
    let source_id = source_id.or(request.tracking_id.as_ref())?.clone();
    match case.facts.tracking_id(&source_id) {
        Known::Is(tracking_id) => Some(tracking_id),
        Known::Absent | Known::Unreadable => None,
        Known::Unknown => {
            let lack = joined(&["tracking_id/", &source_id]);
            case.lacks.add(lack);
            None
        }
    }
}

/// How long a lock lasts. Whoever opens a shop can lock: a page's lock lasts as long as its project allows, and ends.
fn life(session: &Session, page: Option<&Page>) -> Result<(u64, TtlUnit), Refusal> {
    let asked = session.ttl.map(|ttl| (ttl, session.unit.unwrap_or_default()));
    let Some(page) = page else { return Ok(asked.unwrap_or(DEFAULT_TTL)) };
    let longest = page.terms.session_seconds;
    let Some((ttl, unit)) = asked else { return Ok((longest, TtlUnit::Seconds)) };
    let bound = match unit.millis(ttl) {
        0 => Text::from("must be >= 1 MILLISECONDS"),
        millis if millis > TtlUnit::Seconds.millis(longest) => {
            joined(&["must be <= ", &longest.to_string(), " SECONDS"])
        }
        _ => return Ok((ttl, unit)),
    };
    Err(wrong_session("ttl", &bound, &["value is `", &ttl.to_string(), " ", unit.name()]))
}

/// Refuses a name for a page's lock that is longer than any that a page needs.
fn check_key(key: Option<&Text>, page: Option<&Page>) -> Result<(), Refusal> {
    match key.filter(|key| page.is_some() && is_longer(key, PAGE_KEY_LETTERS)) {
        Some(key) => {
            let bound = joined(&["must NOT have more than ", &PAGE_KEY_LETTERS.to_string(), " characters"]);
            Err(wrong_session("key", &bound, &["length is `", &key.chars().count().to_string()]))
        }
        None => Ok(()),
    }
}

fn wrong_session(field: &str, bound: &str, actual: &[&str]) -> Refusal {
    let told = joined(&["Property .session.", field, " ", bound, " (actual ", &actual.concat(), "`)"]);
    Refusal::new(Reason::InvalidPayload, told)
}

/// The lock that a request asks for, or what is wrong with it, whether it comes to be set or not.
fn wanted(request: &Redeemables, context: &Context) -> Result<Option<SessionAnswer>, Refusal> {
    let Some(session) = request.session.as_ref().filter(|session| session.lock) else { return Ok(None) };
    let page = request.channel.page.as_ref();
    check_key(session.key.as_ref(), page)?;
    let (ttl, unit) = life(session, page)?;
    let key = session.key.clone().unwrap_or_else(|| first_id(context).1.alphanumeric("ssn_", 32));
    Ok(Some(SessionAnswer { key, ttl, unit }))
}

/// Sets aside what each applied incentive would spend. The same key holds anew: what it held before is given back
/// first, and was not counted against it.
fn lock(
    evaluated: &mut Evaluated<'_>,
    session: &SessionAnswer,
    now: Instant,
) -> Result<Vec<crate::ledger::Entry>, Refusal> {
    let Evaluated { case, walk, found, .. } = evaluated;
    let owner = case.request.channel.page.as_ref().map(Page::owner);
    let own = ledger::Session { key: session.key.clone(), owner: owner.clone() };
    let mut book = Book::default();
    book.release(own.clone());
    let ttl = i64::try_from(session.unit.millis(session.ttl)).unwrap_or(i64::MAX);
    let customer_id = case.buyer.counted_as().cloned();
    let mut unknown = Vec::new();
    for step in &walk.steps {
        let Outcome::Applied(gain) = &step.outcome else { continue };
        let Some(offer) = case.offer(step.place) else { continue };
        let given = gain.total().unwrap_or_default().minor();
        let reserved = reserved(offer, found.get(step.place), given, customer_id.as_deref());
        for Posting { debit: account, allotment, amount, .. } in reserved {
            // A lock that only the server can set is lacking, also on an account without a limit.
            let held = case.facts.held(&account, now, Some(&own));
            match (standing(case, &account, allotment), held) {
                (Known::Is(standing), Known::Is(_)) => book.open(account.clone(), standing),
                _ => unknown.push(account.clone()),
            }
            let owner = owner.clone().unwrap_or_default();
            let hold = Hold { key: session.key.clone(), owner, account, amount, expires_at: now.later(ttl) };
            // The walk took each from what was left for the next, so that there is enough for all. What could not be held
            // would be refused.
            book.hold(hold).map_err(|_| case.told(step.place, exceeded(offer)))?;
        }
    }
    for account in unknown {
        case.lacks.add(Text::from(account.as_str()));
    }
    Ok(book.into_entries())
}

/// There is not enough for an incentive after all. What an account is called is nobody's business.
pub(super) fn exceeded(offer: &Offer<'_>) -> Refusal {
    Refusal::new(Reason::QuantityExceeded, offer.incentive.code.as_str())
}
