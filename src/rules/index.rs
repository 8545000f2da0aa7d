//! Decides which of many lists of rules hold in one situation, all at once: what one list asks is asked once for all of them.
//! It must not know whose rules they are. It says what [`Rule::check`] says, list by list; a property holds them together.
//!
//! Why? A thousand promotions ask for a few dozen goods and segments. Every different test is kept once and looked at
//! once for each situation; amounts are two comparisons beside the list.

mod answers;
mod key;

use answers::{Tests, number};

use crate::model::scope::GoodsObject;
use crate::money::Money;
use crate::rules::about;
use crate::rules::filter::Collection;
use crate::rules::input::RuleInput;
use crate::rules::kind::Kind;
use crate::rules::logic::Expression;
use crate::rules::needs::Needs;
use crate::rules::range::Range;
use crate::rules::rule::Rule;
use crate::text::Text;

/// Many lists of rules, prepared to be checked together.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// Every different test.
    tests: Tests,
    /// The lists that each test must hold for.
    needed: Vec<Vec<u32>>,
    /// What each list is about.
    lists: Vec<u8>,
    /// Lists that want amounts.
    amounts: Vec<(u32, Range)>,
    initial: Vec<(u32, Range)>,
    /// Rules that are more than a conjunction.
    trees: Vec<Tree>,
    /// The collections that tests name, and those of them that a rule makes itself.
    pub collections: Vec<(Text, Option<Collection>)>,
    /// Whether any test looks at custom data of products and SKUs.
    pub goods_data: bool,
}

/// A rule with an `or` in it.
#[derive(Debug, Clone)]
struct Tree {
    list: u32,
    logic: Expression,
    /// The number of the test that each place of the logic stands for.
    tests: Vec<u32>,
}

impl Index {
    /// Adds a list of rules; it is known by its place from here on.
    pub fn add(&mut self, rules: &mut dyn Iterator<Item = &Rule>) {
        let (mut ranges, mut about) = ([Range::ANY; 2], 0);
        for rule in rules {
            about |= self.add_rule(rule, &mut ranges);
        }
        let list = number(self.lists.len());
        let [amount, initial] = ranges;
        for (bounded, range) in [(&mut self.amounts, amount), (&mut self.initial, initial)] {
            if range != Range::ANY {
                bounded.push((list, range));
            }
        }
        self.lists.push(about);
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// Whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// What the tests of a list are about, all together.
    pub fn about(&self, list: usize) -> u8 {
        self.lists.get(list).copied().unwrap_or(0)
    }

    /// What a rule is about; what it asks for is noted.
    fn add_rule(&mut self, rule: &Rule, ranges: &mut [Range; 2]) -> u8 {
        self.note_goods(rule);
        let mut places = Vec::new();
        let plain = leaves_of(&rule.tests.logic, &mut places);
        let leaves = &rule.tests.leaves;
        let list = number(self.lists.len());
        let mut about = 0;
        let [amount, initial] = ranges;
        for test in places.iter().filter_map(|place| leaves.get(*place)).map(|leaf| &leaf.test) {
            about |= test.about();
            let range = match test.name.kind {
                Kind::Amount => Some(&mut *amount),
                Kind::InitialAmount => Some(&mut *initial),
                _ => None,
            };
            // What is refined is not only an amount.
            let within = range.filter(|_| plain && test.rules.is_none()).and_then(|range| {
                *range = range.within(&test.conditions)?;
                Some(())
            });
            if plain && within.is_none() {
                let test = self.tests.number_of(test) as usize;
                self.needed.resize_with(self.needed.len().max(test.saturating_add(1)), Vec::new);
                self.needed.get_mut(test).into_iter().for_each(|lists| lists.push(list));
            }
        }
        if !plain {
            let tests = leaves.iter().map(|leaf| self.tests.number_of(&leaf.test)).collect();
            self.trees.push(Tree { list, logic: rule.tests.logic.clone(), tests });
        }
        about
    }

    /// What tests want to know of lines besides their names.
    fn note_goods(&mut self, rule: &Rule) {
        self.goods_data |= rule.tests.needs().meets(Needs::GOODS_DATA);
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

    /// The places of the lists whose every rule holds, in order. Tests that are not about anything `asked` for count
    /// as held, and so do those that are about something of the incentive itself: whoever asks looks at these again.
    pub fn holding(&self, input: &RuleInput<'_>, asked: u8) -> Vec<usize> {
        let asked = asked & !about::OWN;
        let mut out = vec![false; self.lists.len()];
        // Without a branch where it matters: which of them hold is as good as random.
        let mut bar = |list: u32, is_out: bool| {
            if let Some(out) = out.get_mut(list as usize) {
                *out |= is_out;
            }
        };
        if asked & about::ORDER != 0 {
            for (bounded, amount) in [(&self.amounts, input.facts.amount()), (&self.initial, input.initial_amount)] {
                let amount = amount.map_or(Range::NO_AMOUNT, Money::minor);
                bounded.iter().for_each(|(list, range)| bar(*list, !range.holds(amount)));
            }
        }
        let found = self.tests.answers(input, asked);
        for (_, lists) in found.iter().zip(&self.needed).filter(|(holds, _)| !**holds) {
            lists.iter().for_each(|list| bar(*list, true));
        }
        for tree in &self.trees {
            let holds = |test: &u32| found.get(*test as usize).copied().unwrap_or(false);
            if tree.logic.blame(&mut |place| tree.tests.get(place).is_some_and(holds)).is_some() {
                bar(tree.list, true);
            }
        }
        let mut holding = vec![0; out.len()];
        let mut count = 0_usize;
        for (place, out) in out.iter().enumerate() {
            if let Some(slot) = holding.get_mut(count) {
                *slot = place;
            }
            count = count.wrapping_add(usize::from(!out));
        }
        holding.truncate(count);
        holding
    }
}

/// The names of the tests of a rule that are not about anything `asked` for, each once.
pub fn omitted(rule: &Rule, asked: u8) -> Vec<&'static str> {
    let mut places = Vec::new();
    leaves_of(&rule.tests.logic, &mut places);
    let mut names = Vec::new();
    for test in places.into_iter().filter_map(|place| rule.tests.leaves.get(place)).map(|leaf| &leaf.test) {
        if test.about() & asked == 0 && !names.contains(&test.name.text) {
            names.push(test.name.text);
        }
    }
    names
}

/// Gathers the places that a logic names; true when it is nothing but `and`.
fn leaves_of(logic: &Expression, places: &mut Vec<usize>) -> bool {
    let (parts, plain) = match logic {
        Expression::Leaf(place) => {
            places.push(*place);
            return true;
        }
        Expression::All(parts) => (parts, true),
        Expression::Any(parts) => (parts, false),
    };
    parts.iter().fold(plain, |plain, part| leaves_of(part, places) && plain)
}
