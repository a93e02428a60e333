# Sourced by scripts/demo tour: work is handed over in one call, comes back with its summary and
# files, is reviewed, sent back with a reason, and approved. With the scripted agent: no account and
# no network. (`file`, `nothing_runs`: common.)

prepare() { :; }

# How it stands with a task, as el tasks says.
stands() {
  "$el" --robot tasks show "$1" 2>/dev/null | tr -d ' ' | grep -q "\"status\":\"$2\""
}

# Waits until a command succeeds; for a minute at most.
wait_for() {
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || return 1
    sleep 0.1
  done
}

no_worker() {
  ! "$el" --robot queue 2>/dev/null | grep -q '"is_served":true'
}

# The folder of the last run of an atom, as seen from the project.
folder_of() {
  "$el" runs -q --atom "$1" 2>/dev/null | head -n 1 | sed 's|^|.eluent/runs/|'
}

# The step that writes the report of an agent's own work: `report SUMMARY FILES`.
report() {
  printf 'script: write report.json {"type":"completion_report","taskId":"$EL_ATOM",'
  printf '"platform":"custom","status":"awaiting_review",'
  printf '"summary":"%s","filesCreated":[%s],"filesModified":[],' "$1" "$2"
  printf '"buildResult":{"status":"success","command":"sh test.sh","errors":0,"output":""},'
  printf '"timestamp":"2026-01-01T00:00:00Z"}\n'
}

# The step that writes the summary: `summary WHAT FILE DESCRIPTION`.
summary() {
  printf 'script: write .eluent/summaries/$EL_ATOM.md # Task Completion Summary\\n\\n'
  printf '## Status\\nCOMPLETED\\n\\n'
  printf '## Accomplishments\\n- %s\\n\\n## Key Deliverables\\n- `%s` - %s\\n\n' "$1" "$2" "$3"
}

story() {
  scripted_claude

  chapter "A project with a lead"
  say "The lead hands work over, reads what comes back, and decides. Everything that is labelled" \
    "'review' waits for that."
  if have git; then run git init -q; fi
  run el init --name tea
  mkdir tasks
  {
    say "Write a timer for tea: seconds in, a line out when the tea is ready."
    say ""
    say "script: say I will write timer.sh."
    say "script: wait-file $scratch/shared/seen"
    say "script: write timer.sh sleep \$1; echo Tea is ready!\\n"
    summary "The timer is written" timer.sh "the timer"
    report "The timer is written" '"timer.sh"'
    say "script: el submit \$EL_ATOM --report report.json"
    say "script: on-attempt 2"
    say "script: say The lead wants a test: I will write one."
    say "script: write test.sh test \"\$(sh timer.sh 0)\" = \"Tea is ready!\" && echo passed >" \
      "test-result.txt\\n"
    say "script: sh sh test.sh"
    summary "The timer has a test, which passes" test.sh "the test"
    report "The timer has a test, which passes" '"test.sh"'
    say "script: el submit \$EL_ATOM --report report.json"
  } >tasks/timer.md
  {
    say "Write down how the timer is used."
    say ""
    say "script: say I will write USAGE.md."
    say "script: write USAGE.md sh timer.sh 180\\n"
    summary "The usage is written down" USAGE.md "how to use the timer"
    say "script: close USAGE.md is written"
  } >tasks/usage.md

  chapter "Handed over in one call"
  say "No worker runs; el starts one in the background, which leaves when nothing is left. The" \
    "call comes back at once:"
  run el run --file tasks/timer.md --label review
  timer=$(el tasks -q | head -n 1)
  say ""
  say "A second task, for later. An agent does one thing at a time, so this one waits, and is" \
    "told for what:"
  run el run --file tasks/usage.md
  usage=$(el tasks -q | grep -vx "$timer")

  chapter "Watched"
  wait_for stands "$timer" running || :
  show el queue
  el queue | tee "$scratch/queue"
  folder=$(folder_of "$timer")
  say ""
  say "A file in the run's folder says the same, for programs that only read files:"
  wait_for test -s "$folder/STATUS.txt" || :
  run cat "$folder/STATUS.txt"
  cp "$folder/STATUS.txt" "$scratch/status" || :
  : >"$scratch/shared/seen"
  wait_for stands "$timer" review || :
  wait_for stands "$usage" completed || :
  wait_for no_worker || :

  chapter "The answers"
  run el tasks
  say ""
  say "Whoever handed it over was told; the message has the summary:"
  run el inbox
  say ""
  say "The files that matter were copied as they were handed over, whatever becomes of them later:"
  run el artifacts show "$usage"
  run el artifacts get "$usage" USAGE.md

  chapter "Reviewed, and sent back with a reason"
  run el review
  say ""
  run el reject "$timer" --reason "There is no test. Write one, and run it."
  say ""
  say "It is open again, with fresh attempts. The worker in the background has left; a person may" \
    "as well run one:"
  run el work --drain
  say ""
  say "The prompt of the second agent has the reason in it:"
  folder=$(folder_of "$timer")
  show grep -A 6 '^## Rejected' "$folder/prompt.md"
  grep -A 6 '^## Rejected' "$folder/prompt.md" | tee "$scratch/rejected"

  chapter "Reviewed again, and approved"
  run el review
  run el approve "$timer"
  run el list --all
  run el history "$timer"
}

checks() {
  check "while the first one ran, the second waited for it" grep -q "$usage" "$scratch/queue"
  check "the usage is closed" is "$usage" closed
  check "the run's folder said how it stands" grep -q "^atom: $timer" "$scratch/status"
  check "its file came back" sh -c "el artifacts get $usage USAGE.md | grep -qx 'sh timer.sh 180'"
  check "the inbox has both ends" test "$(el inbox | grep -c 'Task .* completed (exit 0)')" -ge 2
  check "the lead was told of it" \
    sh -c "el chat show claude-code-you | grep -q '@you Task $usage completed'"
  check "the reason reached the second attempt" \
    grep -q 'There is no test. Write one, and run it.' "$scratch/rejected"
  check "which wrote the test and ran it" grep -qx passed test-result.txt
  check "the timer was handed over twice" \
    sh -c "test \$(el history $timer | grep -c submitted) -eq 2"
  check "the timer is closed, since it was approved" is "$timer" closed
  check "three runs: two for the timer, one for the usage" test "$(el runs -q | wc -l)" -eq 3
  check "no session and no process of an agent is left" nothing_runs
}
