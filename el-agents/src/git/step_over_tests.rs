use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::super::test_shop::Shop;
use super::*;

/// The lines of a file; an edit replaces one of them.
const LINES: usize = 12;

/// An edit: a file and a line.
type Edit = (usize, usize);

/// A team's day: A works on the branch, B goes on from there, main has its own commits before and
/// after A is squashed into it.
#[derive(Debug, Clone)]
struct Day {
    main_before: Vec<Edit>,
    a: Vec<Edit>,
    b: Vec<Edit>,
    main_after: Vec<Edit>,
}

fn day() -> impl Strategy<Value = Day> {
    let edits = |most| prop::collection::vec((0..3_usize, 0..LINES), 1..=most);
    (edits(2), edits(3), edits(3), edits(2)).prop_map(|(main_before, a, b, main_after)| Day {
        main_before,
        a,
        b,
        main_after,
    })
}

fn texts() -> Vec<Vec<String>> {
    (0..3).map(|file| (0..LINES).map(|line| format!("{file} {line}")).collect()).collect()
}

/// Makes a commit for each edit, where HEAD is.
fn edit(shop: &Shop, edits: &[Edit], by: &str) {
    for (n, (file, line)) in edits.iter().enumerate() {
        let name = format!("file{file}");
        let text = shop.git(&["show", &format!("HEAD:{name}")]);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines[*line] = format!("{by} {n}");
        shop.commit(&[(&name, &(lines.join("\n") + "\n"))]);
    }
}

/// Returns the results of stepping over, and of `rebase --onto`.
fn live_through(day: &Day) -> Option<(StepOver, Option<String>, Shop)> {
    let files = texts().into_iter().map(|lines| lines.join("\n") + "\n").collect::<Vec<_>>();
    let shop = Shop::new(&[("file0", &files[0]), ("file1", &files[1]), ("file2", &files[2])]);
    edit(&shop, &day.a, "a");
    let head = shop.at("HEAD");
    shop.git(&["checkout", "--quiet", "-b", "el/t-2"]);
    edit(&shop, &day.b, "b");
    let tip = shop.at("HEAD");
    shop.check_out("main");
    edit(&shop, &day.main_before, "before");
    // GitHub merges nothing that is in conflict.
    if matches!(shop.repository.merge_in_memory("main", &head), Ok(Err(_))) {
        return None;
    }
    let commit = shop.squash("el/t-1");
    edit(&shop, &day.main_after, "after");
    let pull = MergedPull { head: head.clone(), commit };
    let target = shop.at("main");
    let stepped = shop.repository.step_over_squashes(&tip, &[pull], &target, "Bring it in");
    shop.check_out("el/t-2");
    let rebased = shop.rebase_onto("main", &head).then(|| shop.tree("HEAD"));
    shop.git(&["update-ref", "refs/heads/el/t-2", &tip]);
    Some((stepped.unwrap(), rebased, shop))
}

#[test]
fn stepping_over_a_squash_gives_the_tree_of_a_rebase() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let mut runner = TestRunner::new(Config { cases, ..Config::default() });
    let compared = std::cell::Cell::new(0);
    runner
        .run(&day(), |day| {
            let Some((stepped, rebased, shop)) = live_through(&day) else { return Ok(()) };
            if let (StepOver::Joined(commit), Some(tree)) = (&stepped, &rebased) {
                prop_assert_eq!(&shop.tree(commit), tree);
                compared.set(compared.get() + 1);
            }
            // A rebase brings commits one by one: it may meet a conflict that the whole has not.
            // Where the rebase meets none, stepping over must not meet one either.
            if rebased.is_some() {
                let is_joined = matches!(stepped, StepOver::Joined(_));
                prop_assert!(is_joined, "{:?}", stepped);
            }
            Ok(())
        })
        .unwrap();
    assert!(compared.get() > 0, "no case was compared");
}

#[test]
fn only_the_branchs_own_difference_is_left_where_a_plain_merge_conflicts() {
    // A, B and main after it all change one line; main before another.
    let same = Day {
        main_before: vec![(1, 1)],
        a: vec![(0, 4), (0, 4)],
        b: vec![(0, 4)],
        main_after: vec![(2, 2)],
    };
    let (stepped, _, shop) = live_through(&same).unwrap();
    let tip = shop.at("el/t-2");
    let plain = shop.repository.merge_in_memory(&tip, "main").unwrap();
    assert_eq!(plain, Err(vec!["file0".to_owned()]));
    let StepOver::Joined(commit) = stepped else { panic!("{stepped:?}") };
    assert!(shop.repository.contains(&commit, &tip).unwrap(), "a push forward");
    assert_eq!(shop.git(&["diff", "--name-only", "main", &commit]), "file0");
    assert_eq!(shop.git(&["diff", "--numstat", "main", &commit]), "1\t1\tfile0");
}

#[test]
fn a_squash_with_somebodys_resolution_is_not_stepped_over() {
    let shop = Shop::new(&[("file", "one\n")]);
    let head = shop.commit(&[("file", "a\n")]);
    let tip = shop.commit(&[("file", "b\n")]);
    shop.check_out("main");
    let commit = shop.commit(&[("file", "a\n"), ("more", "by a reviewer\n")]);
    let pull = MergedPull { head, commit: commit.clone() };
    let squashes = [pull.clone()];
    let stepped = shop.repository.step_over_squashes(&tip, &squashes, &commit, "Bring it in");
    assert_eq!(stepped.unwrap(), StepOver::NotAlone(pull));
}
