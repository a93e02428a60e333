//! The modules of a crate, with the imports of each, read from the source.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The modules of one crate, tests left out.
pub(super) struct Crate {
    pub(super) modules: BTreeMap<Vec<String>, Module>,
}

pub(super) struct Module {
    /// `["store", "atom"]`; empty for the root.
    pub(super) at: Vec<String>,
    pub(super) path: PathBuf,
    tokens: Vec<String>,
    /// The string literals.
    pub(super) texts: Vec<String>,
    /// Name → path of what it gives on from elsewhere.
    gives_on: BTreeMap<String, Vec<String>>,
}

impl Crate {
    pub(super) fn read(name: &str) -> Crate {
        let source = root().join(name).join("src");
        let mut modules = BTreeMap::new();
        let mut left_out = BTreeSet::new();
        let mut files = Vec::new();
        collect(&source, &mut files);
        for path in files {
            let inside = path.strip_prefix(&source).unwrap().with_extension("");
            let mut at: Vec<String> =
                inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            if at.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
                at.pop();
            }
            let (tokens, texts) = tokens(&std::fs::read_to_string(&path).unwrap());
            let tokens = without_tests(tokens, &at, &mut left_out);
            let module = Module { at: at.clone(), path, tokens, texts, gives_on: BTreeMap::new() };
            modules.insert(at, module);
        }
        modules.retain(|at, _| !left_out.iter().any(|test: &Vec<String>| at.starts_with(test)));
        let mut given = BTreeMap::new();
        for (at, module) in &modules {
            given.insert(at.clone(), module.given_on(&modules));
        }
        for (at, gives_on) in given {
            modules.get_mut(&at).unwrap().gives_on = gives_on;
        }
        Crate { modules }
    }

    /// From which module to which, and the file that does it.
    pub(super) fn imports(&self) -> Vec<(Vec<String>, Vec<String>, String)> {
        let mut imports = Vec::new();
        for module in self.modules.values() {
            for (path, _) in module.paths() {
                let to = self.resolve(&path, 0);
                if to != module.at {
                    imports.push((module.at.clone(), to, module.path.display().to_string()));
                }
            }
        }
        imports
    }

    /// The module that defines the last part of a path.
    fn resolve(&self, path: &[String], depth: usize) -> Vec<String> {
        let mut at = path.to_vec();
        while !self.modules.contains_key(&at) {
            at.pop();
        }
        let next = path.get(at.len()).and_then(|name| self.modules[&at].gives_on.get(name));
        match next {
            Some(elsewhere) if depth < 8 => self.resolve(elsewhere, depth + 1),
            _ => at,
        }
    }
}

