# Sourced by scripts/demo pr: a plan of five tasks becomes pull requests; one gets a review that
# requests changes, its agent answers, and all are merged by squash. With the scripted agent and a
# scripted GitHub on loopback, to which the real gh and git talk: no account and no network.

prepare() {
  have git || die "git is missing; this scene works in its worktrees"
  have python3 || die "python3 is missing; this scene tells the scripted GitHub by it what happens"
  if ! have gh; then
    gh=$("$root/scripts/get-gh") || die "this scene needs gh"
    ln -s "$gh/gh" "$bin/gh"
  fi
  programs="$programs --bin fake-github"
}

# Has something happen at GitHub: an order of tests/fakes/fake_github/control.rs.
github() {
  python3 - "$port" "$1" <<'PYTHON'
import http.client, sys
server = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
server.request("POST", "/_control", sys.argv[2])
answer = server.getresponse()
sys.exit(answer.read().decode() if answer.status != 200 else 0)
PYTHON
}

start_github() {
  "$target/debug/fake-github" --root "$scratch/github" --ready "$scratch/port" &
  watcher=$!
  tries=0
  until [ -s "$scratch/port" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || die "the scripted GitHub does not start"
    sleep 0.1
  done
  port=$(cat "$scratch/port")
  export GH_HOST=github.localhost GH_TOKEN=a-word GH_CONFIG_DIR="$scratch/home/gh"
  export HTTP_PROXY="http://127.0.0.1:$port" http_proxy="http://127.0.0.1:$port"
}

# An agent's work: a line in a file, written, or written again if the file is there.
writes() {
  printf 'script: sh if [ -e %s ]; then echo "%s, as asked" > %s; else echo "%s" > %s; fi; ' \
    "$1" "$2" "$1" "$2" "$1"
  printf 'git add %s && git commit -q -m "Write %s"\nscript: close %s is written\n' "$1" "$1" "$1"
}

# The number of an atom's pull request.
number() {
  el pr list --robot | python3 -c 'import json, sys
for one in json.load(sys.stdin)["data"]["items"]:
    if one["atom_id"] == sys.argv[1]: print(one["number"])' "$1"
}

story() {
  scripted_claude
  start_github
  git config --global user.name "A. Demo"
  git config --global user.email demo@example.com
  git config --global init.defaultBranch main

  chapter "A clone of a repository at GitHub"
  git init -q
  say "Everything about tea." >README.md
  git add README.md
  git commit -q -m "A beginning"
  run git remote add origin http://github.localhost/acme/shop.git
  run git push -q origin main
  run el init --name tea

  chapter "Five tasks, of which two build on others"
  file green el create "Write about green tea" -q -d "$(writes green.txt '80 degrees')"
  file black el create "Write about black tea" -q -d "$(writes black.txt '95 degrees')"
  file herbs el create "Write about herbs" -q -d "$(writes herbs.txt 'boiling')"
  file table el create "Make a table of them" -q -d "$(writes table.txt 'three kinds')"
  file test el create "Check the table" -q -d "$(writes check.txt 'passed')"
  for one in "$green" "$black" "$herbs"; do run el dep add "$one" "$table" -q; done
  run el dep add "$table" "$test" -q
  run el work --drain --concurrency 3

  chapter "They become pull requests; what builds on others waits for them"
  run el pr --all --dry-run
  run el pr --all --ready
  say ""
  say "One pull request for each, however often it is called, and whatever is killed."
  run el pr --all

  chapter "A reviewer asks for a change, and the agent answers"
  run el config set pr_feedback reviews
  github '{"do": "review", "number": '"$(number "$herbs")"', "state": "CHANGES_REQUESTED",
    "author": "bob", "association": "MEMBER", "body": "Say that this was asked."}'
  run el pr watch --once
  run el work --once
  run el pr "$herbs"
  github '{"do": "review", "number": '"$(number "$herbs")"', "state": "APPROVED",
    "author": "bob", "association": "MEMBER", "body": ""}'

  chapter "Merged by squash, layer by layer"
  for one in "$green" "$black" "$herbs"; do run el pr merge "$one"; done
  say ""
  say "The table's branch steps over the squashes, so that its difference is its own."
  run el pr --all --ready
  run el pr merge "$table"
  run el pr --all --ready
  run el pr merge "$test"
  run git pull -q --ff-only origin main
  run git log --oneline
  run el pr list
  run el worktrees prune
}

checks() {
  check "five pull requests were merged" \
    sh -c "test \$(el pr list | grep -c 'merged into main') -eq 5"
  check "there are five, and no more" test "$(el pr list --robot | grep -o '"seq":1' | wc -l)" -eq 5
  check "the reviewer's wish is on main" \
    sh -c "git show main:herbs.txt | grep -qx 'boiling, as asked'"
  check "each squash is one commit" test "$(git rev-list --count main)" -eq 6
  check "nothing is left to open" \
    sh -c "el pr --all --dry-run --robot | tr -d ' ' | grep -q '\"count\":0'"
  check "no branch and no worktree is left" test -z "$(git branch --list 'el/*')"
  check "no session and no process of an agent is left" nothing_runs
}
