//! Copies the databases of the objects of a running service, checks the integrity of copies, and prepares copies for a restore.
//! Of the contents of a database only the keys and the epoch of bundles are known here.
//!
//! `workerd` stores each object as a SQLite database in WAL mode, with SQLite's own locks. Another process may therefore read it. The
//! copy contains the commits before its start, and writers do not wait for it.
//!
//! The alarm of each object is stored twice: in the object's database, and in `metadata.sqlite` of the class, by which the runtime wakes
//! objects. Databases are copied one after the other, so the two may differ, and an object would never wake. The copy of
//! `metadata.sqlite` is therefore written again from the copies of the objects.

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde_json::json;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest wait for the lock of another process. Readers wait only while the runtime recovers the database of a killed process.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);
/// Database with the alarms of all objects of a class.
const ALARMS: &str = "metadata.sqlite";
/// Ends of the names of files that SQLite keeps for an open database.
const OPEN_FILE_ENDS: [&str; 2] = ["-wal", "-shm"];

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Outcome<()> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["copy", from, to] => copy_all(Path::new(from), Path::new(to)),
        ["check", files @ ..] => files.iter().try_for_each(|file| check(Path::new(file))),
        ["raise-epoch", now, files @ ..] => {
            let now_ms = now.parse()?;
            files.iter().try_for_each(|file| raise_epoch(Path::new(file), now_ms))
        }
        ["retire-key", now, kid, files @ ..] => retire_key(kid, now.parse()?, files),
        _ => Err(
            "scrip-copy copy <folder of the objects> <new folder> | check <file>... | raise-epoch <now> <file>... | \
                  retire-key <now> <kid> <file>..."
                .into(),
        ),
    }
}

/// Copies every database of every class, and prints a line for each.
fn copy_all(from: &Path, to: &Path) -> Outcome<()> {
    for class in sorted(from)?.into_iter().filter(|path| path.join(ALARMS).is_file()) {
        let name = name_of(&class)?;
        let target = to.join(&name);
        fs::create_dir_all(&target)?;
        let mut alarms = Vec::new();
        for file in sorted(&class)? {
            let file_name = name_of(&file)?;
            if OPEN_FILE_ENDS.iter().any(|end| file_name.ends_with(end)) || file_name == ALARMS {
                continue;
            }
            // A later runtime may store other files there, and a copy without them would be incomplete.
            let object = file_name
                .strip_suffix(".sqlite")
                .ok_or_else(|| format!("{}: it is not known what this file is", file.display()))?;
            let copied = copy(&file, &target.join(&file_name))?;
            alarms.extend(alarm_of(&copied)?.map(|at| (object.to_owned(), at)));
            close(copied, &format!("{name}/{file_name}"))?;
        }
        let copied = copy(&class.join(ALARMS), &target.join(ALARMS))?;
        copied.execute("DELETE FROM _cf_ALARM", [])?;
        for (object, at) in alarms {
            copied.execute("INSERT INTO _cf_ALARM (actor_id, scheduled_time) VALUES (?1, ?2)", (object, at))?;
        }
        close(copied, &format!("{name}/{ALARMS}"))?;
    }
    Ok(())
}

/// Copies a database at one moment. Returns the open copy.
fn copy(from: &Path, to: &Path) -> Outcome<Connection> {
    let named = |error: rusqlite::Error| format!("{}: {error}", from.display());
    let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(named)?;
    source.busy_timeout(PATIENCE)?;
    let mut target = Connection::open(to)?;
    let started = Instant::now();
    // In one step: a write between two steps would restart the copy.
    loop {
        let outcome = Backup::new(&source, &mut target)?.step(-1).map_err(named)?;
        match outcome {
            StepResult::Done => return Ok(target),
            _ if started.elapsed() > PATIENCE => return Err(format!("{}: it stays locked", from.display()).into()),
            _ => sleep(PAUSE),
        }
    }
}

/// Returns the time of an object's alarm in nanoseconds, from the object's own database.
fn alarm_of(database: &Connection) -> Outcome<Option<i64>> {
    if !has_table(database, "_cf_METADATA")? {
        return Ok(None);
    }
    let at = database.query_row("SELECT value FROM _cf_METADATA WHERE key = 1", [], |row| row.get(0)).optional()?;
    Ok(at.flatten())
}

