//! The files that may be handed back, judged without the file system. An agent chose the path of a
//! deliverable, so the path is data: refused unless below the working folder, name by name. The
//! code that opens the file checks links, devices and missing files.

mod secrets;

use crate::model::NotSent;

/// The most bytes of a path, and of a name in a path.
const PATH_MAX: usize = 4_096;
const NAME_MAX: usize = 255;

/// The rules for paths. Folders are relative to the working folder; `None` for folders outside.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The absolute working folder. Models like to write whole paths, and a path below this folder
    /// is legal.
    pub root: String,
    /// The tracker's own folder.
    pub state: Option<String>,
    /// Where the summaries are.
    pub summaries: Option<String>,
    /// Where the context files are.
    pub contexts: Option<String>,
    /// Title, description and acceptance of the work item: files named there were asked for.
    pub asked: String,
}

/// Returns the path relative to the working folder, without `.` and doubled slashes.
///
/// # Errors
///
/// Why such a path is never handed back, whatever file exists.
pub fn judge_path(path: &str, rules: &Rules) -> Result<String, NotSent> {
    let relative = lexical_path(path, &rules.root)?;
    match exclusion_reason(&relative, rules) {
        Some(why @ (NotSent::TrackerState | NotSent::Secret)) => Err(why),
        Some(why) if !is_asked_for(&relative, &rules.asked) => Err(why),
        _ => Ok(relative),
    }
}

/// Returns the path below `root`, without looking at the file system.
///
/// # Errors
///
/// If the text is no path, or leaves the folder.
pub fn lexical_path(path: &str, root: &str) -> Result<String, NotSent> {
    if path.trim().is_empty()
        || path.len() > PATH_MAX
        || path.contains(char::is_control)
        || path.contains("://")
    {
        return Err(NotSent::NotAPath);
    }
    let below = match path.strip_prefix('/') {
        None => path,
        Some(_) => {
            let root = root.trim_end_matches('/');
            path.strip_prefix(root)
                .filter(|rest| !root.is_empty() && rest.starts_with('/'))
                .ok_or(NotSent::Absolute)?
        }
    };
    let mut names = Vec::new();
    for name in below.split('/') {
        match name {
            "" | "." => {}
            ".." => return Err(NotSent::Outside),
            name if name.len() > NAME_MAX || name.trim().is_empty() => {
                return Err(NotSent::NotAPath);
            }
            name => names.push(name),
        }
    }
    match names.first() {
        None => Err(NotSent::Folder),
        // A shell would read the home folder.
        Some(&"~") => Err(NotSent::Absolute),
        Some(_) => Ok(names.join("/")),
    }
}

/// Returns why a file is excluded unless asked for.
fn exclusion_reason(path: &str, rules: &Rules) -> Option<NotSent> {
    let below = |folder: &Option<String>| {
        folder.as_deref().is_some_and(|folder| {
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let names: Vec<&str> = path.split('/').collect();
    let (name, folders) = names.split_last()?;
    if secrets::is_secret(path) {
        return Some(NotSent::Secret);
    }
    if below(&rules.summaries) {
        return Some(NotSent::OtherSummary);
    }
    if below(&rules.contexts) || CONTEXT_FILES.contains(name) {
        return Some(NotSent::ContextFile);
    }
    // File systems that do not tell upper from lower case must not make a way in.
    if below(&rules.state)
        || names
            .iter()
            .any(|name| name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case(".eluent"))
    {
        return Some(NotSent::TrackerState);
    }
    if folders.iter().any(|folder| BUILD_FOLDERS.contains(folder))
        || BUILD_ENDINGS.iter().any(|ending| name.ends_with(ending))
    {
        return Some(NotSent::BuildOutput);
    }
    is_configuration(name, folders).then_some(NotSent::Configuration)
}

const CONTEXT_FILES: [&str; 5] =
    ["CONTEXT.md", "SPECS.md", "INSTRUCTIONS.md", "CLAUDE.md", "AGENTS.md"];

const BUILD_FOLDERS: [&str; 21] = [
    "node_modules",
    "dist",
    "build",
    "out",
    "target",
    "obj",
    "coverage",
    "__pycache__",
    "venv",
    ".venv",
    ".tox",
    ".next",
    ".nuxt",
    ".output",
    ".svelte-kit",
    ".cache",
    ".gradle",
    ".turbo",
    ".pytest_cache",
    ".mypy_cache",
    ".parcel-cache",
];

const BUILD_ENDINGS: [&str; 4] = [".pyc", ".pyo", ".o", ".class"];

const CONFIGURATION: [&str; 39] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.json",
    "deno.lock",
    "jsconfig.json",
    "turbo.json",
    "nx.json",
    "lerna.json",
    "biome.json",
    "composer.json",
    "composer.lock",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "clippy.toml",
    "deny.toml",
    "pyproject.toml",
    "poetry.lock",
    "uv.lock",
    "Pipfile",
    "Pipfile.lock",
    "setup.cfg",
    "tox.ini",
    "pytest.ini",
    "mypy.ini",
    "go.mod",
    "go.sum",
    "Gemfile",
    "Gemfile.lock",
    "gradle.properties",
    ".editorconfig",
    ".flake8",
];

fn is_configuration(name: &str, folders: &[&str]) -> bool {
    if CONFIGURATION.contains(&name)
        || folders
            .iter()
            .any(|folder| matches!(*folder, ".vscode" | ".idea" | ".claude" | ".husky"))
    {
        return true;
    }
    if name.starts_with("requirements") && name.ends_with(".txt")
        || name.starts_with("tsconfig") && name.ends_with(".json")
    {
        return true;
    }
    // `.env.example`, `.eslintrc.cjs`, `.gitignore`: what such a program is told.
    let is_of_a_program = name.starts_with('.')
        && (name.ends_with("ignore")
            || name.contains("rc")
            || name == ".gitattributes"
            || name.starts_with(".env"));
    // `vite.config.ts`, `jest.config.js`, `eslint.config.mjs`.
    let is_of_a_bundler = name.rsplit_once('.').is_some_and(|(before, ending)| {
        before.ends_with(".config")
            && matches!(ending, "js" | "cjs" | "mjs" | "ts" | "cts" | "mts" | "json")
    });
    is_of_a_program || is_of_a_bundler
}

/// Returns true if the work item's text names the file, or a folder above the file with a slash
/// (`dist/`).
pub fn is_asked_for(path: &str, text: &str) -> bool {
    let mut names = path.split('/').peekable();
    while let Some(name) = names.next() {
        let is_file = names.peek().is_none();
        if mentions_name(text, name, !is_file) {
            return true;
        }
    }
    false
}

/// Returns true if a text contains the name as a whole word; for a folder, with a slash.
fn mentions_name(text: &str, name: &str, is_folder: bool) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + name.len()..].chars();
        let next = after.next();
        let is_begun = before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.'));
        let is_ended = match next {
            None => true,
            // A full stop ends a sentence, or a name goes on.
            Some('.') => !after.next().is_some_and(char::is_alphanumeric),
            Some(c) => !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/'),
        };
        is_begun
            && if is_folder {
                next == Some('/') && after.next().is_none_or(|c| !c.is_alphanumeric())
            } else {
                is_ended
            }
    })
}

#[cfg(test)]
mod tests;
