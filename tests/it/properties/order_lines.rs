//! Tests which lines match which goods, against a comparison with every name of every line.

use proptest::prelude::*;
use scrip::model::scope::{GoodsObject, GoodsRef};
use scrip::rules::{GoodsIndex, OrderLines, ResolvedLine};
use scrip::text::Text;

use crate::properties::holds;

#[test]
fn an_index_of_goods_finds_the_same_lines_as_a_scan() {
    let line = (0..4_u8, "[ab]{1,2}", proptest::option::of("[ab]{1,2}"));
    let wanted = (any::<bool>(), "[ab]{1,2}", proptest::option::of("[ab]{1,2}"));
    let inputs = (proptest::collection::vec(line, 0..9), proptest::collection::vec(wanted, 0..5));
    holds(4_000, inputs, |(lines, wanted)| {
        let item = |(kind, id, source): &(u8, String, Option<String>)| {
            let names = [Some(id.as_str()), source.as_deref()];
            let names = names.map(|name| name.map(|name| &*Box::leak(Box::new(Text::from(name)))));
            match kind {
                0 => ResolvedLine::new(names, [None, None]),
                1 => ResolvedLine::new([None, None], names),
                2 => ResolvedLine::new([names[0], None], [names[1], None]),
                _ => ResolvedLine::new([None, None], [None, None]),
            }
        };
        let items: Vec<ResolvedLine<'_>> = lines.iter().map(item).collect();
        let goods: Vec<GoodsRef> = wanted
            .iter()
            .map(|(product, id, source)| {
                let object = if *product { GoodsObject::Product } else { GoodsObject::Sku };
                GoodsRef::new(object, Text::from(id.as_str()), source.as_deref().map(Text::from))
            })
            .collect();
        let naive = items.iter().any(|item| {
            let [product, product_source, sku, sku_source] = item.names();
            goods.iter().any(|goods| {
                let names =
                    if goods.object == GoodsObject::Product { [product, product_source] } else { [sku, sku_source] };
                let is = |name: &str| names.contains(&Some(name));
                is(&goods.id) || goods.source_id.as_deref().is_some_and(is)
            })
        });
        let basket = OrderLines::of(&items);
        prop_assert_eq!(basket.has_any(&goods), naive);
        let index = GoodsIndex::new(basket);
        let written_down = basket.with(Some(&index));
        prop_assert_eq!(written_down.has_any(&goods), naive);
        let places = |basket: OrderLines<'_>, goods: &GoodsRef| {
            let mut places = Vec::new();
            basket.each_place(goods, &mut |place| places.push(place));
            places
        };
        for goods in &goods {
            let slow: Vec<usize> = (0..items.len()).filter(|place| items[*place].is(goods)).collect();
            prop_assert_eq!(basket.first(goods), slow.first().copied());
            prop_assert_eq!(written_down.first(goods), slow.first().copied());
            prop_assert_eq!(places(basket, goods), slow.clone());
            prop_assert_eq!(places(written_down, goods), slow);
        }
        Ok(())
    });
}
