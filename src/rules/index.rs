//! Decides which of many lists of rules pass in one situation. Each different test is evaluated once for all lists. The
//! result equals that of [`Rule::check`] for each list; a property test checks that.
//!
//! A thousand promotions test a few dozen goods and segments. Every different test is stored once and evaluated once for
//! each situation; amounts are two comparisons per list.

mod answers;
mod key;

use crate::count::Countable;
use answers::{Tests, number};

use crate::model::scope::GoodsObject;
use crate::money::Money;
use crate::rules::filter::Collection;
use crate::rules::input::RuleInput;
use crate::rules::kind::FactKind;
use crate::rules::logic::Expression;
use crate::rules::needs::RequiredFacts;
use crate::rules::range::AmountRange;
use crate::rules::rule::Rule;
use crate::rules::subject;
use crate::text::Text;

/// Many lists of rules, prepared to be checked together.
#[derive(Debug, Clone, Default)]
pub struct RuleIndex {
    /// Every different test.
    tests: Tests,
    /// The lists that require each test.
    needed: Vec<Vec<u32>>,
    /// The subjects of each list.
    lists: Vec<u8>,
    /// Lists with conditions on amounts.
    amounts: Vec<(u32, AmountRange)>,
    initial: Vec<(u32, AmountRange)>,
    /// Rules that are more than a conjunction.
    trees: Vec<OrRule>,
    /// The collections that tests name, with the definition if a rule contains it.
    pub collections: Vec<(Text, Option<Collection>)>,
    /// `true` if any test uses metadata of products and SKUs.
    pub goods_data: bool,
    /// `true` if any test uses the channel of a request.
    pub channel: bool,
}

/// A rule with an `or` in it.
#[derive(Debug, Clone)]
struct OrRule {
    list: u32,
    logic: Expression,
    /// The number of the test at each position of the logic.
    tests: Vec<u32>,
}

