//! `docs/settings.md`, generated from the list of settings; a test compares the file.

use std::fmt::Write;
use std::path::Path;

use super::keys::{self, Class, Key, Kind, Narrower, Scope};

const COLUMNS: usize = 100;

const HEAD: &str = "\
# Settings

A test generates this page from `el-cli/src/settings/keys.rs`. `el config show -v` prints the same
texts beside the values that hold in a project. [configuration.md](configuration.md) explains where
settings are written and which place wins.

Every setting has an environment variable: `EL_` and the name in capitals, such as
`EL_MAX_ATTEMPTS`. Times are numbers with a unit: `30s`, `15m`, `2h`. A setting without a default is
unset until somebody sets it.

The last word tells what counts in a project's file that you have not trusted: a free setting, and
a limit that is no wider than what holds without the file. See [trust.md](trust.md).
";

const SCOPES: [(Scope, &str); 4] = [
    (Scope::Agent, "How an agent is run\n\nThese may also stand in a table `[agents.NAME]`."),
    (Scope::Worker, "How `el work` and `el orchestrate` work"),
    (Scope::Project, "The project"),
    (Scope::User, "The user\n\nThese count in the user's own file only."),
];

fn settings_reference() -> String {
    let mut page = HEAD.to_owned();
    for (scope, heading) in SCOPES {
        write!(page, "\n## {heading}\n\n").unwrap();
        for key in keys::all_keys().filter(|key| key.scope == scope) {
            write_item(&mut page, key);
        }
    }
    page
}

/// Writes a list item: the name, the values and the default, and below them the meaning, wrapped.
fn write_item(page: &mut String, key: &Key) {
    let default = match key.default {
        None => "no default".to_owned(),
        Some("") => "empty by default".to_owned(),
        Some(default) => format!("default `{default}`"),
    };
    push_wrapped(
        page,
        "-",
        &format!("**`{}`**: {}; {default}; {}.", key.name, value_words(key.kind), class(key.class)),
    );
    push_wrapped(page, " ", &format!("{}.", key.help));
}

fn class(class: Class) -> &'static str {
    match class {
        Class::Free => "free",
        Class::Trusted => "needs trust",
        Class::Limit(Narrower::Lower) => "free if it is lower",
        Class::Limit(Narrower::Higher) => "free if it is higher",
        Class::Limit(Narrower::On) => "free if it is `true`",
        Class::Limit(Narrower::Longer) => "free if it has more",
        Class::Limit(Narrower::Shorter) => "free if it has fewer",
    }
}

fn push_wrapped(page: &mut String, first: &str, text: &str) {
    let mut line = first.to_owned();
    for word in text.split(' ') {
        if line.len() + 1 + word.len() > COLUMNS {
            writeln!(page, "{line}").unwrap();
            line = " ".to_owned();
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(page, "{line}").unwrap();
}

fn value_words(kind: Kind) -> String {
    match kind {
        Kind::Bool => "`true` or `false`".to_owned(),
        Kind::Int { min, max } => format!("a number from {min} to {max}"),
        Kind::Amount => "a positive number".to_owned(),
        Kind::Text => "a text".to_owned(),
        Kind::RepoName => "the name of a repository".to_owned(),
        Kind::ServerUrl => "the address of a server".to_owned(),
        Kind::BranchPrefix => "a folder of branches, with a slash at its end".to_owned(),
        Kind::Path => "a path".to_owned(),
        Kind::Choice(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        Kind::Time { min } if min.is_zero() => "a time".to_owned(),
        Kind::Time { min } => format!("a time of at least {} s", min.as_secs()),
        Kind::List => "a list".to_owned(),
        Kind::Command => "a command: a text, or a list of words".to_owned(),
    }
}

#[test]
fn the_page_of_settings_is_made_from_the_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/settings.md");
    if std::env::var_os("EL_UPDATE_DOCS").is_some() {
        std::fs::write(&path, settings_reference()).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == settings_reference(),
        "docs/settings.md is not what the list says: EL_UPDATE_DOCS=1 cargo test -p el-cli \
         page_of_settings writes it"
    );
}
