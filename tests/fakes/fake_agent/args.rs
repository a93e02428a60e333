//! The part of the client's command line that `el` or a test uses. Unknown options are refused, as
//! by the client.

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Mode {
    /// `-p` alone: the last text, at the end.
    #[default]
    Text,
    /// `--output-format json`: the result event, at the end.
    Json,
    /// `--output-format stream-json`: events as they come.
    Stream,
    /// Without `-p`: for a person at a terminal.
    Screen,
}

#[derive(Debug, Default)]
pub(crate) struct Args {
    pub(crate) mode: Mode,
    pub(crate) prompt: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) resume: Option<String>,
    pub(crate) settings: Option<String>,
    pub(crate) permission_mode: String,
    pub(crate) allowed_tools: Vec<String>,
    pub(crate) max_turns: Option<u32>,
    pub(crate) max_budget_usd: Option<f64>,
    pub(crate) model: Option<String>,
    /// All words as given, for `record`.
    pub(crate) words: Vec<String>,
}

impl Args {
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let mut args = Self {
            mode: Mode::Screen,
            permission_mode: "default".to_owned(),
            words: words.to_vec(),
            ..Self::default()
        };
        let mut format = Mode::Text;
        let (mut print, mut verbose) = (false, false);
        let mut rest = words.iter().map(String::as_str).peekable();
        while let Some(word) = rest.next() {
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) if word.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word, None),
            };
            let mut value = || {
                inline
                    .clone()
                    .or_else(|| rest.next().map(str::to_owned))
                    .ok_or_else(|| format!("error: option '{name}' argument missing"))
            };
            match name {
                "-p" | "--print" => print = true,
                "--verbose" => verbose = true,
                "--session-id" => args.session_id = Some(uuid(value()?)?),
                "-r" | "--resume" => args.resume = Some(value()?),
                "--settings" => args.settings = Some(value()?),
                "--permission-mode" => args.permission_mode = value()?,
                "--dangerously-skip-permissions" => {
                    "bypassPermissions".clone_into(&mut args.permission_mode)
                }
                "--model" => args.model = Some(value()?),
                "--max-turns" => args.max_turns = Some(number(name, &value()?)?),
                "--max-budget-usd" => args.max_budget_usd = Some(number(name, &value()?)?),
                "--output-format" => {
                    format = match value()?.as_str() {
                        "text" => Mode::Text,
                        "json" => Mode::Json,
                        "stream-json" => Mode::Stream,
                        other => {
                            return Err(format!(
                                "error: option '--output-format' argument '{other}' is invalid"
                            ));
                        }
                    }
                }
                // Options with a value and no effect here.
                "--append-system-prompt"
                | "--append-system-prompt-file"
                | "--system-prompt"
                | "--system-prompt-file"
                | "--fallback-model"
                | "--setting-sources"
                | "--plugin-dir"
                | "--effort"
                | "--input-format" => {
                    value()?;
                }
                "--strict-mcp-config" | "--include-partial-messages" | "--include-hook-events" => {}
                // Each takes every word up to the next option, the prompt included: a trap of the
                // real client.
                "--allowedTools" | "--allowed-tools" | "--disallowedTools"
                | "--disallowed-tools" | "--tools" | "--add-dir" | "--mcp-config" => {
                    let mut values: Vec<String> = inline.into_iter().collect();
                    while let Some(word) = rest.next_if(|w| !w.starts_with('-')) {
                        values.push(word.to_owned());
                    }
                    if name.starts_with("--allowed") {
                        args.allowed_tools.extend(values.iter().flat_map(|v| rules(v)));
                    }
                }
                "--" => args.prompt = rest.next().map(str::to_owned),
                other if other.starts_with('-') && other.len() > 1 => {
                    return Err(format!("error: unknown option '{other}'"));
                }
                text => args.prompt = Some(text.to_owned()),
            }
        }
        if print {
            args.mode = format;
        }
        if args.mode == Mode::Stream && !verbose {
            return Err(
                "Error: When using --print, --output-format=stream-json requires --verbose"
                    .to_owned(),
            );
        }
        Ok(args)
    }

    pub(crate) fn bypasses_permissions(&self) -> bool {
        self.permission_mode == "bypassPermissions"
    }
}

/// Splits `Bash(el *),Read Edit` at commas and blanks outside of parentheses.
fn rules(text: &str) -> Vec<String> {
    let mut depth = 0_i32;
    text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0 && (c == ',' || c == ' ')
    })
    .filter(|rule| !rule.is_empty())
    .map(str::to_owned)
    .collect()
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("error: option '{name}' argument '{text}' is not a number"))
}

fn uuid(text: String) -> Result<String, String> {
    let sizes: Vec<usize> = text.split('-').map(str::len).collect();
    if sizes == [8, 4, 4, 4, 12] && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit()) {
        return Ok(text);
    }
    Err("Error: Invalid session ID. Must be a valid UUID.".to_owned())
}