impl RuleIndex {
    /// Adds a list of rules; its position identifies it.
    pub fn add(&mut self, rules: &mut dyn Iterator<Item = &Rule>) {
        let (mut ranges, mut subjects) = ([AmountRange::ANY; 2], 0);
        for rule in rules {
            subjects |= self.add_rule(rule, &mut ranges);
        }
        let list = number(self.lists.len());
        let [amount, initial] = ranges;
        for (bounded, range) in [(&mut self.amounts, amount), (&mut self.initial, initial)] {
            if range != AmountRange::ANY {
                bounded.push((list, range));
            }
        }
        self.lists.push(subjects);
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// Returns whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Returns the subjects of all tests of a list.
    pub fn subjects_of(&self, list: usize) -> u8 {
        self.lists.get(list).copied().unwrap_or(0)
    }

    /// Adds a rule, records what it needs, and returns its subjects.
    fn add_rule(&mut self, rule: &Rule, ranges: &mut [AmountRange; 2]) -> u8 {
        self.record_goods(rule);
        self.channel |= rule.needs.meets(RequiredFacts::CHANNEL);
        let mut positions = Vec::new();
        let plain = leaves_of(&rule.tests.logic, &mut positions);
        let leaves = &rule.tests.leaves;
        let list = number(self.lists.len());
        let mut subjects = 0;
        let [amount, initial] = ranges;
        for test in positions.iter().filter_map(|position| leaves.get(*position)).map(|leaf| &leaf.test) {
            subjects |= test.subject();
            let range = match test.name.kind {
                FactKind::Amount => Some(&mut *amount),
                FactKind::InitialAmount => Some(&mut *initial),
                _ => None,
            };
            // A test with nested tests is not only an amount.
            let within = range.filter(|_| plain && test.rules.is_none()).and_then(|range| {
                *range = range.within(&test.conditions)?;
                Some(())
            });
            if plain && within.is_none() {
                let test = self.tests.number_of(test) as usize;
                self.needed.resize_with(self.needed.len().max(test.plus_one()), Vec::new);
                self.needed.get_mut(test).into_iter().for_each(|lists| lists.push(list));
            }
        }
        if !plain {
            let tests = leaves.iter().map(|leaf| self.tests.number_of(&leaf.test)).collect();
            self.trees.push(OrRule { list, logic: rule.tests.logic.clone(), tests });
        }
        subjects
    }

    /// Records the collections and goods data that tests need.
    fn record_goods(&mut self, rule: &Rule) {
        self.goods_data |= rule.tests.needs().meets(RequiredFacts::GOODS_DATA);
        rule.tests.each_leaf(&mut |leaf| {
            let goods = leaf.test.conditions.iter().flat_map(|condition| &condition.goods);
            for goods in goods.filter(|goods| goods.object == GoodsObject::Collection) {
                if !self.collections.iter().any(|(known, _)| *known == goods.id) {
                    let own = rule.own_collections.iter().find(|own| own.id == goods.id);
                    self.collections.push((goods.id.clone(), own.cloned()));
                }
            }
        });
    }

    /// Returns the positions of the lists whose rules all pass, in order. Tests of other subjects than `subjects` count as
    /// passed, and so do those of the redeemable itself: the caller evaluates these again. `candidates` are the lists that the
    /// caller considers, all if absent: only their tests query facts, and of other lists the result has no meaning.
    pub fn find_passing(&self, input: &RuleInput<'_>, subjects: u8, candidates: Option<&[bool]>) -> Vec<usize> {
        let subjects = subjects & !subject::OWN;
        let mut out = vec![false; self.lists.len()];
        // Branch-free, because the passing tests are as good as random.
        let mut bar = |list: u32, is_out: bool| {
            if let Some(out) = out.get_mut(list as usize) {
                *out |= is_out;
            }
        };
        if subjects & subject::ORDER != 0 {
            for (bounded, amount) in [(&self.amounts, input.facts.amount()), (&self.initial, input.initial_amount)] {
                let amount = amount.map_or(AmountRange::NO_AMOUNT, Money::minor);
                bounded.iter().for_each(|(list, range)| bar(*list, !range.holds(amount)));
            }
        }
        let needed = candidates.map(|candidates| self.tests_of(candidates));
        let found = self.tests.answers(input, subjects, needed.as_deref());
        for (_, lists) in found.iter().zip(&self.needed).filter(|(holds, _)| !**holds) {
            lists.iter().for_each(|list| bar(*list, true));
        }
        for tree in &self.trees {
            let holds = |test: &u32| found.get(*test as usize).copied().unwrap_or(false);
            if tree.logic.first_failing(&mut |position| tree.tests.get(position).is_some_and(holds)).is_some() {
                bar(tree.list, true);
            }
        }
        let mut holding = vec![0; out.len()];
        let mut count = 0_usize;
        for (position, out) in out.iter().enumerate() {
            if let Some(slot) = holding.get_mut(count) {
                *slot = position;
            }
            // No list has more entries than memory.
            count = count.wrapping_add(usize::from(!out));
        }
        holding.truncate(count);
        holding
    }

    /// Returns for each test whether one of the selected lists has it.
    fn tests_of(&self, selected: &[bool]) -> Vec<bool> {
        let is_selected = |list: &u32| selected.get(*list as usize).copied().unwrap_or(false);
        let mut tests: Vec<bool> = self.needed.iter().map(|lists| lists.iter().any(is_selected)).collect();
        tests.resize(self.tests.len(), false);
        for test in self.trees.iter().filter(|tree| is_selected(&tree.list)).flat_map(|tree| &tree.tests) {
            tests.get_mut(*test as usize).into_iter().for_each(|needed| *needed = true);
        }
        tests
    }
}

/// Returns the names of the tests of a rule whose subjects are not in `subjects`, each once.
pub fn omitted_tests(rule: &Rule, subjects: u8) -> Vec<&'static str> {
    let mut positions = Vec::new();
    leaves_of(&rule.tests.logic, &mut positions);
    let mut names = Vec::new();
    for test in positions.into_iter().filter_map(|position| rule.tests.leaves.get(position)).map(|leaf| &leaf.test) {
        if test.subject() & subjects == 0 && !names.contains(&test.name.text) {
            names.push(test.name.text);
        }
    }
    names
}

/// Collects the positions that a logic names; returns `true` if it has only `and`.
fn leaves_of(logic: &Expression, positions: &mut Vec<usize>) -> bool {
    let (parts, plain) = match logic {
        Expression::Leaf(position) => {
            positions.push(*position);
            return true;
        }
        Expression::All(parts) => (parts, true),
        Expression::Any(parts) => (parts, false),
    };
    parts.iter().fold(plain, |plain, part| leaves_of(part, positions) && plain)
}
