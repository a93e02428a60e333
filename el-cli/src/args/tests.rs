use clap::CommandFactory as _;

use super::*;
use crate::command_list::command_names;
use crate::settings::keys::Kind;

fn wrong(line: &str) -> (CommandError, bool) {
    let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
    match parse_command_line(&argv) {
        Parsed::Wrong { error, robot, .. } => (error, robot),
        other => panic!("{line} gave {other:?}"),
    }
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
    let mut whole = Cli::command();
    whole.build();
}

/// Runs of most programs parse by one command alone; what comes out is what the whole grammar says.
#[test]
fn the_grammar_of_one_command_says_what_the_whole_one_says() {
    fn examples(command: &clap::Command, lines: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        lines.extend(help.lines().filter_map(|line| Some(line.trim().strip_prefix("el ")?.into())));
        command.get_subcommands().for_each(|sub| examples(sub, lines));
    }
    let mut whole = Cli::command();
    whole.build();
    let mut lines = Vec::new();
    examples(&whole, &mut lines);
    for global in ["-q", "--robot", "--color always", "--db show", "--actor=a", "-- ", "--help"] {
        lines.extend(["show x", "ready", "list --limit 5"].map(|one| format!("{global} {one}")));
        lines.push(format!("show x {global}"));
    }
    let mut by_one = 0;
    for line in lines {
        let words: Vec<&str> = line.split("  ").next().unwrap_or("").split_whitespace().collect();
        let argv: Vec<OsString> =
            std::iter::once("el").chain(words.iter().copied()).map(OsString::from).collect();
        let Some(one) = parse_by_one_command(&argv) else { continue };
        let all = parse_by(Cli::command(), &argv).unwrap();
        assert_eq!(format!("{one:?}"), format!("{all:?}"), "{line}");
        by_one += 1;
    }
    assert!(by_one > 150, "{by_one} command lines were parsed by one command");
}

#[test]
fn every_visible_command_stands_in_the_overview() {
    let mut command = Cli::command();
    command.build();
    let listed = command_names();
    for sub in
        command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
    {
        assert!(
            listed.contains(&sub.get_name()),
            "{} is missing in command_list.txt",
            sub.get_name()
        );
    }
    for name in listed {
        assert!(
            command.find_subcommand(name).is_some(),
            "{name} in command_list.txt is no command"
        );
    }
}

#[test]
fn every_command_has_examples() {
    fn check(command: &clap::Command, path: &str) {
        for sub in
            command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
        {
            let path = format!("{path} {}", sub.get_name());
            if sub.has_subcommands() {
                check(sub, &path);
            }
            let help = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
            let longest = help.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(longest <= 96, "{path}: a line of its examples has {longest} columns");
            assert!(
                help.contains("Examples:") && help.contains(path.trim()),
                "{path} has no examples of itself"
            );
        }
    }
    let mut command = Cli::command();
    command.build();
    check(&command, "el");
}

#[test]
fn a_robot_is_recognised_anywhere_before_the_double_dash() {
    assert!(wrong("el list --banana --robot").1);
    assert!(wrong("el --json frobnicate").1);
    assert!(!wrong("el list --banana -- --robot").1);
}

#[test]
fn a_wrong_value_names_the_flag_and_the_values_that_exist() {
    let (error, _) = wrong("el list --status banana");
    assert_eq!(error.code(), "invalid_value");
    assert_eq!(error.details()["field"], "status");
    assert!(error.message().contains("banana") && error.message().contains("wont_do"), "{error}");
}

#[test]
fn a_misspelt_command_has_a_hint() {
    let (error, _) = wrong("el craete");
    assert_eq!(error.code(), "usage");
    assert!(error.hints().iter().any(|hint| hint.contains("create")), "{:?}", error.hints());
}

#[test]
fn a_flag_as_the_value_of_an_option_is_that_value() {
    let argv: Vec<OsString> =
        ["el", "create", "-t", "x", "--description=--robot"].map(OsString::from).to_vec();
    let Parsed::Run(cli) = parse_command_line(&argv) else { panic!("not understood") };
    assert!(!cli.globals.robot);
}

/// Calls `look` with every command that people see, and its path.
fn each_command(command: &clap::Command, path: &str, look: &mut dyn FnMut(&clap::Command, &str)) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let path = format!("{path} {}", sub.get_name()).trim().to_owned();
        look(sub, &path);
        each_command(sub, &path, look);
    }
}

