//! The files of the migrations, and the databases of every earlier version.

use super::*;
use crate::constant_time::sha256_hex;
use rusqlite::Connection;

/// The SHA-256 of each file. A migration that has run somewhere is never edited: a new one gets a line, and no line changes.
const HASHES: &[(&str, &str)] = &[
    ("0001_base", "01b747197375670d74ff06b1bd8c3f146c122f363254c8a9ef92b738a954d6fc"),
    ("0002_transfer_times", "ce9392f30540aef7abd8f5d68ea653fb1beec9f0c616c35b19fee1bd5db32c93"),
    ("0003_retention", "517f3544f23a913027e33cc79db4504824672d37eaf5171d98ee2a96cbd99364"),
    ("0004_hold_owners", "0d92a7b3eec06d6cd72ccbb717ead363b3e7091402ca9d58a54f8f5023e86a9d"),
    ("0005_publication_limits", "24a921b829e1b3f5ddc7aa1cc58b22a3de065d226de391a2fff0d79d19d1b463"),
    ("0006_category_members", "764af20328c2650dffc4b050365b3c7ee709ace9d7c28dfaaa28c212cf79d488"),
    ("0007_referral_holders", "b1af89853438076213e82132e3006e15e5311ddb040201765aab45417057386a"),
    ("0008_earning_triggers", "309a6c87fb2082bc1c708230867b5764fc83fd29073d673d33515fb2fb5c8d0a"),
    ("0009_program_revision", "514ad9e719e304c4081de46d02f2a4b3ea9baeb39e840c8564fe8f7577c2d7a8"),
    ("0010_incentives_and_lots", "10e05bc7e49fbfb135e8ed6594afcf9ffe17f5785f3550ef961fadb5270be5fc"),
    ("0011_fired_rules", "b7fccbb5109a9a2aa2ea63fa81087bfacc9e1c07ba2fb9a94c7caa51db82089b"),
    ("0012_statistics", "f4be4211aeb03faa7c2489cd5a4e65445720e66c684338e8cad57cae37c2c7c9"),
    ("0013_program_revision_by_case", "aa9b99d6e70b7da8d86f0f2334b7ac70f563631e4e9bc4b18fd044f0d7f3ccd8"),
    ("0014_scratch", "61f3deee21b8aeb92d43a525cc4aff20640e0db55711542eb8bfe88ca98e313a"),
    ("0015_export_lines", "8c8a239078fd6bd92e7d319d8cf84042e61139731cd3041f453af1cd31f6e2c3"),
    ("0016_outbox", "bd8df44a809c5477a654d9d6644eb45ce393e9b50ab7c7eb4d6c94e067236fcb"),
    ("0017_list_indexes", "82f07a130c4549c93dda7183d9c11cda28a54d8f2153f4c01290fa6888f972b6"),
    ("0018_key_digests", "1d810ec2b120fb545f69d8c868b4b4b80f994ef9076028114f68d539c7cd11bd"),
    ("0019_idempotent_responses", "d4696f97721f2cbf2886afdf86e807860993f6fabade790fc949dd31c95916e5"),
    ("0020_name_trigrams", "e6b51723f9c94afebeac5befc69342b8c02103df567364a1ddfced071333a536"),
    ("0021_event_types", "e1d2ca70b685038ef16f39b98b4958e5095b238f092cc7dcc3afe7a62571efdc"),
    ("0022_published_vouchers", "c77d352caa57b07ddb150597ee1df97d95c0e28cb71ec422f4a45aa5c4285250"),
    ("0023_counted_orders", "4c5da2a3e84e4e28101990df7a00546d817c0dc971fc5dfce76041e9d2552e41"),
    ("0024_redemption_campaigns", "34a832fb69ad4702c4a9ca41b60f29534ffba3a0e4899a1d5823abe75d3c2378"),
    ("0025_bundle_revision", "e4d53b2416995c25a067e44376d4ef8a96c61ffebce1d8bc26044c3cd66a6841"),
    ("0026_folded_codes", "b713f31894df2a52e8694d9f939b80461bea3d2a118485e8bbb790d783f24f75"),
    ("0027_transfer_parts", "5934916f85cd10939143aeabd10824e2638ba5974aba5564a9498b63a8fc1a8d"),
    ("0028_fired_flag", "5ca8966136b06c929bd96bb7052b18b2cee2aeef8b57d69af9b299e15a1b63ff"),
    ("0029_folded_emails", "965d2f833c830242aea2cd61343d0569221b8f3dfb390e725748e0d09de5b569"),
    ("0030_organisation_users", "6c3f482ec0b05db095f9f2789da3606b6f42ddf308f1be78942213b2910656fe"),
    ("0031_token_keys", "d2eb79e2f179c2caf700aecf834fc205b55f3013620d5bff66c57170e319e412"),
    ("0032_due_owners", "6c33cc13bd99454226f9f67ff31bdfab0c7040600c97c0d45159f845980106c4"),
    ("0033_outbox_causes", "9aab405251cbcfc45eca533876c490bcecaa954aba78d2031920aff7f5d30ca2"),
    ("0034_file_size", "5ae64f9751785acf1ffafde57fd70af342b668e7325094f95551012c5551a8b7"),
    ("0035_bundle_keys", "6cea6e68e29284777329b046ab04b1da15af74314b490cf376e2726a974d1ad0"),
    ("0036_bundle_heads", "a2210141e81c565d2ea0c7ed9b12e704646112f6f9cc44ff40002b233b18093b"),
    ("0037_bundle_metadata_schemas", "6a1fa0effe367d4564da5cac024cde5152749026c9e83fa3505d06e520170e7c"),
    ("0038_bundle_job", "bcd1684da50a6748d4c26e44f071c77e54f85ad13f1b7b5878a5b66050c3c995"),
    ("0039_voucher_visibility", "7d7bd4cc59677ac5457cf798c463e7e26b1cb619f77c11139d964fa782e20643"),
    ("0040_bundle_offers", "597b2d4d54d634e4043860f5a9a1d2496c0c6a0bfe4c38f8b27b97e4146b761f"),
    ("0041_bundle_goods", "e76b2401503f518fcc581582d67530167a8faf4a51a0bdb55d7a7b6771202343"),
    ("0042_campaigns_with_offers", "ff250c978d4b5c1df112938418d01a24a4518af166f848d818d05c1b4b1c116c"),
    ("0043_code_keys", "a17f16713e9c08d838a267ae8aefade117a7ddae70d9b3b1d8753feef13ca354"),
    ("0044_used_codes", "2b4c2dbac9ecad791d99f2b0af6df340f60f2147c77c4b8133f3733b9b4605e2"),
    ("0045_goods_sets", "a7500da6a12af4d1a49058bac0f3473b4d0f53b169f47cb2d0775de350a0912c"),
    ("0046_bundle_copying", "807c1d79a03f0573c6e4fefba2fe64151608f026c513e688843651cdca37d3f6"),
    ("0047_redemption_inputs", "a5f4444395121a85e50e22772b15fb68ce61990268990b166769f574f57fc76e"),
    ("0048_bundle_drafts", "cc576c024e0c51f2461e029c8fbb43c42a6c30fddfca676f83baab1cfbb81c6e"),
    ("0049_replay_setting", "4119269536236f87032feb2dbed5365b80b63ff143c665b3962ff9a11732aa8f"),
    ("0050_count_mark", "973c36431553f0043ce7aaa6d003dbc33b8e589a5ea9499eeb9dd452ed8e2952"),
    ("0051_transfer_chains", "28d893540b3b423d23d4b8787937ba3f806a12d6833313f6ece0e6787164945c"),
    ("0052_kept_counts", "8c4354ea8890337084daebc2e4e21edd14fedca1b78cff15bfb94da539d12ade"),
    ("0053_records", "ccda80a5c5c5d5553f6ba5469ade909ef28261299814a9578cedf59201de46f6"),
    ("0054_list_indexes", "abf2b3c0cf854964b8088704fab399713e5388f2abed40fed616810e2363616b"),
    ("0055_waiting_statistics", "8d3815a78a42dcfd9f335a75326ac5a9a8ed0def005fd44643e5a360faeaca9f"),
    ("0056_unlimited_vouchers", "981c9846d5eab8774567aa51747dc282e50bad0646ffaaddb0d0daef72594a23"),
    ("0057_document_numbers", "798d346311c49a4161bdacd1b2408a77f9c4890a6cf8d9b0d68894e0b8b09af6"),
    ("0058_listener_revision", "c89825b8fb0dcf0489ba790e3bc36c3ea62c14eabd37688b5395dab94457a15c"),
];

