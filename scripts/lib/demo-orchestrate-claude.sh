# Sourced by scripts/demo orchestrate --claude: a small goal for the Claude Code that is installed
# here. It uses your account.

# `prepare` and `billed`.
# shellcheck source=scripts/lib/demo-claude.sh
. "$root/scripts/lib/demo-claude.sh"

story() {
  have git || die "git is missing; this scene works in its worktrees"
  chapter "A project under git, and a goal for Claude Code"
  billed "some seven short conversations" 3.00
  run git init -q
  # The author of the commits, for this project only.
  git config user.name "A. Demo"
  git config user.email demo@example.com
  run git commit -q --allow-empty -m "A beginning"
  run el init --name tea
  goal='One task each: green.txt is about green tea, black.txt about black tea, herbs.txt about'
  goal="$goal herb tea; three lines each, nothing else. A fourth task, after them, puts the three"
  goal="$goal into ALL.txt in this order. Each task commits its file."
  show el create -q 'Three haiku about tea' --description "$goal"
  epic=$(el create -q 'Three haiku about tea' --description "$goal")
  say "$epic"

  chapter "The goal becomes a plan"
  run el orchestrate "$epic" --plan-only --budget-per-epic 3 --max-tasks 5 --timeout 5m
  run el orchestrate show "$epic"

  chapter "Three at a time, each in its own worktree"
  run el orchestrate resume "$epic" --concurrency 3 --timeout 5m \
    --allow 'Bash(git *)' --allow 'Bash(cat *)'
  run el list --all --parent "$epic"

  chapter "Brought to your branch"
  run el land --all
  run git log --oneline
  run el worktrees prune
  for file in *.txt; do run cat "$file"; done
}

checks() {
  check "the plan is done" \
    sh -c "el orchestrate show $epic --robot | tr -d ' ' | grep -q '\"state\":\"done\"'"
  for name in green black herbs ALL; do
    check "$name.txt is landed" git show "HEAD:$name.txt"
  done
  check "no branch and no worktree is left" test -z "$(git branch --list 'el/*')"
  check "no session and no process of an agent is left" nothing_runs
}
