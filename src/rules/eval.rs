//! Decides whether a rule holds on its input, and which test failed when it does not. It must not know how a rule was
//! written, and it reads nothing but that input.
//!
//! validation-rules.md sections 1, 2, 4 and 8.

mod lines;

use lines::{Within, all_lines, extreme, over_lines};
pub(super) use lines::{figure, sum};

use crate::model::order::Metadata;
use crate::money::Money;
use crate::rules::basket::ResolvedLine;
use crate::rules::compare::Condition;
use crate::rules::input::{Lines, RuleInput};
use crate::rules::kind::{Asked, ChannelPart, Counter, Data, Figure, Kind, Over, Pick};
use crate::rules::needs::Needs;
use crate::rules::number::Number;
use crate::rules::operand::{FoundValue, Operand};
use crate::rules::operator::Operator;
use crate::rules::rule::{Group, Leaf, Rule, Test};
use crate::text::Text;

/// A rule that does not hold, and the first test in key order that makes it so; a rule that fails always has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failure<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The test that decided, with all that refines it.
    pub outermost: Option<&'a Leaf>,
}

/// Which test it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Blamed<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The test that decided.
    pub leaf: Option<&'a Leaf>,
    /// The tests around it, outermost first.
    pub around: Vec<&'a Leaf>,
    /// The lines that the last one looked at; `None` for all.
    pub(super) lines: Option<Box<Lines>>,
}

impl<'a> Failure<'a> {
    /// Whether the test has others inside of it.
    #[inline]
    pub fn is_refined(&self) -> bool {
        self.outermost.is_some_and(|leaf| leaf.test.rules.is_some())
    }

    /// The test that is to blame: what refines a test is, when the test itself holds.
    #[cold]
    #[inline(never)]
    pub fn blamed(&self, input: &RuleInput<'_>) -> Box<Blamed<'a>> {
        let mut blamed = Box::new(Blamed { rule: self.rule, leaf: self.outermost, around: Vec::new(), lines: None });
        if self.is_refined() {
            blamed.refine(input);
        }
        blamed
    }
}

impl<'a> Blamed<'a> {
    /// The text that the rule's author wrote for this test, or for the innermost around it that has one.
    pub fn message(&self) -> Option<&'a str> {
        let all = self.leaf.iter().chain(self.around.iter().rev());
        all.into_iter().find_map(|leaf| leaf.message.as_deref())
    }

    #[inline(never)]
    fn refine(&mut self, input: &RuleInput<'_>) {
        let mut within: Option<Within> = None;
        while let Some(leaf) = self.leaf
            && let Some(rules) = &leaf.test.rules
            && let Some(matched) = leaf.test.matched(input, within.as_ref())
        {
            let inner = rules.blame(input, Some(&matched)).and_then(|place| rules.leaves.get(place));
            let Some(inner) = inner else { break };
            self.around.extend(self.leaf.replace(inner));
            self.lines = Some(Box::new(matched.lines));
            within = Some(matched);
        }
    }
}

