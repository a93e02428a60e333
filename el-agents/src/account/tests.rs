use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use el_core::Durability;
use el_core::model::PauseKind;

use super::*;

fn environment(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
}

fn file(strip: &[&str], pairs: &[(&str, &str)]) -> Option<PathBuf> {
    let strip: Vec<String> = strip.iter().map(|&name| name.to_owned()).collect();
    Account::from_environment(&strip, &[], &environment(pairs)).map(|account| account.file)
}

#[test]
fn an_account_is_its_key_or_else_its_folder_and_where_it_is_asked() {
    let home = ("HOME", "/home/ann");
    let by_folder = file(&[], &[home]).unwrap();
    let by_key = file(&[], &[home, ("ANTHROPIC_API_KEY", "sk-one")]).unwrap();
    assert!(by_folder.starts_with("/home/ann/.local/state/el/accounts"), "{by_folder:?}");
    assert!(!by_key.to_string_lossy().contains("sk-one"));
    assert_ne!(by_key, by_folder);
    assert_ne!(by_key, file(&[], &[home, ("ANTHROPIC_API_KEY", "sk-two")]).unwrap());
    assert_ne!(
        by_key,
        file(&[], &[home, ("ANTHROPIC_API_KEY", "sk-one"), ("ANTHROPIC_BASE_URL", "http://x")])
            .unwrap()
    );
    // Variables that the client does not get, or that are empty, do not count.
    assert_eq!(
        file(&["ANTHROPIC_*"], &[home, ("ANTHROPIC_API_KEY", "sk-one")]).unwrap(),
        by_folder
    );
    assert_eq!(
        file(&["ANTHROPIC_API_KEY"], &[home, ("ANTHROPIC_API_KEY", "sk-one")]).unwrap(),
        by_folder
    );
    assert_eq!(file(&[], &[home, ("ANTHROPIC_API_KEY", "")]).unwrap(), by_folder);
    assert_ne!(file(&[], &[home, ("CLAUDE_CONFIG_DIR", "/elsewhere")]).unwrap(), by_folder);
}

#[test]
fn the_record_is_in_the_state_folder_and_without_one_there_is_none() {
    let state = ("XDG_STATE_HOME", "/state");
    assert!(file(&[], &[("HOME", "/home/ann"), state]).unwrap().starts_with("/state/el/accounts"));
    assert!(
        file(&[], &[("HOME", "/home/ann"), ("XDG_STATE_HOME", "relative")])
            .unwrap()
            .starts_with("/home/ann")
    );
    assert_eq!(file(&[], &[("HOME", "relative")]), None);
    assert_eq!(file(&[], &[state]), None, "neither a key nor a folder");
    assert!(file(&[], &[state, ("ANTHROPIC_API_KEY", "sk-one")]).is_some());
}

#[test]
fn a_folder_by_another_name_is_the_same_account() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("real")).unwrap();
    symlink(dir.path().join("real"), dir.path().join("link")).unwrap();
    let of = |name: &str| {
        let folder = dir.path().join(name);
        file(&[], &[("HOME", "/home/ann"), ("CLAUDE_CONFIG_DIR", folder.to_str().unwrap())])
    };
    assert_eq!(of("real"), of("link"));
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_800_000_000 + seconds) * 1_000_000)
}

fn limit(until: i64, learnt_at: i64) -> KnownPause {
    KnownPause {
        kind: PauseKind::UsageLimit,
        until: Some(at(until)),
        learnt_at: at(learnt_at),
        reason: "the limit".to_owned(),
        strikes: 0,
        probe: None,
        is_answered: false,
    }
}

/// An account, and two projects that work with it.
struct World {
    dir: tempfile::TempDir,
    account: Account,
    stores: [Store; 2],
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let account = Account {
            fingerprint: "0123".to_owned(),
            file: dir.path().join("state/el/accounts/0123.json"),
        };
        let stores =
            ["a.db", "b.db"].map(|name| Store::create(&dir.path().join(name), "t", at(0)).unwrap());
        World { dir, account, stores }
    }

    fn share(&mut self, which: usize, now: i64) -> Option<String> {
        self.account.reconcile_pause(&mut self.stores[which], at(now)).unwrap()
    }

    fn until(&self, which: usize, now: i64) -> Option<Timestamp> {
        ops::current_pause(&self.stores[which], at(now)).unwrap().and_then(|pause| pause.until)
    }
}

