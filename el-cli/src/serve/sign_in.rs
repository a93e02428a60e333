//! A browser with a link may look and act. The link carries a code for one use, and the
//! browser gets a secret in return. Only the hash of the secret is kept, so the browser stays
//! signed in when the server starts anew, and a reader of the file learns no secret.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

use el_agents::artifacts::sha256_hex;
use el_core::model::fresh_token;

use crate::replace::replace_private;
use crate::{CommandError, Result};

/// How long a link may be used.
pub(super) const CODE_LIFE: Duration = Duration::from_secs(60);
/// The codes that are good at a time: each link has one.
const CODES: usize = 4;
/// The browsers that stay signed in; the oldest is forgotten.
const BROWSERS: usize = 20;
/// The file of the hashes, in the tracker's folder.
const FILE: &str = "board-browsers";

/// The browsers that are signed in, and the codes that sign one in.
#[derive(Debug)]
pub(super) struct SignIn {
    file: PathBuf,
    codes: Mutex<VecDeque<Code>>,
    browsers: Mutex<VecDeque<String>>,
}

#[derive(Debug)]
struct Code {
    /// Hashes are compared, so that the time of a comparison tells nothing of a code.
    hash: String,
    made: Instant,
}

impl SignIn {
    pub(super) fn open(state: &Path) -> Result<SignIn> {
        let file = state.join(FILE);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(CommandError::file_error("read", &file, source)),
        };
        let is_hash = |line: &&str| line.len() == 64 && line.bytes().all(|b| b.is_ascii_hexdigit());
        let browsers = text.lines().filter(is_hash).map(str::to_owned).collect();
        Ok(SignIn { file, codes: Mutex::default(), browsers: Mutex::new(browsers) })
    }

    /// A code for one browser.
    pub(super) fn fresh_code(&self) -> String {
        let code = fresh_token();
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.push_back(Code { hash: hash_secret(&code), made: Instant::now() });
        if codes.len() > CODES {
            codes.pop_front();
        }
        code
    }

    /// Takes a code, and returns the secret of the browser that brought it.
    pub(super) fn redeem_code(&self, code: &str) -> Result<Option<String>> {
        if !self.take_code(code) {
            return Ok(None);
        }
        let secret = format!("{}{}", fresh_token(), fresh_token());
        let mut browsers = self.browsers.lock().unwrap_or_else(PoisonError::into_inner);
        browsers.push_back(hash_secret(&secret));
        while browsers.len() > BROWSERS {
            browsers.pop_front();
        }
        self.save_browsers(&browsers)?;
        Ok(Some(secret))
    }

    fn take_code(&self, code: &str) -> bool {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|code| code.made.elapsed() < CODE_LIFE);
        let given = hash_secret(code);
        let before = codes.len();
        codes.retain(|code| code.hash != given);
        codes.len() < before
    }

    /// Returns true if a browser has this secret.
    pub(super) fn knows_secret(&self, secret: &str) -> bool {
        let given = hash_secret(secret);
        let browsers = self.browsers.lock().unwrap_or_else(PoisonError::into_inner);
        browsers.contains(&given)
    }

    /// Forgets the browser with this secret.
    pub(super) fn forget_secret(&self, secret: &str) -> Result<()> {
        let given = hash_secret(secret);
        let mut browsers = self.browsers.lock().unwrap_or_else(PoisonError::into_inner);
        browsers.retain(|known| *known != given);
        self.save_browsers(&browsers)
    }

    fn save_browsers(&self, browsers: &VecDeque<String>) -> Result<()> {
        let text: String = browsers.iter().map(|hash| format!("{hash}\n")).collect();
        replace_private(&self.file, text.as_bytes())
            .map_err(|source| CommandError::file_error("write", &self.file, source))
    }
}

fn hash_secret(secret: &str) -> String {
    sha256_hex(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_signs_one_browser_in_once_and_the_browser_outlives_the_server() {
        let dir = tempfile::tempdir().unwrap();
        let sign_in = SignIn::open(dir.path()).unwrap();
        let code = sign_in.fresh_code();
        assert_eq!(sign_in.redeem_code("").unwrap(), None);
        let secret = sign_in.redeem_code(&code).unwrap().unwrap();
        assert_eq!(sign_in.redeem_code(&code).unwrap(), None, "it was used");
        assert!(sign_in.knows_secret(&secret) && !sign_in.knows_secret(&code));
        let kept = fs::read_to_string(dir.path().join(FILE)).unwrap();
        assert!(!kept.contains(&secret), "only its hash is kept");

        let again = SignIn::open(dir.path()).unwrap();
        assert!(again.knows_secret(&secret));
        again.forget_secret(&secret).unwrap();
        assert!(
            !again.knows_secret(&secret)
                && !SignIn::open(dir.path()).unwrap().knows_secret(&secret)
        );
    }

    #[test]
    fn codes_and_browsers_do_not_pile_up() {
        let dir = tempfile::tempdir().unwrap();
        let sign_in = SignIn::open(dir.path()).unwrap();
        let first = sign_in.fresh_code();
        for _ in 0..CODES {
            sign_in.fresh_code();
        }
        assert_eq!(sign_in.redeem_code(&first).unwrap(), None);
        for _ in 0..BROWSERS + 3 {
            let code = sign_in.fresh_code();
            sign_in.redeem_code(&code).unwrap().unwrap();
        }
        let kept = fs::read_to_string(dir.path().join(FILE)).unwrap();
        assert_eq!(kept.lines().count(), BROWSERS);
    }
}
