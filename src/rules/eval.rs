//! Decides whether a rule passes on its input, and which test failed if it does not. It reads only that input.
//!
//! docs/spec/validation-rules.md sections 1, 2, 4 and 8.

mod lines;

use lines::{NestedTests, all_lines, extreme, over_lines};
pub(super) use lines::{line_amount, sum};

use crate::model::order::Metadata;
use crate::money::Money;
use crate::rules::compare::Condition;
use crate::rules::input::{Lines, RuleInput};
use crate::rules::kind::{
    ChannelPart, Counter, EarningFact, FactKind, GoodsQuantifier, LineAmount, LineQuantifier, MetadataOwner,
};
use crate::rules::needs::RequiredFacts;
use crate::rules::number::Number;
use crate::rules::operand::{FoundValue, TestOperand};
use crate::rules::operator::Operator;
use crate::rules::order_lines::ResolvedLine;
use crate::rules::rule::{Group, Leaf, Rule, Test};
use crate::text::Text;

/// A rule that fails, and the first test in key order that causes it; a rule that fails always has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleFailure<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The deciding test, with its nested tests.
    pub outermost: Option<&'a Leaf>,
}

/// The test that made a rule fail.
#[derive(Debug, Clone, PartialEq)]
pub struct FailingTest<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The deciding test.
    pub leaf: Option<&'a Leaf>,
    /// The tests around it, outermost first.
    pub around: Vec<&'a Leaf>,
    /// The lines of the last surrounding test; `None` for all.
    pub(super) lines: Option<Box<Lines>>,
}

impl<'a> RuleFailure<'a> {
    /// Returns whether the test has nested tests.
    #[inline]
    pub fn is_refined(&self) -> bool {
        self.outermost.is_some_and(|leaf| leaf.test.rules.is_some())
    }

    /// Returns the failing test: a nested test, if the test itself passes.
    #[cold]
    #[inline(never)]
    pub fn failing_test(&self, input: &RuleInput<'_>) -> Box<FailingTest<'a>> {
        let mut failing_test =
            Box::new(FailingTest { rule: self.rule, leaf: self.outermost, around: Vec::new(), lines: None });
        if self.is_refined() {
            failing_test.refine(input);
        }
        failing_test
    }
}

impl<'a> FailingTest<'a> {
    /// Returns the message that the rule's author wrote for this test, or for the innermost surrounding test that has
    /// one.
    pub fn message(&self) -> Option<&'a str> {
        let all = self.leaf.iter().chain(self.around.iter().rev());
        all.into_iter().find_map(|leaf| leaf.message.as_deref())
    }

    #[inline(never)]
    fn refine(&mut self, input: &RuleInput<'_>) {
        let mut within: Option<NestedTests> = None;
        while let Some(leaf) = self.leaf
            && let Some(rules) = &leaf.test.rules
            && let Some(matched) = leaf.test.matched(input, within.as_ref())
        {
            let inner = rules.first_failing(input, Some(&matched)).and_then(|position| rules.leaves.get(position));
            let Some(inner) = inner else { break };
            self.around.extend(self.leaf.replace(inner));
            self.lines = Some(Box::new(matched.lines));
            within = Some(matched);
        }
    }
}

