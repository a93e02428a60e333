//! Screens of the client 2.1.332, as captured; the rulers are shortened, and blank lines between
//! are left out.

use super::*;

const RULER: &str = "────────────────────────────────────────────────────────────";

fn read(text: &str) -> Screen {
    Screen::from_capture(&text.replace("RULER", RULER))
}

fn is_prompt(text: &str) -> (String, bool, bool) {
    match read(text).state {
        ScreenState::Prompt { input, busy, background } => (input, busy, background),
        other => panic!("{other:?}"),
    }
}

fn asked(text: &str) -> Question {
    match read(text).state {
        ScreenState::Question(question) => question,
        other => panic!("{other:?}"),
    }
}

const IDLE: &str = concat!(
    " ▐▛███▛█   Claude Code v2.1.332\n",
    "▝▜██████▀  Opus 5.5 · API Usage Billing\n",
    " ▝▝   ▝▝   /home/dev/proj\n\n\n",
    "\u{20}                                     ◐ medium · /effort\n",
    "RULER\n",
    "❯\u{a0}\n",
    "RULER\n",
    "  ⏵⏵ accept edits on (shift+tab to cycle) · ← for agents\n\n\n\n",
);
const PASTED: &str = concat!(
    "▝▜██████▀  Opus 5.5 · API Usage Billing\n",
    "RULER\n",
    "❯ [Pasted text #1 +62 lines]\n",
    "RULER\n",
    "  paste again to expand\n",
);
const BUSY: &str = concat!(
    "❯ You are claude\n\n",
    "● I will do it.\n\n",
    "● Running el close t-1 --reason done\n",
    "  ⎿  $ el close t-1 --reason done\n\n",
    "✶ Cascading…\n\n",
    "\u{20}                                     ◐ medium · /effort\n",
    "RULER\n",
    "❯ \n",
    "RULER\n",
    "  ⏵⏵ accept edits on (shift+tab to cycle) · esc to interrupt · ← for agents\n",
);
const BACKGROUND: &str = concat!(
    "● It runs in the background.\n",
    "✻ Cooked for 2s · done 2:39 AM · 1 shell still running\n",
    "RULER\n",
    "❯ \n",
    "RULER\n",
    "  ⏵⏵ accept edits on · 1 shell · ← for agents · ↓ to manage\n",
);
const PERMISSION: &str = concat!(
    "● I will do it.\n",
    "  Running cargo frobnicate\n",
    "  ⎿  $ cargo frobnicate\n",
    "RULER\n",
    " Bash command\n",
    " Tip: auto mode handles these prompts for you\n",
    " Run shell command\n",
    "╌╌╌╌╌╌╌╌╌╌╌╌\n",
    " cargo frobnicate\n",
    "╌╌╌╌╌╌╌╌╌╌╌╌\n",
    " This command requires approval\n",
    " Do you want to proceed?\n",
    " ❯ 1. Yes\n",
    "   2. Yes, and don't ask again\n",
    "   4. No\n",
    " Esc to cancel · Tab to amend\n",
);
const TRUST: &str = concat!(
    "RULER\n",
    " Accessing workspace:\n",
    " /home/dev/proj\n",
    " Quick safety check: Is this a project you created or one you trust? (Like your ",
    "own code.)\n",
    " Claude Code'll be able to read, edit, and execute files here.\n",
    " Security guide\n",
    " ❯ No, exit\n",
    "   Yes, I trust this folder\n",
    " Enter to confirm · Esc to cancel\n",
);
const KEY: &str = concat!(
    "RULER\n",
    "  Detected a custom API key in your environment\n",
    "  ANTHROPIC_API_KEY: sk-ant-...fake\n",
    "  Do you want to use this API key?\n",
    "    Yes\n",
    "  ❯ No (recommended)\n",
    "  Enter to confirm · Esc to cancel\n",
);
const BYPASS: &str = concat!(
    "RULER\n",
    "  WARNING: Claude Code running in Bypass Permissions mode\n",
    "  By proceeding, you accept all responsibility for actions taken while running ",
    "in Bypass Permissions mode.\n",
    "  ❯ No, exit\n",
    "    Yes, I accept\n",
    "  Enter to confirm · Esc to cancel\n",
);