#[test]
fn a_short_flag_means_one_thing_everywhere() {
    let mut command = Cli::command();
    command.build();
    let mut meanings = std::collections::BTreeMap::<char, (String, String)>::new();
    each_command(&command, "", &mut |command, path| {
        for flag in command.get_arguments() {
            let (Some(short), Some(long)) = (flag.get_short(), flag.get_long()) else { continue };
            let (known, there) =
                meanings.entry(short).or_insert_with(|| (long.to_owned(), path.to_owned()));
            assert_eq!(known, long, "-{short} of el {path}, and of el {there}");
            assert!(flag.get_all_short_aliases().unwrap_or_default().is_empty(), "el {path}");
        }
    });
    assert!(meanings.len() > 8, "{meanings:?}");
}

#[test]
fn every_noun_lists_bare_and_by_list_and_shows_by_show() {
    let mut command = Cli::command();
    command.build();
    for noun in ["runs", "tasks", "artifacts", "queue", "orchestrate", "chat", "worktrees"] {
        let found = command.find_subcommand(noun).unwrap_or_else(|| panic!("{noun}"));
        assert!(!found.is_subcommand_required_set(), "el {noun} lists");
        assert!(found.find_subcommand("list").is_some(), "el {noun} list");
        let show = found.find_subcommand("show").unwrap_or_else(|| panic!("el {noun} show"));
        assert!(show.get_positionals().next().is_some(), "el {noun} show ID");
    }
}

#[test]
fn the_parser_speaks_as_el_does() {
    for (line, want) in [
        ("el frobnicate", "there is no command 'frobnicate'"),
        ("el list --banana", "there is no flag --banana here"),
        ("el run list all", "'all' is one word too many"),
        ("el close", "<ATOM>... is missing"),
        ("el reject x-1", "--reason <TEXT> is missing"),
        ("el update x-1 --status open --message y", "there is no flag --message here"),
        ("el list --all --status open", "do not go together"),
        ("el list --limit", "--limit <N> needs a value"),
        ("el list --limit x", "limit: 'x' is no whole number"),
        ("el list --limit=-1", "limit: '-1': -1 is not between 0 and"),
        ("el work --max 0", "max: '0': 0 is not between 1 and"),
        ("el list --all=yes", "--all takes no value"),
        ("el list --sort banana", "sort: 'banana' is not one of priority, oldest"),
        ("el comment", "a command is missing"),
    ] {
        let (error, _) = wrong(line);
        assert!(error.message().contains(want), "{line}: {error}");
        let hints = error.hints();
        let more = hints.iter().find_map(|hint| hint.strip_suffix(" --help tells more"));
        let more = more.unwrap_or_else(|| panic!("{line}: {hints:?}"));
        assert!(line.starts_with(more) && !more.contains(" -"), "{line}: {more}");
    }
    for (line, want) in [
        ("el run tidy the docs", Some("in quotes")),
        ("el create a --banana", Some("-- '--banana'")),
        ("el list --banana", None),
        ("el list -- --banana", None),
    ] {
        let (error, _) = wrong(line);
        let hints = error.hints();
        let text = |hint: &&String| hint.starts_with("a text");
        let told = hints.iter().find(text).is_some_and(|hint| hint.contains(want.unwrap_or("")));
        assert_eq!(told, want.is_some(), "{line}: {hints:?}");
    }
    let (error, _) = wrong("el done x-1");
    assert_eq!(error.hints()[0], "did you mean 'close'?");
    let (error, _) = wrong("el work --isolate");
    assert!(error.hints().iter().any(|hint| hint == "el work --help tells more"), "{error}");
}

#[test]
fn one_idea_has_one_word() {
    // A flag that is on or off bounds nothing.
    let settings: Vec<String> = crate::settings::keys::all_keys()
        .filter(|key| key.kind != Kind::Bool)
        .map(|key| key.name.replace('_', "-"))
        .collect();
    let mut command = Cli::command();
    command.build();
    each_command(&command, "", &mut |command, path| {
        for flag in command.get_arguments().filter_map(clap::Arg::get_long) {
            let place = format!("--{flag} of el {path}");
            // A bound on cost has the name of its setting: budget-per-run, -epic, -day.
            assert!(!flag.contains("budget") || settings.iter().any(|key| key == flag), "{place}");
            // A bound on time is a timeout; a limit is a number of items.
            let is_limit = flag.contains("limit") && flag != "limit";
            assert!(!is_limit && !flag.contains("deadline"), "{place}");
        }
    });
    for key in settings {
        let is_limit = key.contains("limit") || key.contains("cost") || key.ends_with("-usd");
        assert!(!is_limit, "the setting {key}");
    }
}