#[test]
fn what_one_project_learns_holds_the_other_until_it_is_cleared_in_either() {
    let mut world = World::new();
    ops::adopt_pause(&mut world.stores[0], "0123", &limit(100, 0)).unwrap();
    assert_eq!((world.share(0, 1), world.share(1, 2)), (None, None));
    assert_eq!(world.until(1, 3), Some(at(100)));
    world.account.clear_pause(at(4)).unwrap();
    world.share(0, 5);
    world.share(1, 5);
    assert_eq!((world.until(0, 6), world.until(1, 6)), (None, None));
    // A later pause holds again; a pause that is over holds no worker.
    ops::adopt_pause(&mut world.stores[1], "0123", &limit(200, 7)).unwrap();
    world.share(1, 8);
    world.share(0, 9);
    assert_eq!((world.until(0, 10), world.until(0, 201)), (Some(at(200)), None));
}

#[test]
fn the_record_is_the_users_alone() {
    let mut world = World::new();
    ops::adopt_pause(&mut world.stores[0], "0123", &limit(100, 0)).unwrap();
    world.share(0, 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&world.account.file), mode(world.account.file.parent().unwrap())),
        (0o600, 0o700)
    );
    let text = fs::read_to_string(&world.account.file).unwrap();
    assert!(!text.contains(world.dir.path().to_str().unwrap()), "{text}");
}

#[test]
fn what_is_no_record_is_set_aside_and_said_once() {
    for nonsense in [&b"not json"[..], b"7", &vec![b' '; 70 << 10], b"\xff\xfe"] {
        let mut world = World::new();
        fs::create_dir_all(world.account.file.parent().unwrap()).unwrap();
        fs::write(&world.account.file, nonsense).unwrap();
        ops::adopt_pause(&mut world.stores[0], "0123", &limit(100, 0)).unwrap();
        let warning = world.share(0, 1).unwrap();
        assert!(warning.contains("set aside"), "{warning}");
        assert_eq!(fs::read(world.account.file.with_extension("json.bad")).unwrap(), nonsense);
        assert_eq!((world.share(0, 2), world.share(1, 2)), (None, None));
        assert_eq!(world.until(1, 3), Some(at(100)));
    }
}

#[test]
fn a_record_that_cannot_be_written_leaves_the_projects_own_pause() {
    let mut world = World::new();
    fs::write(world.dir.path().join("state"), "a file where a folder should be").unwrap();
    ops::adopt_pause(&mut world.stores[0], "0123", &limit(100, 0)).unwrap();
    assert!(world.account.reconcile_pause(&mut world.stores[0], at(1)).is_err());
    assert!(world.account.clear_pause(at(1)).is_err());
    assert_eq!(world.until(0, 2), Some(at(100)));
}

#[test]
fn of_many_that_tell_at_once_the_longest_pause_stays() {
    let world = World::new();
    let (account, dir) = (&world.account, world.dir.path());
    std::thread::scope(|scope| {
        for n in 0..12_i64 {
            scope.spawn(move || {
                let mut store = Store::create(&dir.join(format!("{n}.db")), "t", at(0)).unwrap();
                ops::adopt_pause(&mut store, "0123", &limit(100 + n, 0)).unwrap();
                account.reconcile_pause(&mut store, at(1)).unwrap();
            });
        }
    });
    assert_eq!(account.read_record().unwrap().pause.unwrap().until, Some(at(111)));
    let mut fresh = Store::open(&dir.join("0.db"), Durability::Normal).unwrap();
    account.reconcile_pause(&mut fresh, at(2)).unwrap();
    assert_eq!(ops::current_pause(&fresh, at(2)).unwrap().unwrap().until, Some(at(111)));
}
