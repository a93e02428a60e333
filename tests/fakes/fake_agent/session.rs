//! The agent's memory on disk: the conversations, in the client's place, and the number of attempts
//! at an atom.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::args::Args;
use crate::events::Cost;

pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) cwd: String,
    /// Claude Code's transcript. The first line holds the first prompt, which `--resume` needs.
    pub(crate) transcript: PathBuf,
    pub(crate) resumed: bool,
    first_prompt: String,
    attempt: u32,
    resumes: usize,
    spent: Cost,
}

impl Session {
    /// Begins a conversation, or resumes the conversation named by `--resume`.
    pub(crate) fn open(args: &Args, prompt: &str) -> Result<Self, String> {
        let config = config_dir();
        let cwd = std::env::current_dir()
            .map_or_else(|_| "/".to_owned(), |d| d.to_string_lossy().into_owned());
        let slug: String =
            cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let folder = config.join("projects").join(slug);
        let id = args.resume.clone().or_else(|| args.session_id.clone()).unwrap_or_else(uuid);
        let transcript = folder.join(format!("{id}.jsonl"));
        let mut session = Self {
            id,
            cwd,
            transcript,
            resumed: args.resume.is_some(),
            first_prompt: prompt.to_owned(),
            attempt: 1,
            resumes: 0,
            spent: Cost::default(),
        };
        if session.resumed {
            session
                .read_back()
                .ok_or_else(|| format!("No conversation found with session ID: {}", session.id))?;
        } else {
            if session.transcript.exists() {
                return Err(format!("Error: Session ID {} is already in use.", session.id));
            }
            // As in the client, an unwritable home costs the memory, not the run.
            let _ = std::fs::create_dir_all(&folder);
            session.attempt = count_attempt(&folder);
        }
        session.remember(&json!({
            "type": "user", "sessionId": session.id, "cwd": session.cwd, "version": crate::VERSION,
            "attempt": session.attempt,
            "message": {"role": "user", "content": prompt},
        }));
        Ok(session)
    }

    /// Adds a line to the transcript.
    pub(crate) fn remember(&self, line: &Value) {
        if let Ok(mut file) = File::options().create(true).append(true).open(&self.transcript) {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Takes prompt, attempt and cost from the transcript of the conversation that goes on.
    fn read_back(&mut self) -> Option<()> {
        let text = std::fs::read_to_string(&self.transcript).ok()?;
        let lines: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let first = lines.first()?;
        first.pointer("/message/content")?.as_str()?.clone_into(&mut self.first_prompt);
        self.attempt = first
            .get("attempt")
            .and_then(Value::as_u64)
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or(1);
        // Each call begins with its prompt.
        self.resumes = lines.iter().filter(|line| line.get("version").is_some()).count();
        if let Some(state) =
            lines.iter().rev().find(|l| l.get("type").is_some_and(|t| t == "cost-state"))
        {
            self.spent = Cost {
                input: state.get("input")?.as_u64()?,
                output: state.get("output")?.as_u64()?,
                usd: state.get("usd")?.as_f64()?,
            };
        }
        Some(())
    }

    /// The cost before the resume, from which the client's totals go on.
    pub(crate) fn spent(&self) -> Cost {
        self.spent
    }

    /// The text that holds the script: the conversation's first prompt.
    pub(crate) fn script_text(&self) -> &str {
        &self.first_prompt
    }

    /// The number of resumes of the conversation, the present one included.
    pub(crate) fn resumes(&self) -> usize {
        self.resumes
    }

    /// The number of the attempt at `$EL_ATOM`, from 1, counted under this HOME.
    pub(crate) fn attempt(&self) -> u32 {
        self.attempt
    }
}

fn config_dir() -> PathBuf {
    std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(std::env::var_os("HOME").unwrap_or_else(|| "/nonexistent".into()))
            .join(".claude")
    })
}

/// A byte per attempt: an append is atomic, so two agents never read the same count.
fn count_attempt(conversations: &Path) -> u32 {
    let Ok(atom) = std::env::var("EL_ATOM") else { return 1 };
    let folder = conversations.join("fake-agent");
    let path = folder.join(atom.replace('/', "-"));
    let _ = std::fs::create_dir_all(&folder);
    if let Ok(mut file) = File::options().create(true).append(true).open(&path) {
        let _ = file.write_all(b".");
    }
    std::fs::metadata(&path).map_or(1, |m| u32::try_from(m.len()).unwrap_or(u32::MAX).max(1))
}

/// A random UUID. The hasher's keys are the standard library's only randomness, and good enough for
/// a fake.
pub(crate) fn uuid() -> String {
    let word = || {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        hasher.finish()
    };
    let (a, b) = (word(), word());
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        a >> 32,
        (a >> 16) & 0xffff,
        a & 0xfff,
        b >> 52,
        b & 0xffff_ffff_ffff
    )
}
