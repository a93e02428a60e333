# Sourced by scripts/demo --claude: one small task for the Claude Code that is installed here. It
# uses your account.

prepare() {
  have claude ||
    die "Claude Code is not installed, or not on PATH: npm install -g" \
      "@anthropic-ai/claude-code (or see https://claude.com/claude-code), then run 'claude' once" \
      "and log in"
  case $(claude auth status </dev/null 2>/dev/null | tr -d ' \n') in
    *'"loggedIn":false'*)
      die "Claude Code is installed, but not logged in: run 'claude auth login', then this again"
      ;;
  esac
}

# Says who pays: `billed WHAT DOLLARS`, the most that it can cost.
billed() {
  say "$(command -v claude): $(claude --version </dev/null)"
  if [ -n "${ANTHROPIC_API_KEY:-}" ]; then
    say "ANTHROPIC_API_KEY is set: Claude Code bills $1 to that key (at most $2 dollars; usually" \
      "a fraction of that)."
  else
    say "This is $1 on your account."
  fi
}

story() {
  chapter "A project, and work for Claude Code"
  billed "one short conversation" 0.50
  run el init --name tea
  description='Write a file haiku.txt with a haiku about tea: three lines, nothing else.'
  description="$description Then close the work item."
  show el create -q 'Write a haiku about tea' --description "$description"
  haiku=$(el create -q 'Write a haiku about tea' --description "$description")
  say "$haiku"
  run el list

  chapter "The work"
  say "Claude Code runs in a tmux session; from another terminal:"
  say "  cd $project && TMUX_TMPDIR=$TMUX_TMPDIR $bin/el attach $haiku"
  run el work --once --timeout 5m --budget-per-run 0.50

  chapter "The board after"
  run el list --all
  run el why "$haiku"
  run el logs "$haiku"
  if [ -f haiku.txt ]; then run cat haiku.txt; fi
}

checks() {
  check "the atom is closed" sh -c "el list -q --status closed | grep -qx $haiku"
  check "haiku.txt is there" test -s haiku.txt
}
