//! Deletes a voucher and its dependent documents.

use crate::domain::validation_rules::assignments;
use crate::domain::vouchers::voucher::VOUCHER;
use crate::domain::vouchers::{creation, referral_holders};
use crate::http::route::Call;
use crate::store::document::Document;

/// Queues the deletion of a voucher with its rules, holders and locks; its redemptions stay.
pub fn delete(call: &mut Call<'_, '_>, voucher: &Document) {
    assignments::delete_all(call, &voucher.id);
    referral_holders::delete_all(call, &voucher.id);
    call.store.release_voucher(&voucher.id, None);
    call.store.delete(VOUCHER.object, &voucher.id);
    if let Some(campaign) = &voucher.parent {
        creation::update_count(call, campaign, -1);
    }
}