impl Rule {
    /// Checks the rule before its redeemable is applied, and returns the failure. A rule that depends on the remaining
    /// amount is not decided yet, and passes.
    #[inline]
    pub fn check(&self, input: &RuleInput<'_>) -> Result<(), RuleFailure<'_>> {
        match self.needs.meets(RequiredFacts::AFTER) {
            true => Ok(()),
            false => self.decide(input),
        }
    }

    /// Checks the rules that [`Rule::check`] skips, once the effect of the redeemable is known.
    #[inline]
    pub fn check_after(&self, input: &RuleInput<'_>) -> Result<(), RuleFailure<'_>> {
        match self.needs.meets(RequiredFacts::AFTER) {
            true => self.decide(input),
            false => Ok(()),
        }
    }

    /// Returns whether the rule passes before its redeemable is applied, without the failing test.
    pub fn tests_hold(&self, input: &RuleInput<'_>) -> bool {
        self.needs.meets(RequiredFacts::AFTER) || self.tests.holds(input, None)
    }

    #[inline]
    fn decide(&self, input: &RuleInput<'_>) -> Result<(), RuleFailure<'_>> {
        match self.tests.first_failing(input, None) {
            None => Ok(()),
            Some(position) => Err(RuleFailure { rule: self, outermost: self.tests.leaves.get(position) }),
        }
    }
}

impl Group {
    #[inline]
    fn holds(&self, input: &RuleInput<'_>, within: Option<&NestedTests>) -> bool {
        self.logic.holds(&mut |position| self.test(position, input, within))
    }

    /// Returns the first test that makes the group fail, if it does.
    #[inline(never)]
    fn first_failing(&self, input: &RuleInput<'_>, within: Option<&NestedTests>) -> Option<usize> {
        if !input.clock.spend(self.leaves.len()) {
            return Some(0);
        }
        // Most rules are one list of tests, evaluated without a call for each.
        match self.plain {
            true => self.leaves.iter().position(|leaf| !leaf.test.holds(input, within)),
            false => self.logic.first_failing(&mut |position| self.test(position, input, within)),
        }
    }

    #[inline(never)]
    fn test(&self, position: usize, input: &RuleInput<'_>, within: Option<&NestedTests>) -> bool {
        self.leaves.get(position).is_some_and(|leaf| leaf.test.holds(input, within))
    }
}

impl Condition {
    /// Returns whether the customer is in any of the named segments, or in any of the named tiers; `None` if that is
    /// unknown.
    fn is_in_any(&self, input: &RuleInput<'_>, is_tier: bool) -> Option<bool> {
        /// Steps to find one segment or tier.
        const STEPS_PER_LOOKUP: usize = 100;
        // A cost beyond the type is beyond the budget.
        if !input.clock.spend(self.operands.len().saturating_mul(STEPS_PER_LOOKUP)) {
            return None;
        }
        for expected in self.operands.iter().filter_map(TestOperand::as_text) {
            let is_in = match (is_tier, input.earning) {
                // Earning rules use the present tiers of the member.
                (true, Some(earning)) => Some(earning.tiers.iter().any(|tier| tier == expected)),
                (true, None) => input.facts.is_in_tier(expected),
                (false, _) => input.facts.is_in_segment(expected),
            };
            if is_in? {
                return Some(true);
            }
        }
        Some(false)
    }
}

impl Test {
    /// Returns whether the test passes without a surrounding test.
    #[inline(never)]
    pub fn holds_by_itself(&self, input: &RuleInput<'_>) -> bool {
        self.holds(input, None)
    }

    #[inline]
    fn holds(&self, input: &RuleInput<'_>, within: Option<&NestedTests>) -> bool {
        if input.passes != RequiredFacts::default() && input.passes.meets(self.name.needs) {
            return true;
        }
        if let Some(rules) = &self.rules {
            return self.holds_refined(rules, input, within);
        }
        self.holds_itself(input, within)
    }

    /// Returns whether the test passes without its nested tests.
    fn holds_itself(&self, input: &RuleInput<'_>, within: Option<&NestedTests>) -> bool {
        match self.name.kind {
            FactKind::Amount | FactKind::InitialAmount | FactKind::TotalAmount => {
                self.amount(input).is_some_and(|amount| self.money(amount, input))
            }
            FactKind::Lines(line_amount, over) => self.lines(line_amount, over, input, within),
            FactKind::LineData(over) => over_lines(over, input, within, |line| {
                let data = input.items.get(line).and_then(ResolvedLine::data);
                self.all(self.property_of(data), input)
            }),
            FactKind::Goods(pick) => match (&*self.conditions, within, pick) {
                ([only], None, GoodsQuantifier::Any | GoodsQuantifier::None) if only.operator == Operator::In => {
                    only.is_on_a_line(input) == (pick == GoodsQuantifier::Any)
                }
                _ => self.goods(pick, input, within).is_some(),
            },
            FactKind::GoodsData | FactKind::GoodsSet => self.goods_data(input, within).is_some(),
            // The redemptions of a customer who cannot be identified are unknown.
            FactKind::Count(..) if !input.identified && self.name.needs.meets(RequiredFacts::CUSTOMER) => false,
            // So are those of the user if the call has no user.
            FactKind::Count(Counter::IncentiveOfUser, _) if input.channel[1].is_none() => false,
            // A count that only the server knows is no reason to refuse.
            FactKind::Count(counter, period) => match input.facts.count(counter, period) {
                Some(count) => self.all(FoundValue::Number(Number::count(count)), input),
                None => true,
            },
            // Without a customer neither "is" nor "is not" passes: leaving out the customer must not bypass an
            // exclusion.
            FactKind::Data(MetadataOwner::Customer) if input.customer.is_none() => false,
            FactKind::Data(data) => {
                let found = self.property_of(data_of(data, input));
                let is_absent = data == MetadataOwner::Customer && matches!(found, FoundValue::Missing);
                self.all(found, input) && (!is_absent || input.facts.is_customer_data_complete())
            }
            FactKind::Segment | FactKind::Tier => {
                let is_tier = self.name.kind == FactKind::Tier;
                let passes = input.customer.is_some()
                    && self.conditions.iter().all(|condition| {
                        // If the membership is unknown, neither "is" nor "is not" passes.
                        let is_in = condition.is_in_any(input, is_tier);
                        is_in.is_some_and(|is_in| is_in != condition.operator.is_negative())
                    });
                if passes {
                    input.facts.record_passed_membership();
                }
                passes
            }
            FactKind::CustomerCondition => {
                let number = self.property.as_deref().filter(|_| input.customer.is_some());
                number.and_then(|number| input.facts.meets_condition(number)).unwrap_or(false)
            }
            FactKind::Channel(part) => self.all(channel(part, input), input),
            // `false` requires nothing: every customer may redeem the code [inferred].
            FactKind::Linked => !self.requires_true() || input.is_linked(),
            // They qualify the surrounding test, and test nothing.
            FactKind::Scopes | FactKind::MatchAll => true,
            FactKind::Earning(fact) => self.holds_for_earning(fact, input),
        }
    }

    /// Returns the amount that a test of an amount uses.
    #[inline]
    pub(super) fn amount(&self, input: &RuleInput<'_>) -> Option<Money> {
        match self.name.kind {
            FactKind::Amount => input.facts.amount(),
            FactKind::InitialAmount => input.initial_amount,
            FactKind::TotalAmount => input.after,
            FactKind::Lines(..)
            | FactKind::Count(..)
            | FactKind::Data(_)
            | FactKind::LineData(_)
            | FactKind::GoodsData
            | FactKind::GoodsSet => None,
            FactKind::Goods(_) | FactKind::Segment | FactKind::Tier | FactKind::Channel(_) | FactKind::Linked => None,
            FactKind::CustomerCondition | FactKind::Scopes | FactKind::MatchAll | FactKind::Earning(_) => None,
        }
    }

    /// Tests data that only earning has. Elsewhere neither "is" nor "is not" passes.
    #[inline(never)]
    fn holds_for_earning(&self, fact: EarningFact, input: &RuleInput<'_>) -> bool {
        let Some(earning) = input.earning else { return false };
        match fact {
            EarningFact::Member => self.all(self.property_of(Some(earning.member)), input),
            EarningFact::Event => earning.event.is_some_and(|event| self.all(self.property_of(Some(event)), input)),
        }
    }

    /// Returns whether its conditions contain `true`.
    pub fn requires_true(&self) -> bool {
        let operands = || self.conditions.iter().flat_map(|condition| &condition.operands);
        operands().any(|operand| *operand == TestOperand::Flag(true))
    }

    #[inline]
    fn all(&self, found: FoundValue<'_>, input: &RuleInput<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.holds(found, &input.clock))
    }

    /// Tests an amount. A missing number fails every test.
    #[inline]
    fn money(&self, money: Money, input: &RuleInput<'_>) -> bool {
        match self.range {
            Some(range) => range.holds(money.minor()),
            None => self.all(FoundValue::Number(Number::count(money.minor())), input),
        }
    }

    /// Returns the metadata value under the property of the test.
    pub(super) fn property_of<'a>(&self, data: Option<&'a Metadata>) -> FoundValue<'a> {
        let found = data.zip(self.property.as_ref()).and_then(|(data, property)| data.find_dotted(property));
        FoundValue::value(found)
    }

    /// Returns whether a test passes with its nested tests. For "none", no line may pass [inferred]; if it is unknown
    /// which lines pass, the test fails too.
    #[inline(never)]
    fn holds_refined(&self, rules: &Group, input: &RuleInput<'_>, within: Option<&NestedTests>) -> bool {
        let none = self.name.kind == FactKind::Goods(GoodsQuantifier::None) || self.forbids();
        match self.matched(input, within) {
            Some(_) if none && rules.unanswered && input.earning.is_none() => false,
            Some(matched) => rules.holds(input, Some(&matched)) != none,
            None => none,
        }
    }

    /// Returns whether the test requires that goods are absent.
    fn forbids(&self) -> bool {
        let negative = |condition: &Condition| condition.operator.is_negative();
        matches!(self.name.kind, FactKind::Goods(GoodsQuantifier::Product | GoodsQuantifier::Sku))
            && self.conditions.iter().any(negative)
    }

    /// Returns the lines that a test with nested tests matched; `None` if it does not pass by itself.
    pub(super) fn matched(&self, input: &RuleInput<'_>, within: Option<&NestedTests>) -> Option<NestedTests> {
        match self.name.kind {
            // Tests nested in "none" and "is not" check the lines that must be absent.
            FactKind::Goods(GoodsQuantifier::None) => self.goods(GoodsQuantifier::Any, input, within),
            FactKind::Goods(_) if self.forbids() => {
                let forbidden: Vec<Lines> = self.conditions.iter().map(|one| one.lines(input)).collect();
                let inside = |line: usize| within.is_none_or(|within| within.lines.has(line));
                let members = |line: usize| inside(line) && forbidden.iter().any(|lines| lines.has(line));
                let lines = Lines::of(input.items.len(), members);
                (!lines.is_empty()).then_some(NestedTests { lines, each: false })
            }
            FactKind::Goods(pick) => self.goods(pick, input, within),
            FactKind::GoodsData | FactKind::GoodsSet => self.goods_data(input, within),
            FactKind::Amount
            | FactKind::TotalAmount
            | FactKind::InitialAmount
            | FactKind::Lines(..)
            | FactKind::Count(..)
            | FactKind::Data(_)
            | FactKind::LineData(_)
            | FactKind::Segment
            | FactKind::Tier
            | FactKind::CustomerCondition
            | FactKind::Channel(_)
            | FactKind::Linked
            | FactKind::Scopes
            | FactKind::MatchAll
            | FactKind::Earning(_) => {
                let all = within.copied().unwrap_or_else(|| NestedTests { lines: all_lines(input), each: false });
                self.holds_itself(input, within).then_some(all)
            }
        }
    }

    /// Returns the lines that a test of goods matched; `None` if it does not pass.
    fn goods(&self, pick: GoodsQuantifier, input: &RuleInput<'_>, within: Option<&NestedTests>) -> Option<NestedTests> {
        let inside = |line: usize| within.is_none_or(|within| within.lines.has(line));
        let lines = |test: &dyn Fn(usize) -> bool| Lines::of(input.items.len(), |line| inside(line) && test(line));
        let members: Vec<(&Condition, Lines)> = self.conditions.iter().map(|one| (one, one.lines(input))).collect();
        let positive = |line: usize| members.iter().all(|(one, lines)| one.operator.is_negative() || lines.has(line));
        let matched = match pick {
            GoodsQuantifier::Cheapest | GoodsQuantifier::MostExpensive => {
                extreme(pick == GoodsQuantifier::Cheapest, &members, input, &inside)
            }
            _ => lines(&positive),
        };
        let forbidden = || members.iter().any(|(one, lines)| one.operator.is_negative() && !lines.is_empty());
        let holds = match pick {
            GoodsQuantifier::None => matched.is_empty(),
            GoodsQuantifier::Every => !matched.is_empty() && matched == lines(&|_| true),
            GoodsQuantifier::Product | GoodsQuantifier::Sku if forbidden() => false,
            // "Is not" by itself passes in an empty cart as well.
            GoodsQuantifier::Product | GoodsQuantifier::Sku => !matched.is_empty() || self.forbids(),
            _ => !matched.is_empty(),
        };
        let each = matches!(pick, GoodsQuantifier::Every | GoodsQuantifier::Cheapest | GoodsQuantifier::MostExpensive);
        holds.then_some(NestedTests { lines: matched, each })
    }

    /// Returns the lines whose goods have the property; `None` if none does or, if all must, one does not.
    fn goods_data(&self, input: &RuleInput<'_>, within: Option<&NestedTests>) -> Option<NestedTests> {
        if !input.clock.spend(input.items.len()) {
            return None;
        }
        let inside = |line: usize| within.is_none_or(|within| within.lines.has(line));
        let set = (self.name.kind == FactKind::GoodsSet).then(|| self.set_number());
        let meets = |line: usize| {
            if let Some(number) = set {
                return input.facts.is_in_goods_set(line, number, self.holds_without_data());
            }
            let value = |property: &Text| {
                let data = input.facts.goods_data(line, property);
                data.into_iter().flatten().find_map(|data| data.find_dotted(property))
            };
            self.all(FoundValue::value(self.property.as_ref().and_then(value)), input)
        };
        let count = input.items.len();
        let lines = Lines::of(count, |line| inside(line) && meets(line));
        let inner = self.rules.iter().flat_map(|rules| &rules.leaves);
        let all = inner.into_iter().any(|leaf| leaf.test.name.kind == FactKind::MatchAll && leaf.test.requires_true());
        let complete = !all || lines == Lines::of(count, inside);
        (!lines.is_empty() && complete).then_some(NestedTests { lines, each: all })
    }

    /// Compares an amount of lines.
    fn lines(
        &self,
        line_amount: LineAmount,
        over: LineQuantifier,
        input: &RuleInput<'_>,
        within: Option<&NestedTests>,
    ) -> bool {
        if over == LineQuantifier::Sum {
            let sum = sum(line_amount, input, within.map(|within| &within.lines));
            return sum.is_some_and(|sum| self.all(FoundValue::Number(sum), input));
        }
        over_lines(over, input, within, |line| {
            lines::line_amount(line_amount, input, line)
                .is_some_and(|number| self.all(FoundValue::Number(number), input))
        })
    }
}

/// Returns the metadata that a test uses.
pub(super) fn data_of<'a>(data: MetadataOwner, input: &RuleInput<'a>) -> Option<&'a Metadata> {
    match data {
        MetadataOwner::Order => input.order,
        MetadataOwner::Redemption => Some(input.redemption),
        MetadataOwner::Customer => input.customer,
    }
}

/// Returns the key or the user of the caller.
pub(super) fn channel<'a>(part: ChannelPart, input: &RuleInput<'a>) -> FoundValue<'a> {
    let [key, user] = input.channel;
    let found = match part {
        ChannelPart::Key => key,
        ChannelPart::User => user,
    };
    found.map_or(FoundValue::Missing, FoundValue::Text)
}
