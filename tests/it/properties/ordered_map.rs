//! Things are found by name as in a map, in each order of insertion.

use std::collections::BTreeMap;

use proptest::prelude::*;
use scrip::ordered_map::OrderedMap;
use scrip::text::Text;

use crate::properties::holds;

#[test]
fn an_ordered_map_equals_a_map_and_keeps_the_order() {
    let puts = prop::collection::vec(("[ab]{0,3}|voucher/[0-9]{1,3}|[ab]{6}[cd]{6,14}", any::<u16>()), 0..200);
    holds(300, puts, |puts| {
        let mut ordered = OrderedMap::default();
        let mut map = BTreeMap::new();
        for (name, value) in &puts {
            ordered.insert(Text::from(name.as_str()), *value);
            map.insert(name.clone(), *value);
        }
        for (name, value) in &map {
            prop_assert_eq!(ordered.get(name), Some(value));
            prop_assert_eq!(map.get(&format!("{name}x")), ordered.get(&format!("{name}x")));
        }
        prop_assert!(ordered.iter().eq(puts.iter().map(|(_, value)| value)));
        let first = OrderedMap::new(puts.clone(), |_| [None, None]);
        prop_assert!(puts.iter().all(|(name, _)| first.get(name).is_none()));
        Ok(())
    });
}

#[test]
fn of_one_name_the_first_is_found() {
    let ordered =
        OrderedMap::new(vec![(Text::from("a"), 1), (Text::from("a"), 2), (Text::from("b"), 3)], |(name, _)| {
            [Some(name), None]
        });
    assert_eq!(ordered.get("a").map(|(_, number)| *number), Some(1));
    assert_eq!(ordered.get("b").map(|(_, number)| *number), Some(3));
    assert_eq!(ordered.get(""), None);
}
