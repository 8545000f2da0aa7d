//! Tests that a client's pages of a qualification are bounded in bytes and in candidates, and together list the same items as a server
//! receives.

use proptest::prelude::*;
use proptest::sample::select;
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;
use serde_json::{Value, json};

use crate::properties::holds;

/// Bytes of one answer to a client, unless it has one result or none.
const BYTES_MAX: usize = 1_000_000;

/// The vouchers of a customer, and the query.
#[derive(Debug, Clone)]
struct PagedQuery {
    /// For each voucher: the minute of its creation, its discount, and the number of its redemptions if that is limited.
    vouchers: Vec<(i64, u64, Option<u64>)>,
    lines: usize,
    /// The number of notes of 11 kB in the order.
    notes: usize,
    items: bool,
    sorting: &'static str,
    scenario: &'static str,
    limit: usize,
}

fn queries() -> impl Strategy<Value = PagedQuery> {
    let voucher = (0..80_i64, 1..9_u64, select(vec![None, None, Some(0), Some(1)]));
    let count = prop_oneof![2 => 0..9_usize, 2 => 40..90_usize, 1 => 300..460_usize];
    let vouchers = count.prop_flat_map(move |count| prop::collection::vec(voucher.clone(), count));
    let order = (select(vec![1, 40, 500]), select(vec![0, 1, 100]), any::<bool>());
    let how = (
        select(vec!["DEFAULT", "BEST_DEAL", "LEAST_DEAL"]),
        select(vec!["ALL", "CUSTOMER_WALLET"]),
        select(vec![1, 7, 100]),
    );
    (vouchers, order, how).prop_map(|(vouchers, (lines, notes, items), (sorting, scenario, limit))| {
        // Otherwise hundreds of answers are a megabyte each.
        let notes = if vouchers.len() > 90 || notes > 1 && vouchers.len() > 9 { 0 } else { notes };
        let limit = if (lines == 500 || notes > 0) && vouchers.len() > 9 { 100 } else { limit };
        PagedQuery { vouchers, lines, notes, items, sorting, scenario, limit }
    })
}

impl PagedQuery {
    fn rules(&self, client: bool) -> PreparedRules {
        let effect = if self.items { "APPLY_TO_ITEMS" } else { "APPLY_TO_ORDER" };
        let voucher = |(position, (minute, off, redeemed)): (usize, &(i64, u64, Option<u64>))| {
            let at = Instant::from_millis(1_767_225_600_000 + minute * 60_000).unwrap().text();
            json!({ "id": format!("v_{position}"), "code": format!("CODE{position}"), "type": "DISCOUNT_VOUCHER",
                    "holder_id": "cust_1", "created_at": at,
                    "discount": { "type": "AMOUNT", "amount_off": off, "effect": effect },
                    "redemption": { "quantity": redeemed.map(|_| 1), "redeemed_quantity": redeemed.unwrap_or(0) } })
        };
        let vouchers: Vec<Value> = self.vouchers.iter().enumerate().map(voucher).collect();
        let mut rules = json!({ "complete": true, "counted": true, "vouchers": vouchers,
                                "customers": [{ "id": "cust_1", "source_id": "ann" }] });
        if client {
            rules["client"] = json!({ "customers": "open" });
        }
        PreparedRules::new(crate::support::service_facts::world(&rules.to_string()).as_bytes()).unwrap()
    }

    /// Returns all pages in order: their items and their sizes.
    fn pages(&self, client: bool) -> Vec<(Vec<String>, usize)> {
        let context =
            Context { now: Instant::parse("2026-03-01T12:00:00Z").unwrap(), seed: [1; 32], first_number: None };
        let prepared = self.rules(client);
        let lines: Vec<Value> =
            (0..self.lines).map(|line| json!({ "product_id": format!("p{line}"), "price": 900 })).collect();
        let mut options = json!({ "limit": self.limit, "sorting_rule": self.sorting });
        let mut pages = Vec::new();
        loop {
            let order = json!({ "items": lines, "metadata": { "notes": vec!["n".repeat(11_000); self.notes] } });
            let request = json!({ "customer": { "source_id": "ann" }, "scenario": self.scenario, "order": order, "options": options });
            let page = prepared.qualify(request.to_string().as_bytes(), &context);
            let answer: Value = serde_json::from_slice(&page.body).unwrap();
            let list = &answer["redeemables"];
            let data = list["data"].as_array().unwrap_or_else(|| panic!("{answer}"));
            pages.push((data.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect(), page.body.len()));
            assert_eq!(list["has_more"] == true, list["more_starting_after"].is_string());
            if list["has_more"] != true {
                return pages;
            }
            assert_ne!(options["starting_after"], list["more_starting_after"], "a page goes on where it began");
            options["starting_after"] = list["more_starting_after"].clone();
        }
    }
}

#[test]
fn qualification_pages_are_bounded_and_complete() {
    holds(60, queries(), |queries| {
        let all_ids: Vec<String> = queries.pages(false).into_iter().flat_map(|(ids, _)| ids).collect();
        let pages = queries.pages(true);
        for (ids, bytes) in &pages {
            prop_assert!(*bytes <= BYTES_MAX || ids.len() <= 1, "{} results are {bytes} bytes", ids.len());
            prop_assert!(ids.len() <= queries.limit);
        }
        let empty = pages.iter().filter(|(ids, _)| ids.is_empty()).count();
        prop_assert!(empty <= 1, "{empty} pages are empty");
        let mut listed: Vec<String> = pages.into_iter().flat_map(|(ids, _)| ids).collect();
        let mut all_ids = all_ids;
        if queries.sorting != "DEFAULT" && queries.vouchers.len() > 120_000 / (queries.lines + 100) {
            // Candidates of one page are sorted together.
            listed.sort();
            all_ids.sort();
        }
        prop_assert_eq!(listed, all_ids);
        Ok(())
    });
}
