use std::time::Instant;

use super::*;

#[test]
fn a_git_that_hangs_is_ended_with_what_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let marked = dir.path().join("alive");
    // An alias is the shortest way to a git with a hanging child.
    let alias =
        format!("alias.hang=!sh -c 'sleep 2; touch {}; sleep 60' & sleep 60", marked.display());
    let began = Instant::now();
    let asked = Git::at(dir.path())
        .with_deadline(began + Duration::from_millis(300))
        .ask(&["-c", &alias, "hang"]);
    assert!(matches!(asked, Err(GitError::TimedOut { .. })), "{asked:?}");
    assert!(began.elapsed() < Duration::from_secs(8));
    std::thread::sleep(Duration::from_secs(3));
    assert!(!marked.exists(), "its child lives on");
}

#[test]
fn a_child_that_keeps_the_output_open_holds_nobody_up() {
    let dir = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let said = Git::at(dir.path())
        .ask(&["-c", "alias.left=!echo said; setsid sleep 20 &", "left"])
        .unwrap();
    assert_eq!(said, "said");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_large_input_and_a_large_answer_do_not_wait_for_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let text = "0123456789abcde\n".repeat(1 << 16);
    let said =
        Git::at(dir.path()).ask_with(&["-c", "alias.back=!cat", "back"], Some(&text)).unwrap();
    assert_eq!(said.len(), text.len() - 1);
}
