//! Things are found by name as in a map, whatever the order in which they came.

use std::collections::BTreeMap;

use proptest::prelude::*;
use scrip::ordered_map::OrderedMap;
use scrip::text::Text;

use crate::holds;

#[test]
fn a_shelf_is_a_map_that_keeps_the_order() {
    let puts = prop::collection::vec(("[ab]{0,3}|voucher/[0-9]{1,3}|[ab]{6}[cd]{6,14}", any::<u16>()), 0..200);
    holds(300, puts, |puts| {
        let mut shelf = OrderedMap::default();
        let mut map = BTreeMap::new();
        for (name, thing) in &puts {
            shelf.put(Text::from(name.as_str()), *thing);
            map.insert(name.clone(), *thing);
        }
        for (name, thing) in &map {
            prop_assert_eq!(shelf.get(name), Some(thing));
            prop_assert_eq!(map.get(&format!("{name}x")), shelf.get(&format!("{name}x")));
        }
        prop_assert!(shelf.iter().eq(puts.iter().map(|(_, thing)| thing)));
        let first = OrderedMap::new(puts.clone(), |_| [None, None]);
        prop_assert!(puts.iter().all(|(name, _)| first.get(name).is_none()));
        Ok(())
    });
}

#[test]
fn the_first_of_a_name_keeps_it_on_a_shelf_that_is_made_at_once() {
    let shelf = OrderedMap::new(vec![(Text::from("a"), 1), (Text::from("a"), 2), (Text::from("b"), 3)], |(name, _)| {
        [Some(name), None]
    });
    assert_eq!(shelf.get("a").map(|(_, number)| *number), Some(1));
    assert_eq!(shelf.get("b").map(|(_, number)| *number), Some(3));
    assert_eq!(shelf.get(""), None);
}