#[test]
fn an_applied_migration_is_never_edited() {
    let hashes: Vec<(&str, String)> =
        MIGRATIONS.iter().map(|migration| (migration.name, sha256_hex(migration.text.as_bytes()))).collect();
    let known: Vec<(&str, String)> = HASHES.iter().map(|(name, hash)| (*name, (*hash).to_owned())).collect();
    assert_eq!(hashes, known);
}

#[test]
fn every_file_is_a_migration_and_its_name_begins_with_its_number() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/migrations");
    let mut files: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort_unstable();
    let names: Vec<String> = MIGRATIONS.iter().map(|migration| format!("{}.sql", migration.name)).collect();
    assert_eq!(files, names);
    for (migration, version) in MIGRATIONS.iter().zip(1..) {
        assert!(migration.name.starts_with(&format!("{version:04}_")), "{} has the number {version}", migration.name);
    }
}

#[test]
fn empty_lines_separate_the_same_statements_as_sqlite_finds() {
    let split = Connection::open_in_memory().unwrap();
    let whole = Connection::open_in_memory().unwrap();
    for migration in MIGRATIONS {
        for statement in statements(migration.text) {
            split
                .prepare(statement)
                .unwrap_or_else(|error| panic!("{}: {error}: {statement}", migration.name))
                .raw_execute()
                .unwrap();
        }
        whole.execute_batch(migration.text).unwrap();
        let schema = |connection: &Connection| {
            let mut select = connection.prepare("SELECT sql FROM sqlite_schema ORDER BY name").unwrap();
            let rows = select.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
            rows.map(Result::unwrap).collect::<Vec<_>>()
        };
        assert_eq!(schema(&split), schema(&whole), "{}", migration.name);
    }
}

/// The tables, indexes, triggers and views of a database, by their names.
fn schema_of(sql: &dyn Sql) -> Vec<SqlRow> {
    sql.run("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name", &[]).unwrap()
}

#[test]
fn a_database_of_each_earlier_version_ends_with_the_same_schema() {
    let newest = Sqlite::memory().unwrap();
    assert!(migrate(&newest, 0).unwrap());
    for count in 1..=KNOWN {
        let sql = of_version(count);
        assert!(!migrate(&sql, 0).unwrap(), "version {count}");
        assert_eq!(schema_of(&sql), schema_of(&newest), "version {count}");
        let versions = sql.run("SELECT COUNT(*), MAX(version) FROM migration", &[]).unwrap();
        let known = SqlValue::Int(i64::try_from(KNOWN).unwrap());
        assert_eq!(versions, [vec![known.clone(), known]]);
    }
}