#[test]
fn the_input_line_is_found_with_what_stands_in_it() {
    assert_eq!(is_prompt(IDLE), (String::new(), false, false));
    assert_eq!(is_prompt(PASTED), ("[Pasted text #1 +62 lines]".to_owned(), false, false));
    let older = concat!(
        "╭────────────────────╮\n",
        "│ > fix the bug      │\n",
        "│   and test it      │\n",
        "╰────────────────────╯\n",
        "  ? for shortcuts\n",
    );
    assert_eq!(is_prompt(older).0, "fix the bug\nand test it");
}

#[test]
fn a_turn_that_goes_on_is_told_by_the_spinner_or_by_the_way_to_interrupt_it() {
    assert_eq!(is_prompt(BUSY), (String::new(), true, false));
    assert!(is_prompt(&BUSY.replace(" · esc to interrupt", "")).1);
    assert!(is_prompt(&BUSY.replace("✶ Cascading…", "")).1);
    let over = BUSY
        .replace("✶ Cascading…", "✻ Crunched for 1s · done 2:33 AM")
        .replace(" · esc to interrupt", "");
    assert!(!is_prompt(&over).1);
}

#[test]
fn work_in_the_background_is_told_by_the_line_below() {
    assert_eq!(is_prompt(BACKGROUND), (String::new(), false, true));
}

#[test]
fn questions_are_told_apart() {
    let told = [TRUST, KEY, BYPASS, PERMISSION].map(|text| asked(text).kind);
    assert_eq!(
        told,
        [QuestionKind::Trust, QuestionKind::ApiKey, QuestionKind::Bypass, QuestionKind::Other]
    );
    assert_eq!(asked(PERMISSION).text, "Do you want to proceed?");
    assert_eq!(asked(KEY).text, "Do you want to use this API key?");
}

#[test]
fn a_question_that_the_agent_only_quotes_is_none() {
    let quoted = format!("● It says: Do you want to proceed?\n ❯ 1. Yes\n   2. No\n{IDLE}");
    assert_eq!(is_prompt(&quoted), (String::new(), false, false));
}

#[test]
fn an_empty_screen_and_one_of_another_program_are_unknown() {
    assert_eq!(read("").state, ScreenState::Unknown);
    assert_eq!(read("$ ls\nCargo.toml\n$ \n").state, ScreenState::Unknown);
    assert_eq!(read("RULER\nRULER\n").state, ScreenState::Unknown);
}

#[test]
fn time_that_passes_is_no_change_and_words_are() {
    let busy = |spinner: &str, more: &str| {
        read(&BUSY.replace("✶ Cascading…", &format!("{more}\n{spinner}"))).fingerprint
    };
    let first = busy("· Frolicking… (5s · ↓ 20 tokens)", "");
    assert_eq!(
        first,
        busy("✽ Pondering… (65s · ↓ 20 tokens)", ""),
        "the clock, the sign and the verb"
    );
    assert_ne!(first, busy("✽ Pondering… (65s · ↓ 25 tokens)", ""), "it thinks on");
    assert_ne!(first, busy("· Frolicking… (5s · ↓ 20 tokens)", "● Now the tests."));
    let tool = |seconds: &str| read(&format!("● Running make · {seconds}\n{IDLE}")).fingerprint;
    assert_eq!(tool("4s"), tool("19s"));
    assert_ne!(read(IDLE).fingerprint, read(PERMISSION).fingerprint);
}

#[test]
fn the_body_is_what_stands_above_the_input_line() {
    assert_eq!(read(PASTED).body, ["▝▜██████▀  Opus 5.5 · API Usage Billing"]);
    let margin = format!("{}◐ medium · /effort\n{IDLE}", " ".repeat(80));
    assert_eq!(
        read(&margin).body.len(),
        4,
        "three lines of the head, and one that is not set far enough to the right"
    );
    assert!(read(BUSY).body.iter().all(|line| !line.contains('…') && !line.is_empty()));
}

#[test]
fn a_screen_that_nobody_expected_is_quoted_in_one_line() {
    let text = "\n ░░░ \n Unable to connect to Anthropic services\n\n Failed to connect\n";
    assert_eq!(
        Screen::last_words(text, 3),
        "Unable to connect to Anthropic services / Failed to connect"
    );
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(
        text in "(?s).{0,400}",
        pieces in proptest::collection::vec("[─❯> │╭╰…·a1.\n]{0,30}", 0..12),
    ) {
        let _ = Screen::from_capture(&text);
        let screen = Screen::from_capture(&pieces.concat());
        proptest::prop_assert_eq!(screen.clone(), Screen::from_capture(&pieces.concat()));
    }
}
