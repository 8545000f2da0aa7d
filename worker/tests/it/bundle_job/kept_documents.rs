//! Tests what a build keeps of the documents that it has read: a change costs only the changed ones, and the record of these ends with it.

use super::{SECOND, Shop};
use scrip_worker::service;
use scrip_worker::store::sql::{Sql, int};
use serde_json::{Value as Json, json};

impl Shop {
    fn count(&self, table: &str) -> i64 {
        int(&self.sql.run(&format!("SELECT count(*) FROM {table}"), &[]).unwrap()[0], 0).unwrap()
    }

    /// Returns the number of whole documents that a slice reads.
    fn documents_of_slice(&self) -> usize {
        self.sql.documents.set(0);
        self.slice();
        self.sql.documents.get()
    }

    /// Runs slices until one reads no document: then all are selected.
    fn select_all(&self) {
        (0..100).find(|_| self.documents_of_slice() > 0).expect("a read");
        (0..100).find(|_| self.documents_of_slice() == 0).expect("a selection");
    }

    /// Runs slices until there is a head.
    fn build_head(&self) -> usize {
        let rev = self.rev();
        self.sql.documents.set(0);
        (0..200).find(|_| self.slice() && self.rev() > rev).expect("a head");
        self.sql.documents.get()
    }
}

/// Also where all documents are selected already, a change costs only the changed ones.
#[test]
fn a_change_during_the_preparation_reads_no_other_document_again() {
    let shop = Shop::varied();
    shop.rows.set(15);
    shop.build_again();
    shop.select_all();
    let before = shop.core_hash();
    shop.make("PUT /v1/vouchers/OPEN-3", json!({ "discount": { "type": "AMOUNT", "amount_off": 1_234 } }));
    let read = shop.build_head();
    assert_ne!(shop.core_hash(), before);
    // The goods are up to date, and their documents are not read.
    assert!((1..10).contains(&read), "{read} documents");
}

/// The record of written documents ends with its build: with the core, also where slices are undone, and with a fault.
#[test]
fn the_record_of_written_documents_ends_with_the_build() {
    let shop = Shop::varied();
    shop.rows.set(15);
    shop.build_again();
    let rev = shop.rev();
    let mut was_recorded = false;
    for slices in 0.. {
        assert!(slices < 200, "no head");
        was_recorded |= shop.count("bundle_draft") == 1;
        shop.undone_slice();
        shop.slice();
        if shop.rev() > rev {
            break;
        }
    }
    assert!(was_recorded);
    assert_eq!(shop.count("bundle_draft"), 0);
    shop.build_again();
    shop.slice();
    assert_eq!(shop.count("bundle_draft"), 1);
    shop.run("UPDATE bundle_project SET settings = 'none'", &[]);
    let fault = shop.event(|store, context| service::alarm(store, context, 15)).unwrap_err();
    shop.event(|store, context| service::record_alarm_failure(store, context, &fault.0).unwrap());
    assert_eq!(shop.count("bundle_draft"), 0);
}

/// If too many documents were written meanwhile, all are read again, and no slice deletes all of their names.
#[test]
fn a_record_of_too_many_documents_counts_as_none() {
    let shop = Shop::varied();
    shop.rows.set(15);
    shop.build_again();
    shop.select_all();
    shop.run(
        "INSERT INTO bundle_written (kind, name)
         WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 45_000)
         SELECT 'voucher', 'v_' || number FROM numbers",
        &[],
    );
    shop.make("PUT /v1/vouchers/OPEN-3", json!({ "discount": { "type": "AMOUNT", "amount_off": 1_234 } }));
    shop.slice();
    assert!((20_000..30_000).contains(&shop.count("bundle_written")));
    let read = shop.build_head();
    assert!(read > 100, "{read} documents");
    let hash = shop.core_hash();
    shop.build_again();
    shop.build_head();
    assert_eq!((shop.core_hash(), shop.count("bundle_written")), (hash, 0));
}

/// A core that is completed for an earlier revision states that the catalogue has all goods of a collection. So no head names it with
/// goods that lack one of these since: it is built again, and when it cannot wait its head has no goods. Other goods make no difference.
#[test]
fn an_urgent_head_names_no_goods_that_contradict_its_core() {
    for (gone, later, expected) in
        [("unlisted", 0, [true; 2]), ("listed", 0, [false, true]), ("listed", SECOND, [true, false])]
    {
        let shop = Shop::varied();
        let make =
            |name: &str| shop.make("POST /v1/products", json!({ "name": name, "source_id": name, "price": 500 }));
        let (listed, _) = (make("listed"), make("unlisted"));
        shop.set("products_collection", 4, "$.products", json!([{ "id": listed["id"], "object": "product" }]));
        shop.pass(60 * SECOND);
        shop.rows.set(1_000_000);
        shop.change_until_urgent(&|at| shop.set("voucher", 3, "$.discount.amount_off", json!(at % 1_000 + 1)));
        shop.rows.set(15);
        shop.select_all();
        shop.run("DELETE FROM document WHERE kind = 'product' AND key = ?1", &[gone.into()]);
        shop.at.set(shop.at.get() + later);
        shop.build_head();
        // True if all collections are those of a full catalogue, and true if the head has goods.
        let answered = || {
            let core = shop.core();
            let mut collections = core["product_collections"].as_array().unwrap().iter();
            [collections.all(|collection| collection["others"] == "out"), shop.head().unwrap()["goods"] != Json::Null]
        };
        assert_eq!(answered(), expected, "{gone}, {later} ms later");
        shop.rows.set(1_000);
        shop.pass(60 * SECOND);
        assert_eq!(answered(), [gone == "unlisted", true], "{gone}: the next head is that of the present documents");
    }
}
