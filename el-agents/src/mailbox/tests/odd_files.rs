//! Files that are broken, or that other programs write at the same time.

use super::*;

#[test]
fn a_file_that_is_no_json_is_set_aside_with_all_that_is_in_it() {
    let mut w = World::new();
    w.sync();
    for (file, content) in [
        (MailboxFile::ToDeveloper, &b"{\"messages\": [ {\"type\""[..]),
        (MailboxFile::Queue, b"\xff\xfe"),
        (MailboxFile::Status, b"7"),
    ] {
        fs::write(w.path(file), content).unwrap();
        let synced = w.sync();
        assert!(synced.problems[0].contains("set aside as"), "{synced:?}");
        let folder = w.path(file).parent().unwrap().to_owned();
        let name = format!("{}.bad-", w.path(file).file_name().unwrap().to_str().unwrap());
        let aside: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.to_str().unwrap().contains(&name))
            .collect();
        assert_eq!(fs::read(&aside[0]).unwrap(), content);
        w.read(file);
    }
    w.write(MailboxFile::ToDeveloper, &json!({"messages": [assignment("task-001")]}));
    w.sync();
    assert_eq!(w.atoms().len(), 1, "it goes on");
}

#[test]
fn a_folder_in_the_place_of_a_file_stops_no_other() {
    let mut w = World::new();
    fs::create_dir_all(w.path(MailboxFile::ToTeamLead)).unwrap();
    w.add(MailboxFile::ToDeveloper, assignment("task-001"));
    let synced = w.sync();
    assert!(
        synced.errors.iter().any(|e| e.contains("to-team-lead.json is no plain file")),
        "{synced:?}"
    );
    assert_eq!(w.atoms().len(), 1);
    assert_eq!(w.read(MailboxFile::Queue)["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn a_pipe_a_device_or_a_link_to_nowhere_in_the_place_of_a_file_or_a_lock_holds_up_nothing() {
    fn pipe(path: &Path) {
        let _ = fs::remove_file(path);
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::from_raw_mode(0o600))
            .unwrap();
    }
    for file in MailboxFile::ALL {
        for device in [None, Some("/dev/zero"), Some("/dev/full"), Some("/no/where")] {
            for of_lock in [false, true] {
                let mut w = World::new();
                w.sync();
                let mut path = w.path(file).into_os_string();
                if of_lock {
                    path.push(".lock");
                }
                let path = PathBuf::from(path);
                let _ = fs::remove_file(&path);
                match device {
                    None => pipe(&path),
                    Some(device) => std::os::unix::fs::symlink(device, &path).unwrap(),
                }
                w.create("Ready");
                let other = if file == MailboxFile::ToDeveloper {
                    MailboxFile::ToTeamLead
                } else {
                    MailboxFile::ToDeveloper
                };
                let message = if other == MailboxFile::ToDeveloper {
                    assignment("task-1")
                } else {
                    report("task-1", "Made")
                };
                w.add(other, message);
                let (done, waited) = std::sync::mpsc::channel();
                std::thread::spawn(move || drop(done.send((w.sync(), w))));
                let (synced, w) = waited.recv_timeout(Duration::from_secs(60)).expect("it hangs");
                assert_eq!(w.atoms().len(), 2, "{path:?}: what is in the other files arrives");
                let is_used = file != MailboxFile::Log || !of_lock;
                assert_eq!(!synced.errors.is_empty(), is_used, "{path:?} {device:?}: {synced:?}");
            }
        }
    }
}

#[test]
fn what_was_written_between_our_read_and_our_write_is_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("to-developer.json");
    fs::write(&path, "{\"messages\": []}").unwrap();
    let was = files::read_content(&path).unwrap();
    fs::write(&path, "{\"messages\": [1]}").unwrap();
    assert!(files::replace_file(&path, &was, "{}").unwrap().is_none());
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"messages\": [1]}");
    // The same text in another file is another file: a writer may have it open.
    fs::write(dir.path().join("other"), "{\"messages\": []}").unwrap();
    fs::rename(dir.path().join("other"), &path).unwrap();
    assert!(files::replace_file(&path, &was, "{}").unwrap().is_none());
    let now = files::read_content(&path).unwrap();
    assert!(files::replace_file(&path, &now, "{}").unwrap().unwrap().is_some());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left behind");
}

#[test]
fn a_message_that_was_written_into_the_old_file_is_moved_to_the_new_one() {
    let mut w = World::new();
    w.sync();
    let mut late =
        fs::OpenOptions::new().write(true).open(w.path(MailboxFile::ToDeveloper)).unwrap();
    w.create("This makes el write the file");
    w.sync();
    assert!(w.mailbox.look_back().is_empty());
    late.set_len(0).unwrap();
    late.write_all(
        json!({"messages": [assignment("late")], "lastRead": null}).to_string().as_bytes(),
    )
    .unwrap();
    let synced = w.sync();
    assert!(synced.notes.iter().any(|n| n.contains("moved to the new one")), "{synced:?}");
    assert_eq!(w.atoms().iter().filter(|a| a.title == "Do late").count(), 1);
    w.sync();
    let file = w.read(MailboxFile::ToDeveloper);
    assert_eq!(
        file["messages"].as_array().unwrap().iter().filter(|m| m["taskId"] == "late").count(),
        1
    );
}
