//! Decides which lines of an order are in the sets of a bundle. An entry of the catalogue lists the sets of its goods. Data of goods that
//! a request sends are compared only by the server.

use crate::decide::case::Case;
use crate::model::goods_sets::{GoodsSet, OtherGoods};
use crate::model::order::{Goods, Item, RelatedObject};
use crate::rules::ResolvedLine;
use crate::text::{Text, joined};

/// A line's SKU or product.
#[derive(Clone, Copy)]
enum LineEntry<'g> {
    /// Of the catalogue.
    Listed(&'g Goods),
    /// As the request sent it.
    Sent(&'g Goods),
    /// The line has no data of it.
    None,
}

/// Returns the name of a set as a missing fact.
pub fn set_fact(number: u64) -> Text {
    joined(&["set/", &number.to_string()])
}

impl Case<'_> {
    /// Returns whether a line is in a set that stands for a collection: its SKU or its product is. `None` if only the server knows.
    pub fn is_in_set(&self, position: usize, line: &ResolvedLine<'_>, set: &GoodsSet) -> Option<bool> {
        let [product, product_source, sku, sku_source] = line.names();
        let kinds = [
            (RelatedObject::Sku, sku.or(sku_source).is_some()),
            (RelatedObject::Product, product.or(product_source).is_some()),
        ];
        let states =
            kinds.map(|(kind, is_named)| match (self.goods_of_line(position, line.item(), kind), set.others) {
                (LineEntry::Listed(goods), others) => match (goods.sets.as_ref()?.state(set.number), others) {
                    (None, OtherGoods::ByProperty(without)) => without,
                    (state, _) => Some(state == Some(true)),
                },
                (_, OtherGoods::Out) => Some(false),
                (_, OtherGoods::ByName) => (!is_named).then_some(false),
                (LineEntry::Sent(goods), OtherGoods::ByProperty(without)) => {
                    without.filter(|_| goods.metadata.is_empty())
                }
                (LineEntry::Sent(_), OtherGoods::ByData) => None,
                (LineEntry::None, OtherGoods::ByData | OtherGoods::ByProperty(_)) => Some(false),
            });
        match states {
            [Some(true), _] | [_, Some(true)] => Some(true),
            [Some(false), Some(false)] => Some(false),
            _ => None,
        }
    }

    /// Returns whether the goods of a line meet a condition on metadata that only its number names: the SKU decides before the product,
    /// and `without` where neither has the property. `None` if only the server knows.
    pub fn meets_set(&self, position: usize, item: Option<&Item>, number: u64, without: Option<bool>) -> Option<bool> {
        for kind in [RelatedObject::Sku, RelatedObject::Product] {
            let sent = item.and_then(|item| item.goods(kind));
            if !self.is_added(position) && sent.is_some_and(|sent| !sent.metadata.is_empty()) {
                return None;
            }
            if let LineEntry::Listed(goods) = self.goods_of_line(position, item, kind)
                && let Some(state) = goods.sets.as_ref()?.state(number)
            {
                return Some(state);
            }
        }
        without
    }

    /// Returns the SKU or product of a line: of the catalogue if it has it. Goods of lines that unit effects add are those that the offer
    /// names.
    fn goods_of_line<'g>(&'g self, position: usize, item: Option<&'g Item>, kind: RelatedObject) -> LineEntry<'g> {
        let listed = match kind {
            RelatedObject::Sku => self.priced.sku(position),
            RelatedObject::Product => self.priced.product(position),
        };
        match (listed, item.and_then(|item| item.goods(kind))) {
            (Some(goods), _) => LineEntry::Listed(goods),
            (None, Some(goods)) if self.is_added(position) => LineEntry::Listed(goods),
            (None, Some(goods)) => LineEntry::Sent(goods),
            (None, None) => LineEntry::None,
        }
    }

    /// Returns whether a unit effect has added the line at this position.
    pub(super) fn is_added(&self, position: usize) -> bool {
        self.order.as_deref().is_none_or(|order| position >= order.items.len())
    }
}