impl Rule {
    /// Whether the rule holds before its redeemable acts; otherwise what failed. A rule that looks at what is left
    /// afterwards is not decided yet, and holds.
    #[inline]
    pub fn check(&self, input: &RuleInput<'_>) -> Result<(), Failure<'_>> {
        match self.needs.meets(Needs::AFTER) {
            true => Ok(()),
            false => self.decide(input),
        }
    }

    /// The same for the rules that [`Rule::check`] leaves, once it is known what the redeemable does.
    #[inline]
    pub fn check_after(&self, input: &RuleInput<'_>) -> Result<(), Failure<'_>> {
        match self.needs.meets(Needs::AFTER) {
            true => self.decide(input),
            false => Ok(()),
        }
    }

    /// Whether the rule holds, without a word about why not; before its redeemable acts.
    pub fn tests_hold(&self, input: &RuleInput<'_>) -> bool {
        self.needs.meets(Needs::AFTER) || self.tests.holds(input, None)
    }

    #[inline]
    fn decide(&self, input: &RuleInput<'_>) -> Result<(), Failure<'_>> {
        match self.tests.blame(input, None) {
            None => Ok(()),
            Some(place) => Err(Failure { rule: self, outermost: self.tests.leaves.get(place) }),
        }
    }
}

impl Group {
    #[inline]
    fn holds(&self, input: &RuleInput<'_>, within: Option<&Within>) -> bool {
        self.logic.holds(&mut |place| self.test(place, input, within))
    }

    /// The first test that makes the group fail, if it does.
    #[inline(never)]
    fn blame(&self, input: &RuleInput<'_>, within: Option<&Within>) -> Option<usize> {
        if !input.clock.takes(self.leaves.len()) {
            return Some(0);
        }
        // Most rules are one list of tests: those are asked without a call for each.
        match self.plain {
            true => self.leaves.iter().position(|leaf| !leaf.test.holds(input, within)),
            false => self.logic.blame(&mut |place| self.test(place, input, within)),
        }
    }

    #[inline(never)]
    fn test(&self, place: usize, input: &RuleInput<'_>, within: Option<&Within>) -> bool {
        self.leaves.get(place).is_some_and(|leaf| leaf.test.holds(input, within))
    }
}

impl Condition {
    /// Whether the customer is in any segment that it names, or in any tier; nothing when nobody can say.
    fn is_in_any(&self, input: &RuleInput<'_>, is_tier: bool) -> Option<bool> {
        /// A set is looked up for it.
        const LOOK: usize = 100;
        if !input.clock.takes(self.operands.len().saturating_mul(LOOK)) {
            return None;
        }
        for wanted in self.operands.iter().filter_map(Operand::as_text) {
            let is_in = match (is_tier, input.earning) {
                // What is earned is asked of the tiers of the member, as they stand.
                (true, Some(earning)) => Some(earning.tiers.iter().any(|tier| tier == wanted)),
                (true, None) => input.facts.is_in_tier(wanted),
                (false, _) => input.facts.is_in_segment(wanted),
            };
            if is_in? {
                return Some(true);
            }
        }
        Some(false)
    }
}

impl Test {
    /// Whether the test holds when nothing is around it.
    #[inline(never)]
    pub fn holds_alone(&self, input: &RuleInput<'_>) -> bool {
        self.holds(input, None)
    }

    #[inline]
    fn holds(&self, input: &RuleInput<'_>, within: Option<&Within>) -> bool {
        if input.passes != Needs::default() && input.passes.meets(self.name.needs) {
            return true;
        }
        if let Some(rules) = &self.rules {
            return self.holds_refined(rules, input, within);
        }
        self.holds_itself(input, within)
    }

    /// Whether the test holds without what refines it.
    fn holds_itself(&self, input: &RuleInput<'_>, within: Option<&Within>) -> bool {
        match self.name.kind {
            Kind::Amount | Kind::InitialAmount | Kind::TotalAmount => {
                self.amount(input).is_some_and(|amount| self.money(amount, input))
            }
            Kind::Lines(figure, over) => self.lines(figure, over, input, within),
            Kind::LineData(over) => over_lines(over, input, within, |line| {
                let data = input.items.get(line).and_then(ResolvedLine::data);
                self.all(self.property_of(data), input)
            }),
            Kind::Goods(pick) => match (&*self.conditions, within, pick) {
                ([only], None, Pick::Any | Pick::None) if only.operator == Operator::In => {
                    only.is_on_a_line(input) == (pick == Pick::Any)
                }
                _ => self.goods(pick, input, within).is_some(),
            },
            Kind::GoodsData => self.goods_data(input, within).is_some(),
            // Of somebody who cannot be told from others nobody can say how often they have been here.
            Kind::Count(..) if !input.identified && self.name.needs.meets(Needs::CUSTOMER) => false,
            // And of a call that is no user's, how often its user has.
            Kind::Count(Counter::IncentiveOfUser, _) if input.channel[1].is_none() => false,
            // A count that only the server knows is no reason to refuse.
            Kind::Count(counter, period) => match input.facts.count(counter, period) {
                Some(count) => self.all(FoundValue::Number(Number::count(count)), input),
                None => true,
            },
            // Of nobody neither "is" holds nor "is not": whoever is left out cannot come in by saying nothing.
            Kind::Data(Data::Customer) if input.customer.is_none() => false,
            Kind::Data(data) => self.all(self.property_of(data_of(data, input)), input),
            Kind::Segment | Kind::Tier => {
                let is_tier = self.name.kind == Kind::Tier;
                input.customer.is_some()
                    && self.conditions.iter().all(|condition| {
                        // Where nobody can say, neither "is" holds nor "is not".
                        let is_in = condition.is_in_any(input, is_tier);
                        is_in.is_some_and(|is_in| is_in != condition.operator.is_negative())
                    })
            }
            Kind::Channel(part) => self.all(channel(part, input), input),
            // `false` asks for nothing: the code may be redeemed by everybody [inferred].
            Kind::Linked => !self.wants_true() || input.is_linked(),
            // They say something of the test around them, and test nothing.
            Kind::Scopes | Kind::MatchAll => true,
            Kind::Earning(asked) => self.asks_earning(asked, input),
        }
    }

    /// The amount that a test of one looks at.
    #[inline]
    pub(super) fn amount(&self, input: &RuleInput<'_>) -> Option<Money> {
        match self.name.kind {
            Kind::Amount => input.facts.amount(),
            Kind::InitialAmount => input.initial_amount,
            Kind::TotalAmount => input.after,
            Kind::Lines(..) | Kind::Count(..) | Kind::Data(_) | Kind::LineData(_) | Kind::GoodsData => None,
            Kind::Goods(_) | Kind::Segment | Kind::Tier | Kind::Channel(_) | Kind::Linked => None,
            Kind::Scopes | Kind::MatchAll | Kind::Earning(_) => None,
        }
    }

    /// What only earning has. Where nobody earns, neither "is" holds nor "is not".
    #[inline(never)]
    fn asks_earning(&self, asked: Asked, input: &RuleInput<'_>) -> bool {
        let Some(earning) = input.earning else { return false };
        match asked {
            Asked::Member => self.all(self.property_of(Some(earning.member)), input),
            Asked::Event => earning.event.is_some_and(|event| self.all(self.property_of(Some(event)), input)),
        }
    }

    /// Whether its conditions name yes.
    pub fn wants_true(&self) -> bool {
        let operands = || self.conditions.iter().flat_map(|condition| &condition.operands);
        operands().any(|operand| *operand == Operand::Flag(true))
    }

    #[inline]
    fn all(&self, found: FoundValue<'_>, input: &RuleInput<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.holds(found, &input.clock))
    }

    /// Numbers that are not there fail, whatever is asked of them.
    #[inline]
    fn money(&self, money: Money, input: &RuleInput<'_>) -> bool {
        match self.range {
            Some(range) => range.holds(money.minor()),
            None => self.all(FoundValue::Number(Number::count(money.minor())), input),
        }
    }

    /// What custom data has under the property of the test.
    pub(super) fn property_of<'a>(&self, data: Option<&'a Metadata>) -> FoundValue<'a> {
        let found = data.zip(self.property.as_ref()).and_then(|(data, property)| data.find_dotted(property));
        FoundValue::value(found)
    }

    /// A test and what refines it. No line may pass where none is to match [inferred]; where nobody can say which would
    /// pass, that does not hold either.
    #[inline(never)]
    fn holds_refined(&self, rules: &Group, input: &RuleInput<'_>, within: Option<&Within>) -> bool {
        let none = self.name.kind == Kind::Goods(Pick::None) || self.forbids();
        match self.matched(input, within) {
            Some(_) if none && rules.unanswered && input.earning.is_none() => false,
            Some(matched) => rules.holds(input, Some(&matched)) != none,
            None => none,
        }
    }

    /// Whether it asks that goods are not there.
    fn forbids(&self) -> bool {
        let negative = |condition: &Condition| condition.operator.is_negative();
        matches!(self.name.kind, Kind::Goods(Pick::Product | Pick::Sku)) && self.conditions.iter().any(negative)
    }

    /// The lines that a test with others inside of it matched; `None` when it does not hold by itself.
    pub(super) fn matched(&self, input: &RuleInput<'_>, within: Option<&Within>) -> Option<Within> {
        match self.name.kind {
            // What refines "none" and "is not" is asked of the lines that must not be there.
            Kind::Goods(Pick::None) => self.goods(Pick::Any, input, within),
            Kind::Goods(_) if self.forbids() => {
                let forbidden: Vec<Lines> = self.conditions.iter().map(|one| one.lines(input)).collect();
                let inside = |line: usize| within.is_none_or(|within| within.lines.has(line));
                let among = |line: usize| inside(line) && forbidden.iter().any(|lines| lines.has(line));
                let lines = Lines::of(input.items.len(), among);
                (!lines.is_empty()).then_some(Within { lines, each: false })
            }
            Kind::Goods(pick) => self.goods(pick, input, within),
            Kind::GoodsData => self.goods_data(input, within),
            Kind::Amount
            | Kind::TotalAmount
            | Kind::InitialAmount
            | Kind::Lines(..)
            | Kind::Count(..)
            | Kind::Data(_)
            | Kind::LineData(_)
            | Kind::Segment
            | Kind::Tier
            | Kind::Channel(_)
            | Kind::Linked
            | Kind::Scopes
            | Kind::MatchAll
            | Kind::Earning(_) => {
                let all = within.copied().unwrap_or_else(|| Within { lines: all_lines(input), each: false });
                self.holds_itself(input, within).then_some(all)
            }
        }
    }

    /// Which lines a test of goods matched; `None` when it does not hold.
    fn goods(&self, pick: Pick, input: &RuleInput<'_>, within: Option<&Within>) -> Option<Within> {
        let inside = |line: usize| within.is_none_or(|within| within.lines.has(line));
        let lines = |test: &dyn Fn(usize) -> bool| Lines::of(input.items.len(), |line| inside(line) && test(line));
        let among: Vec<(&Condition, Lines)> = self.conditions.iter().map(|one| (one, one.lines(input))).collect();
        let positive = |line: usize| among.iter().all(|(one, lines)| one.operator.is_negative() || lines.has(line));
        let matched = match pick {
            Pick::Cheapest | Pick::MostExpensive => extreme(pick == Pick::Cheapest, &among, input, &inside),
            _ => lines(&positive),
        };
        let forbidden = || among.iter().any(|(one, lines)| one.operator.is_negative() && !lines.is_empty());
        let holds = match pick {
            Pick::None => matched.is_empty(),
            Pick::Every => !matched.is_empty() && matched == lines(&|_| true),
            Pick::Product | Pick::Sku if forbidden() => false,
            // "Is not" alone holds in an empty cart as well.
            Pick::Product | Pick::Sku => !matched.is_empty() || self.forbids(),
            _ => !matched.is_empty(),
        };
        let each = matches!(pick, Pick::Every | Pick::Cheapest | Pick::MostExpensive);
        holds.then_some(Within { lines: matched, each })
    }

    /// The lines whose goods have the property; `None` when none does or, when all must, one does not.
    fn goods_data(&self, input: &RuleInput<'_>, within: Option<&Within>) -> Option<Within> {
        if !input.clock.takes(input.items.len()) {
            return None;
        }
        let inside = |line: usize| within.is_none_or(|within| within.lines.has(line));
        let meets = |line: usize| {
            let value = |property: &Text| {
                let data = input.facts.goods_data(line, property);
                data.into_iter().flatten().find_map(|data| data.find_dotted(property))
            };
            self.all(FoundValue::value(self.property.as_ref().and_then(value)), input)
        };
        let count = input.items.len();
        let lines = Lines::of(count, |line| inside(line) && meets(line));
        let inner = self.rules.iter().flat_map(|rules| &rules.leaves);
        let all = inner.into_iter().any(|leaf| leaf.test.name.kind == Kind::MatchAll && leaf.test.wants_true());
        let complete = !all || lines == Lines::of(count, inside);
        (!lines.is_empty() && complete).then_some(Within { lines, each: all })
    }

    /// Compares a figure of lines.
    fn lines(&self, figure: Figure, over: Over, input: &RuleInput<'_>, within: Option<&Within>) -> bool {
        if over == Over::Sum {
            let sum = sum(figure, input, within.map(|within| &within.lines));
            return sum.is_some_and(|sum| self.all(FoundValue::Number(sum), input));
        }
        over_lines(over, input, within, |line| {
            lines::figure(figure, input, line).is_some_and(|number| self.all(FoundValue::Number(number), input))
        })
    }
}

/// Whose custom data a test looks at.
pub(super) fn data_of<'a>(data: Data, input: &RuleInput<'a>) -> Option<&'a Metadata> {
    match data {
        Data::Order => input.order,
        Data::Redemption => Some(input.redemption),
        Data::Customer => input.customer,
    }
}

/// What is known of the caller.
pub(super) fn channel<'a>(part: ChannelPart, input: &RuleInput<'a>) -> FoundValue<'a> {
    let [key, user] = input.channel;
    let found = match part {
        ChannelPart::Key => key,
        ChannelPart::User => user,
    };
    found.map_or(FoundValue::Missing, FoundValue::Text)
}
