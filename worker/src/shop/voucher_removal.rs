//! A voucher that goes for good, with what belongs to it. It must not know who takes it away.

use crate::http::route::Call;
use crate::shop::vouchers::VOUCHER;
use crate::shop::{assignments, generation, holders};
use crate::store::document::Document;

/// Takes a voucher away at the commit, with its rules, holders and locks; what was redeemed of it stays written down.
pub fn remove(call: &mut Call<'_, '_>, voucher: &Document) {
    assignments::detach(call, &voucher.id);
    holders::detach(call, &voucher.id);
    call.store.release_voucher(&voucher.id, None);
    call.store.remove(VOUCHER.object, &voucher.id);
    if let Some(campaign) = &voucher.parent {
        generation::count(call, campaign, -1);
    }
}
