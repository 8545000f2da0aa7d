//! Reads any text as the logic of a rule: it is refused or read, its printed form is read as the same logic, and its evaluation ends.

use scrip::rules::Expression;
use scrip::text::Text;

/// Checks the properties of one text.
pub fn run(text: &str) {
    let keys: Vec<Text> = ["1", "2", "3", "10", "a"].into_iter().map(Text::from).collect();
    let Ok(expression) = Expression::parse(text, &keys) else { return };
    let printed = expression.print(&keys);
    assert!(text.trim().is_empty() || Expression::parse(&printed, &keys).as_ref() == Ok(&expression), "{printed}");
    for turn in 0..32_usize {
        let holds = expression.holds(&mut |position| turn >> position & 1 == 1);
        let first_failing = expression.first_failing(&mut |position| turn >> position & 1 == 1);
        assert_eq!(holds, first_failing.is_none());
        assert!(first_failing.is_none_or(|position| turn >> position & 1 == 0));
    }
}
