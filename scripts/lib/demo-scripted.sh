# Sourced by scripts/demo: the story with the scripted agent. Needs no account and no network.

prepare() { :; }

# While the second atom is worked on, somebody looks at tmux; its agent waits for that, so the look
# never comes too late.
watch_tmux() {
  tries=0
  while [ "$tries" -lt 600 ]; do
    tries=$((tries + 1))
    socket=$(own_socket)
    if [ -n "$socket" ] && is "$program" in_progress; then
      session=$(tmux -L "$socket" list-sessions -F '#{session_name}' 2>/dev/null | head -n 1)
      if [ -n "$session" ] &&
        tmux -L "$socket" capture-pane -p -t "=$session:" >"$scratch/pane" 2>/dev/null &&
        grep -q 'I will write a program' "$scratch/pane"; then
        tmux -L "$socket" list-sessions >"$scratch/sessions"
        break
      fi
    fi
    sleep 0.1
  done
  : >"$scratch/shared/seen"
}

story() {
  scripted_claude

  chapter "A project, and work to be done"
  say "An empty folder becomes a project. All that el keeps is in its folder .eluent."
  run el init --name tea

  mkdir tasks
  cat >tasks/greeting.md <<'TASK'
script: say I will write greeting.txt.
script: sleep 1100
script: write greeting.txt Tea is ready!
script: close greeting.txt is written
TASK
  cat >tasks/program.md <<TASK
script: say I will write a program that prints the greeting.
script: wait-file $scratch/shared/seen
script: sleep 1100
script: sh test -f greeting.txt && printf '#!/bin/sh\ncat greeting.txt\n' > hello.sh
script: close hello.sh prints greeting.txt
TASK
  cat >tasks/test.md <<'TASK'
script: say I will run hello.sh and compare.
script: sleep 1100
script: sh test "$(sh hello.sh)" = "Tea is ready!" && echo passed > test-result.txt
script: close hello.sh says what it should
TASK
  cat >tasks/readme.md <<'TASK'
script: say I wrote the README. That is all.
script: write README.md Run hello.sh.
script: sleep 1100
script: on-block
script: say Right, I have not closed it yet.
script: close README.md is written
TASK
  cat >tasks/licence.md <<'TASK'
script: say There are several licences; I cannot choose for you.
script: sleep 1100
script: el comment add $EL_ATOM "MIT or GPL? A person has to decide."
script: update deferred
TASK

  say ""
  say "In the place of Claude Code stands a scripted agent, so that this needs no account: it" \
    "does what the lines"
  say "'script:' of a task say. One such task, and one whose agent forgets to close it until it" \
    "is reminded:"
  run cat tasks/greeting.md
  run cat tasks/readme.md

  say ""
  say "Five tasks (el calls them atoms). -q prints the new id only. Two of them wait for another" \
    "one:"
  file greeting el create -q 'Write the greeting' --priority high \
    --description-file tasks/greeting.md
  file program el create -q 'Print it from a program' --blocked-by "$greeting" \
    --description-file tasks/program.md
  file test el create -q 'Test the program' --type bug --blocked-by "$program" \
    --description-file tasks/test.md
  file readme el create -q 'Write the README' --description-file tasks/readme.md
  file licence el create -q 'Choose a licence' --priority low --description-file tasks/licence.md

  chapter "The board before"
  run el list
  say ""
  say "The atoms that wait for the greeting, one after the other; and those that are ready now:"
  run el dep tree "$greeting"
  run el ready

  watch_tmux &
  watcher=$!

  chapter "The work"
  say "el work takes one ready atom after the other, starts an agent for it in a tmux session," \
    "and believes only what the"
  say "tracker says: an atom is done when its agent has run 'el close'. --drain: leave when there" \
    "is nothing left to do."
  run el work --drain
  wait "$watcher" || :
  watcher=

  say ""
  say "While the second one ran, tmux had this session ('el attach ID' shows it live; Ctrl-b d" \
    "leaves it):"
  sed 's/^/  | /' "$scratch/sessions" 2>/dev/null || :
  sed '/^$/d; s/^/  | /' "$scratch/pane" 2>/dev/null || :

  chapter "The board after"
  run el list --all
  run el runs

  chapter "Those that did not go straight"
  say "The agent of the README ended its turn without closing it; the Stop hook sent it back:"
  run el history "$readme"
  say ""
  say "The licence waits for a person, and its agent said why:"
  run el why "$licence"

  chapter "The traces"
  say "The words and deeds of an agent outlive its session:"
  run el logs "$program"
  run_folder=$(el --robot runs show "$program" 2>/dev/null |
    sed -n 's/.*"folder":"\([^"]*\)".*/\1/p')
  [ -n "$run_folder" ] || run_folder=$(ls -d "$project"/.eluent/runs/*/ | head -n 1)
  say ""
  say "All of a run is in its folder: the prompt, the transcript as it came, what the pane" \
    "showed, how it ended:"
  run ls "${run_folder#"$project"/}"
}

checks() {
  check "the greeting is closed" is "$greeting" closed
  check "the program is closed" is "$program" closed
  check "the test is closed" is "$test" closed
  check "the README is closed, by an agent that was sent back" is "$readme" closed
  check "its history tells of that" sh -c "el history $readme | grep -q nudged"
  check "the licence is deferred" is "$licence" deferred
  check "with its agent's comment" \
    sh -c "el comment list $licence | grep -q 'A person has to decide'"
  check "one after the other: the test found the work of the others" grep -qx passed test-result.txt
  check "there was a tmux session for the work" grep -q '^eluent-' "$scratch/sessions"
  check "five runs, one for each" test "$(el runs -q | wc -l)" -eq 5
  check "no session and no process of an agent is left" nothing_runs
}
