# Sourced by scripts/demo orchestrate: a goal is analysed, cut into five tasks in three layers,
# worked on three at a time in git worktrees, brought together, and landed on the main branch. With
# the scripted agent: no account and no network.

prepare() {
  have git || die "git is missing; this scene works in its worktrees"
}

# A task of the list: `task ID TITLE DEPENDENCIES COMMAND REASON`. Its agent says how far it is,
# does the command, commits, and closes.
task() {
  printf '{"id": "%s", "title": "%s", "dependencies": [%s], "description": "' "$1" "$2" "$3"
  printf '%s\\nscript: answer progress {\\"task_id\\": \\"%s\\", ' "$2" "$1"
  printf '\\"status\\": \\"in_progress\\", '
  printf '\\"progress_percent\\": 50, \\"current_action\\": \\"%s\\"}\\nscript: sleep 700\\n' "$2"
  printf 'script: sh %s && git add . && git commit -q -m \\"%s\\"' "$4" "$2"
  printf '\\nscript: close %s"}' "$5"
}

story() {
  scripted_claude
  # The author of the commits. --global is the demo's own home here.
  git config --global user.name "A. Demo"
  git config --global user.email demo@example.com
  git config --global init.defaultBranch main

  chapter "A project under git"
  run git init -q
  say "Everything about tea." >README.md
  run git add README.md
  run git commit -q -m "A beginning"
  run el init --name tea
  # The question's script for each phase, and the list of tasks that its agent answers with.
  export FAKE_AGENT_ANSWERS="$scratch/shared/answers"
  mkdir "$FAKE_AGENT_ANSWERS"
  {
    say '{"total_tasks": 5, "tasks": ['
    task green "Write about green tea" '' 'echo 80 degrees > green.txt' 'green.txt is written'
    say ','
    task black "Write about black tea" '' 'echo 95 degrees > black.txt' 'black.txt is written'
    say ','
    task herbs "Write about herbs" '' 'echo boiling > herbs.txt' 'herbs.txt is written'
    say ','
    task table "Make a table of them" '"green", "black", "herbs"' \
      'cat green.txt black.txt herbs.txt > table.txt' 'table.txt has all three'
    say ','
    task check "Check the table" '"table"' \
      'test $(wc -l < table.txt) -eq 3 && echo passed > check.txt' 'the table has three lines'
    say ']}'
  } >"$FAKE_AGENT_ANSWERS/tasks.json"
  say 'answer analysis {"summary": "Three kinds of tea, a table, and its check",' \
    '"recommended_splits": 5}' >"$FAKE_AGENT_ANSWERS/analysis"
  say "answer-file task_list $FAKE_AGENT_ANSWERS/tasks.json" >"$FAKE_AGENT_ANSWERS/task_list"
  {
    say 'sh cat README.md table.txt > GUIDE.md && git add . &&' \
      'git commit -q -m "Bring the guide together"'
    say 'answer aggregation {"status": "success", "output_files": ["GUIDE.md"],' \
      '"summary": "GUIDE.md is one guide to three kinds of tea"}'
  } >"$FAKE_AGENT_ANSWERS/aggregation"

  chapter "A goal becomes a plan, and a person may look at it first"
  run el orchestrate "Write a guide to tea" --plan-only
  epic=$(el list -q --type epic)
  say ""
  say "The plan is ordinary atoms: five tasks in three layers, with what each waits for."
  run el orchestrate show "$epic"

  chapter "Three at a time, each in its own worktree"
  run el orchestrate resume "$epic" --concurrency 3
  run el list --all --parent "$epic"
  say ""
  say "Nothing of it is in the project's own folder yet: it is on branches."
  run ls
  run el worktrees

  chapter "Brought to the main branch"
  run el land --all
  run git log --oneline
  run cat GUIDE.md
  run el worktrees prune
}

checks() {
  check "the epic is closed with the result" \
    sh -c "el show $epic | grep -q 'GUIDE.md is one guide to three kinds of tea'"
  check "five tasks and three questions were closed" \
    test "$(el list -q --status closed --parent "$epic" | wc -l)" -eq 8
  check "the guide is on the main branch" git show main:GUIDE.md
  check "the table has all three kinds: it was made after them" \
    test "$(git show main:table.txt | wc -l)" -eq 3
  check "and was checked after that" grep -qx passed check.txt
  check "there is nothing left to land" \
    sh -c "el land --all --dry-run --robot | tr -d ' ' | grep -q '\"count\":0'"
  check "no branch and no worktree is left" test -z "$(git branch --list 'el/*')"
  check "no session and no process of an agent is left" nothing_runs
}
