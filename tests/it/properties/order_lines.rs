//! Tests which lines match which goods, against a comparison with every name of every line.

use proptest::prelude::*;
use scrip::model::scope::{GoodsObject, GoodsRef};
use scrip::rules::{GoodsIndex, OrderLines, ResolvedLine};
use scrip::text::Text;

use crate::properties::holds;

#[test]
fn an_index_of_goods_finds_the_same_lines_as_a_scan() {
    let line = (0..4_u8, "[ab]{1,2}", proptest::option::of("[ab]{1,2}"));
    let goods_names = (any::<bool>(), "[ab]{1,2}", proptest::option::of("[ab]{1,2}"));
    let inputs = (proptest::collection::vec(line, 0..9), proptest::collection::vec(goods_names, 0..5));
    holds(4_000, inputs, |(lines, goods_names)| {
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
        let goods: Vec<GoodsRef> = goods_names
            .iter()
            .map(|(product, id, source)| {
                let object = if *product { GoodsObject::Product } else { GoodsObject::Sku };
                GoodsRef::new(object, Text::from(id.as_str()), source.as_deref().map(Text::from))
            })
            .collect();
        let expected = items.iter().any(|item| {
            let [product, product_source, sku, sku_source] = item.names();
            goods.iter().any(|goods| {
                let names =
                    if goods.object == GoodsObject::Product { [product, product_source] } else { [sku, sku_source] };
                let is = |name: &str| names.contains(&Some(name));
                is(&goods.id) || goods.source_id.as_deref().is_some_and(is)
            })
        });
        let order_lines = OrderLines::of(&items);
        prop_assert_eq!(order_lines.has_any(&goods), expected);
        let index = GoodsIndex::new(order_lines);
        let written_down = order_lines.with(Some(&index));
        prop_assert_eq!(written_down.has_any(&goods), expected);
        let positions = |order_lines: OrderLines<'_>, goods: &GoodsRef| {
            let mut positions = Vec::new();
            order_lines.each_position(goods, &mut |position| positions.push(position));
            positions
        };
        for goods in &goods {
            let expected_places: Vec<usize> = (0..items.len()).filter(|position| items[*position].is(goods)).collect();
            prop_assert_eq!(order_lines.first(goods), expected_places.first().copied());
            prop_assert_eq!(written_down.first(goods), expected_places.first().copied());
            prop_assert_eq!(positions(order_lines, goods), expected_places.clone());
            prop_assert_eq!(positions(written_down, goods), expected_places);
        }
        Ok(())
    });
}