impl Module {
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.tokens.iter().any(|token| token == word)
    }

    pub(super) fn has_macro(&self, word: &str) -> bool {
        self.tokens.windows(2).any(|pair| pair[0] == word && pair[1] == "!")
    }

    /// Every path that begins with `crate`, `super` or `self`, whole, and the name that it gets.
    fn paths(&self) -> Vec<(Vec<String>, String)> {
        let mut found = Vec::new();
        for start in 0..self.tokens.len() {
            let is_head = ["crate", "super", "self"].contains(&self.tokens[start].as_str());
            let is_within = start > 0 && self.tokens[start - 1] == "::";
            if is_head && !is_within && self.tokens.get(start + 1).is_some_and(|t| t == "::") {
                self.tree(start, &mut self.at.clone(), &mut found);
            }
        }
        found
    }

    /// Reads a path, or a tree of them, from `at` on; returns where it ends.
    fn tree(
        &self,
        mut at: usize,
        path: &mut Vec<String>,
        found: &mut Vec<(Vec<String>, String)>,
    ) -> usize {
        let token = |at: usize| self.tokens.get(at).map_or("", String::as_str);
        let depth = path.len();
        loop {
            match token(at) {
                "crate" => path.clear(),
                "super" => drop(path.pop()),
                "self" => {}
                "{" => {
                    at += 1;
                    while token(at) != "}" && !token(at).is_empty() {
                        at = self.tree(at, &mut path.clone(), found);
                        if token(at) == "," {
                            at += 1;
                        }
                    }
                    path.truncate(depth);
                    return at + 1;
                }
                name if is_name(name) => path.push(name.to_owned()),
                _ => return at + 1,
            }
            at += 1;
            if token(at) != "::" || token(at + 1) == "<" {
                break;
            }
            at += 1;
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if token(at) == "as" {
            name = token(at + 1).to_owned();
            at += 2;
        }
        found.push((path.clone(), name));
        at
    }

    /// The names that `pub use` re-exports. The head may be a module below, without `self`.
    fn given_on(&self, modules: &BTreeMap<Vec<String>, Module>) -> BTreeMap<String, Vec<String>> {
        let mut found = Vec::new();
        for at in 1..self.tokens.len() {
            if self.tokens[at] != "use" || !["pub", ")"].contains(&self.tokens[at - 1].as_str()) {
                continue;
            }
            self.tree(at + 1, &mut self.at.clone(), &mut found);
        }
        let mut given = BTreeMap::new();
        for (path, name) in found {
            let is_ours = (0..path.len()).any(|len| modules.contains_key(&path[..=len]));
            if is_ours {
                given.insert(name, path);
            }
        }
        given
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn is_name(token: &str) -> bool {
    token.chars().all(|c| c.is_alphanumeric() || c == '_') && !token.is_empty()
}

/// The words and signs of a source text, and its string literals. Comments are left out.
fn tokens(text: &str) -> (Vec<String>, Vec<String>) {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut texts) = (Vec::new(), Vec::new());
    let mut at = 0;
    let find = |from: usize, what: &str| {
        let what: Vec<char> = what.chars().collect();
        (from..chars.len()).find(|at| chars[*at..].starts_with(&what)).unwrap_or(chars.len())
    };
    while at < chars.len() {
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        match chars[at] {
            '/' if next == '/' => at = find(at, "\n"),
            '/' if next == '*' => at = find(at, "*/") + 2,
            'r' if next == '"' || (next == '#' && chars.get(at + 2) == Some(&'"')) => {
                let end = if next == '"' { "\"" } else { "\"#" };
                let start = at + 1 + end.len();
                let stop = find(start, end);
                texts.push(chars[start..stop].iter().collect());
                tokens.push("\"".to_owned());
                at = stop + end.len();
            }
            '"' => {
                let start = at + 1;
                at = start;
                while at < chars.len() && chars[at] != '"' {
                    at += if chars[at] == '\\' { 2 } else { 1 };
                }
                texts.push(chars[start..at.min(chars.len())].iter().collect());
                tokens.push("\"".to_owned());
                at += 1;
            }
            // A character; a lifetime is a sign and a name.
            '\'' if next == '\\' => at = find(at + 3, "'") + 1,
            '\'' if chars.get(at + 2) == Some(&'\'') => at += 3,
            c if c.is_alphanumeric() || c == '_' => {
                let start = at;
                while at < chars.len() && (chars[at].is_alphanumeric() || chars[at] == '_') {
                    at += 1;
                }
                tokens.push(chars[start..at].iter().collect());
            }
            ':' if next == ':' => {
                tokens.push("::".to_owned());
                at += 2;
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(c.to_string());
                }
                at += 1;
            }
        }
    }
    (tokens, texts)
}

/// Leaves out what is for tests alone, and names the modules that are.
fn without_tests(
    tokens: Vec<String>,
    at: &[String],
    left_out: &mut BTreeSet<Vec<String>>,
) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut next = 0;
    while next < tokens.len() {
        if !tokens[next..].iter().map(String::as_str).take(TEST.len()).eq(TEST) {
            kept.push(tokens[next].clone());
            next += 1;
            continue;
        }
        next += TEST.len();
        let mut depth = 0;
        let mut module = None;
        while next < tokens.len() {
            match tokens[next].as_str() {
                "mod" if depth == 0 => module = tokens.get(next + 1).cloned(),
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            let is_end = depth == 0 && [";", "}"].contains(&tokens[next].as_str());
            next += 1;
            if is_end {
                if tokens[next - 1] == ";" {
                    left_out.extend(module.map(|name| [at, &[name]].concat()));
                }
                break;
            }
        }
    }
    kept
}
