//! Knows the goods of the lines of an order, by which an effect may move from one line to another.

use crate::decide::order_return::units::is_same;
use crate::model::order::{Item, Order};
use crate::model::redemption::{LineTotals, StoredRedemption};
use crate::text::Text;

/// The goods of the lines of an order and of its redemptions.
#[derive(Default)]
pub struct OrderGoods<'a> {
    /// The lines by id.
    lines: Vec<(&'a Text, &'a Item)>,
    /// The lines whose effects are known.
    fixed: Vec<&'a Text>,
}

impl<'a> OrderGoods<'a> {
    /// Finds the goods of the lines of an order, and of those that its redemptions had.
    pub fn of(order: &'a Order, parts: &'a [StoredRedemption]) -> OrderGoods<'a> {
        let present = order.items.iter().filter_map(|item| Some((item.id.as_ref()?, item)));
        let own = parts.iter().filter_map(|part| part.order.as_ref());
        let recorded = own.flat_map(|own| own.line_ids.iter().zip(&own.goods));
        OrderGoods { lines: present.chain(recorded).collect(), fixed: Vec::new() }
    }

    /// Keeps the effects on the lines of an order that are explained.
    #[must_use]
    pub fn with_fixed_lines(self, order: &'a Order, explained: &[Option<LineTotals>]) -> OrderGoods<'a> {
        let lines = order.items.iter().zip(explained).filter(|(_, sent)| sent.is_some());
        OrderGoods { fixed: lines.filter_map(|(item, _)| item.id.as_ref()).collect(), ..self }
    }

    /// Returns whether the effects on a line are known.
    pub fn is_fixed(&self, line_id: &Text) -> bool {
        self.fixed.contains(&line_id)
    }

    /// Returns whether effects may move from a line to this one: both have the same goods, as after a split or a merge.
    pub fn may_move(&self, from: &Text, to: &Item) -> bool {
        let Some(to_id) = to.id.as_ref().filter(|id| *id != from && !self.is_fixed(id)) else { return false };
        let item = |id: &Text| self.lines.iter().find(|(known, _)| *known == id).map(|(_, item)| *item);
        let names = item(to_id).unwrap_or(to);
        item(from).is_some_and(|from| is_same(from, names) || is_same(from, to))
    }
}
