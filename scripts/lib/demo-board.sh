# Sourced by scripts/demo board: a project in motion, shown in the browser. With the scripted agent:
# no account and no network. On a terminal it goes on until Ctrl-C; elsewhere it looks at the page
# itself and ends.

prepare() {
  have git || install_packages git git || die "git is missing; the board shows agents' branches"
}

# A description with the steps of its agent: `play TEXT STEP…`.
play() {
  printf '%s\n\n' "$1"
  shift
  for step; do printf 'script: %s\n' "$step"; done
}

# The steps of an agent that is busy for a while: `busy WHAT`.
busy() {
  n=0
  while [ "$n" -lt 60 ]; do
    n=$((n + 1))
    printf 'say %s, part %s.\n' "$1" "$n"
    printf 'sh sleep 4\n'
  done
}

# Turns lines into steps.
steps() {
  sed 's/^/script: /'
}

# Files an atom, and shows the command without its long text: `tell VARIABLE TITLE TEXT FLAG…`.
tell() {
  variable=$1
  title=$2
  text=$3
  shift 3
  show el create --title "$title" "$@"
  id=$("$el" create -q --title "$title" --description "$text" "$@")
  say "$id"
  eval "$variable=\$id"
}

commit='git add -A && git commit -q -m'

story() {
  scripted_claude
  chapter "A project in motion"
  run git init -q -b main
  printf '# Tea\n\nA timer for tea.\n' >README.md
  git add README.md
  git -c user.name=you -c user.email=you@example.com commit -q -m "Begin"
  git config --global user.name you
  git config --global user.email you@example.com
  run el init --name tea
  printf 'isolate = "worktree"\nconcurrency = 6\n' >.eluent/config.toml
  run el trust --yes

  tell timer "Write the timer" "$(play \
    "Seconds in, a line out when the tea is ready." \
    "say I will write timer.sh." \
    "write timer.sh sleep \$1\\necho Tea is ready\\n" \
    "sh $commit 'Write the timer'" \
    "update review")" --priority 1 --label review
  tell port "Tell the phone when the tea is ready" "$(play \
    "A message to the phone." \
    "say I cannot know where the phone is." \
    "el comment add \$EL_ATOM 'Which port does the phone listen on?'" \
    "update deferred" \
    "on-attempt 2" \
    "say I have my answer." \
    "write phone.sh curl -d 'Tea is ready' \$1\\n" \
    "sh $commit 'Tell the phone'" \
    "close 'The phone is told'")"
  tell sound "Ring a bell" "$(play \
    "A sound at the end." \
    "el comment add \$EL_ATOM 'There is no sound card here.'" \
    "update blocked")"
  tell recipes "Collect recipes" "$(
    printf 'Green, black, white.\n\n'
    busy "Reading about green tea" | steps
  )"
  tell kettle "Describe the kettle" "$(
    printf 'Its parts and their names.\n\n'
    busy "Measuring the kettle" | steps
  )"
  run el create --title "Publish the recipes" --blocked-by "$recipes" --priority 3
  run el create --title "Test the timer for an hour" --blocked-by "$timer"
  run el create --title "Print labels" --blocked-by "$timer" --label paper

  chapter "Agents at work"
  show el work
  el work >"$scratch/work.log" 2>&1 &
  watcher=$!
  tries=0
  until is "$timer" review && is "$port" deferred && is "$sound" blocked; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || die "the agents do not get on; see $scratch/work.log"
    sleep 0.1
  done
  run el status

  chapter "In your browser"
  if [ -t 0 ] && [ -t 1 ]; then
    say "Review the timer, answer the question, watch an agent. Ctrl-C ends the demo."
    show el serve --open
    # Ctrl-C ends the board first, and then the demo goes on to its end.
    trap ':' INT
    el serve --open || :
    return
  fi
  show el serve
  mkfifo "$scratch/serve.in"
  el serve --robot --port 0 <"$scratch/serve.in" >"$scratch/serve.log" &
  board=$!
  exec 9>"$scratch/serve.in"
  tries=0
  until grep -q '"event":"link"' "$scratch/serve.log"; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || die "el serve prints no link"
    sleep 0.1
  done
}

checks() {
  check "an atom waits for a review" is "$timer" review
  check "a question waits for an answer" is "$port" deferred
  if [ -n "${board:-}" ]; then
    check "el serve runs" kill -0 "$board"
    kill "$board"
    exec 9>&-
  fi
}
