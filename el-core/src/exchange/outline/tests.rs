use proptest::prelude::*;

use super::*;

fn outline(text: &str) -> Vec<String> {
    let show = |item: &Item| {
        let mark = match item.kind {
            Kind::Heading(level) => "#".repeat(usize::from(level)),
            Kind::Task { ticked } => if ticked { "[x]" } else { "[ ]" }.to_owned(),
        };
        let parent = item.parent.map(|parent| format!(" < {parent}")).unwrap_or_default();
        let text = if item.text.is_empty() { String::new() } else { format!(": {}", item.text) };
        format!("{mark} {}{parent}{text}", item.title)
    };
    read_outline(text).items.iter().map(show).collect()
}

#[test]
fn tasks_stand_below_their_headings_and_deeper_ones_below_tasks() {
    assert_eq!(
        outline(
            "# Plan ##\nWhy.\n## Storage\n- [ ] Schema\n  STRICT.\n  - [x] Ids\n\nProse.\n\
             ### Later\n- [ ] Views\n## Docs\n"
        ),
        [
            "# Plan: Why.",
            "## Storage < 0: Prose.",
            "[ ] Schema < 1: STRICT.",
            "[x] Ids < 2",
            "### Later < 1",
            "[ ] Views < 4",
            "## Docs < 0"
        ]
    );
}

#[test]
fn code_is_text_and_so_are_deep_headings_and_indented_ones() {
    assert_eq!(
        outline("## A\n```\n# comment\n- [ ] no\n```\n#### deep\n#hashtag\n"),
        ["## A: ```\n# comment\n- [ ] no\n```\n#### deep\n#hashtag"]
    );
    assert_eq!(outline("- [ ] A\n  # indented\n"), ["[ ] A: # indented"]);
}

#[test]
fn fences_and_comments_are_commonmarks() {
    let four = "- [ ] a\n\n````\n```\n- [ ] no\n```\n````\n- [ ] b\n";
    assert_eq!(outline(four).len(), 2);
    assert_eq!(outline("```\n~~~\n- [ ] no\n```\n- [ ] b\n"), ["[ ] b"]);
    let open = "- [ ] a\n  ```sh\n  make\n- [ ] b\n";
    assert_eq!(outline(open), ["[ ] a: ```sh\nmake", "[ ] b"]);
    assert_eq!(outline("<!--\n- [ ] hidden\n-->\n- [ ] b\n"), ["[ ] b"]);
    assert_eq!(outline("> - [ ] quoted\n\n- [ ] b\n"), ["[ ] b"]);
    assert_eq!(outline("Title\n=====\n\nPart\n----\n- [ ] b\n").len(), 3);
}

#[test]
fn whatever_is_passed_over_is_told_with_its_line() {
    let told = |text: &str| {
        let passed = read_outline(text).passed;
        passed.into_iter().map(|passed| (passed.line, passed.what)).collect::<Vec<_>>()
    };
    for mark in ["~", "-", "/", "✓", "?"] {
        let text = format!("- [ ] a\n- [{mark}] b\n");
        assert_eq!(told(&text), [(2, PassedKind::UnknownBox)], "{mark}");
    }
    assert_eq!(told("- [ ]no space\n"), [(1, PassedKind::BadTask)]);
    assert_eq!(told("- [ ] a\n\n<!-- b -->\n"), [(3, PassedKind::Comment)]);
    assert_eq!(told("---\na: b\n---\n- [ ] a\n"), [(1, PassedKind::FrontMatter)]);
    assert_eq!(told("Hello\n- [ ] a\n"), [(1, PassedKind::Prose)]);
    assert_eq!(told("| a |\n> b\n- [ ] a\n").len(), 2);
    assert!(told("- [ ] a\n\n```\nb\n").contains(&(3, PassedKind::OpenFence)));
    assert_eq!(told("- [a](b)\n- [ ] a\n"), [(1, PassedKind::Prose)]);
}

proptest! {
    #[test]
    fn no_text_panics_and_parents_come_first(text in "([-*#0-9.\\[\\]xX `\t]|[a-zé]|\n\
        ){0,200}") {
        for (at, item) in read_outline(&text).items.iter().enumerate() {
            prop_assert!(item.parent.is_none_or(|parent| parent < at));
            prop_assert!(!item.title.trim().is_empty());
        }
    }
}