/// Checks a copy, converts it to a single file, and prints its line.
fn close(copied: Connection, file: &str) -> Outcome<()> {
    copied.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    check_integrity(&copied, file)?;
    print_line(file, &copied)?;
    copied.close().map_err(|(_, error)| error.into())
}

/// Checks the database in a file, and prints its line. The file stays unchanged.
fn check(file: &Path) -> Outcome<()> {
    let name = file.display().to_string();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = Connection::open_with_flags(file, flags).map_err(|error| format!("{name}: {error}"))?;
    check_integrity(&database, &name)?;
    print_line(&name, &database)
}

/// Raises the epoch of a restored project, so that clients refuse bundles that were signed after the archive was made.
fn raise_epoch(file: &Path, now_ms: i64) -> Outcome<()> {
    let database = open(file)?;
    if has_table(&database, "bundle_epoch")? {
        database.execute("UPDATE bundle_epoch SET epoch = MAX(epoch + 1, ?1)", [now_ms])?;
    }
    // The copies in KV have the earlier epoch. Without them the service builds the heads again (`worker/src/host/bundle.rs`).
    if has_table(&database, "pair")? {
        database.execute("DELETE FROM pair WHERE name GLOB 'bundle-head:*'", [])?;
    }
    Ok(())
}

/// Retires a key of the archive as the service does (`store/bundle_keys.rs`): the next key signs at once. Without a next key the
/// service creates one when it needs it. Fails if no file has the key.
fn retire_key(kid: &str, now_ms: i64, files: &[&str]) -> Outcome<()> {
    let mut found = false;
    for file in files {
        let database = open(Path::new(file))?;
        if !has_table(&database, "bundle_key")? {
            continue;
        }
        let retired = "UPDATE bundle_key SET retired_at = COALESCE(retired_at, ?2), private_seed = NULL WHERE kid = ?1";
        if database.execute(retired, (kid, now_ms))? == 0 {
            continue;
        }
        found = true;
        database
            .execute("UPDATE bundle_key SET vouching_kid = NULL, vouched_by = NULL WHERE vouching_kid = ?1", [kid])?;
        // A key whose next key was retired continues to sign.
        let signs_on = "UPDATE bundle_key SET signs_until = NULL WHERE signs_until > ?1 AND retired_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM bundle_key WHERE retired_at IS NULL AND signs_from > ?1)";
        database.execute(signs_on, [now_ms])?;
        let signs_at_once = "UPDATE bundle_key SET signs_from = ?1 WHERE signs_from > ?1 AND retired_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM bundle_key WHERE retired_at IS NULL AND private_seed IS NOT NULL
              AND signs_from <= ?1 AND COALESCE(signs_until, ?1 + 1) > ?1)";
        database.execute(signs_at_once, [now_ms])?;
    }
    if found { Ok(()) } else { Err(format!("the archive has no key `{kid}`; nothing was changed").into()) }
}

fn open(file: &Path) -> Outcome<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    Ok(Connection::open_with_flags(file, flags).map_err(|error| format!("{}: {error}", file.display()))?)
}

fn check_integrity(database: &Connection, file: &str) -> Outcome<()> {
    let report: String = database
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| format!("{file}: {error}"))?;
    if report == "ok" { Ok(()) } else { Err(format!("{file}: the database is damaged: {report}").into()) }
}

/// Prints a line of JSON: the file, and the newest step of the schema that has run in it.
fn print_line(file: &str, database: &Connection) -> Outcome<()> {
    let schema: Option<i64> = match has_table(database, "migration")? {
        true => database.query_row("SELECT MAX(version) FROM migration", [], |row| row.get(0))?,
        false => None,
    };
    println!("{}", json!({ "file": file, "schema": schema }));
    Ok(())
}

fn has_table(database: &Connection, name: &str) -> Outcome<bool> {
    let found = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
    Ok(database.query_row(found, [name], |_| Ok(())).optional()?.is_some())
}

fn sorted(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> Outcome<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    Ok(name.ok_or_else(|| format!("{}: its name is no text", path.display()))?.to_owned())
}
