use super::*;

#[test]
fn the_list_of_worktrees_is_read_whatever_their_names() {
    let text = "worktree /\0HEAD 12\0branch refs/heads/main\0\0\
                worktree /a b\nc\0HEAD 12\0branch refs/heads/el/t-1\0locked\0\0\
                worktree /d\0bare\0\0";
    let found = parse_worktrees(text);
    assert_eq!(found.len(), 3);
    assert_eq!((found[0].branch.as_deref(), found[0].is_missing), (Some("main"), false));
    assert_eq!(
        (found[1].path.to_str(), found[1].branch.as_deref(), found[1].is_missing),
        (Some("/a b\nc"), Some("el/t-1"), true)
    );
    assert!(found[2].is_bare);
}

#[test]
fn a_worktree_that_another_git_is_making_is_waited_for() {
    let said = "fatal: failed to read .git/worktrees/t-1/commondir: Success";
    let refused = super::super::call::refusal_error("worktree".to_owned(), said.to_owned());
    assert!(matches!(refused, GitError::Locked(_)), "{refused}");
}

#[test]
fn a_lock_that_a_dead_git_left_is_named_with_the_command_that_removes_it() {
    let said = "fatal: Unable to create '/shop/.git/index.lock': File exists.";
    let refused = super::super::call::refusal_error("commit".to_owned(), said.to_owned());
    assert!(refused.hint().ends_with("behind: rm /shop/.git/index.lock"), "{}", refused.hint());
}

#[test]
fn what_el_put_there_is_no_change() {
    assert!(
        is_below(".env", ".env")
            && is_below("node_modules/x", "node_modules/")
            && is_below("node_modules", "node_modules")
    );
    assert!(!is_below(".env2", ".env"));
}
