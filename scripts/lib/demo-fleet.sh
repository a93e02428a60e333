# Sourced by scripts/demo fleet: two machines at work on one project, with a PostgreSQL server and
# the repository on a third. Each is a network namespace. One is cut off in the middle of its work:
# its agent ends first, the other takes over, and all lands. With the scripted agent: no account,
# and no network but the one that the scene makes.

network=$root/scripts/lib/network
net=$scratch/net
beside=
server=

prepare() {
  have git || die "git is missing; the machines share their work by it"
  { [ "$(uname)" = Linux ] && have ip && have nsenter && have hostname &&
    unshare "$(as_whom)" --net true 2>/dev/null; } ||
    die "this scene wants network namespaces: Linux, ip, nsenter and hostname (Debian: apt-get" \
      "install iproute2 util-linux hostname), and root or user namespaces"
  have openssl && "$root/scripts/with-postgres" true 2>/dev/null ||
    die "this scene wants PostgreSQL 15 or newer, and openssl (Debian: apt-get install postgresql" \
      "openssl)"
}

as_whom() {
  if [ "$(id -u)" = 0 ]; then say --net; else say --map-root-user; fi
}

# Waits until a command succeeds; after a minute and a half, tells what the machines said, and ends.
wait_for() {
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 900 ] || {
      cat "$scratch"/*.log >&2 || :
      die "waited in vain: $*"
    }
    sleep 0.1
  done
}

# Starts what goes on beside the story, on a machine.
start_on() {
  machine=$1
  shift
  "$network" on "$net" "$machine" "$@" &
  beside="$beside $!"
}

# Runs a command in the project's folder on a machine, and shows it: `on MACHINE COMMAND…`.
on() {
  machine=$1
  shift
  show_on "$machine" "$@"
  quietly_on "$machine" "$@"
}

# Shows a command as one would type it on a machine.
show_on() {
  printf '%s%s ' "$dim" "$1"
  shift
  show "$@"
}

quietly_on() {
  (cd "$scratch/$1" && exec "$network" on "$net" "$@")
}

scene_ends() {
  for machine in oak elm; do
    if [ -d "$scratch/$machine/.eluent" ]; then
      quietly_on "$machine" el work --stop >/dev/null 2>&1 || :
    fi
  done
  # The server ends with what it was started for; then all else.
  kill "$(cat "$scratch/server.pid" 2>/dev/null || echo "$server")" 2>/dev/null || :
  for pid in $beside; do
    [ "$pid" = "$server" ] || kill "$pid" 2>/dev/null || :
  done
  wait
}

start_machines() {
  mkdir "$net" "$scratch/git" "$scratch/shared/hold"
  "$network" hold "$net" db oak elm &
  beside=$!
  wait_for test -e "$net/ready"
  # shellcheck disable=SC2016 # for the shell beside the server
  EL_TEST_POSTGRES_ADDRESS=192.0.2.1 start_on db "$root/scripts/with-postgres" sh -c '
    echo $$ >"$0.pid"
    echo "$EL_TEST_POSTGRES_TLS?sslrootcert=$EL_TEST_POSTGRES_CA" >"$0.new"
    mv "$0.new" "$0"
    exec sleep 86400' "$scratch/server" 2>"$scratch/server.log"
  server=$!
  git init -q --bare "$scratch/git/tea.git"
  start_on db git daemon --reuseaddr --listen=192.0.2.1 --base-path="$scratch/git" \
    --export-all --enable=receive-pack "$scratch/git"
  wait_for test -s "$scratch/server"
  EL_DATABASE_URL=$(cat "$scratch/server")
  export EL_DATABASE_URL
}

# The work of an agent: `writes FILE TEXT`. On oak it stays at its work.
writes() {
  printf 'script: say I will write %s.\n' "$1"
  printf 'script: sh while [ -e %s/$(cat /proc/sys/kernel/hostname) ]; do sleep 0.1; done\n' \
    "$scratch/shared/hold"
  printf 'script: sh %s > %s && git add . && git commit -q -m "Write %s"\n' "$2" "$1" "$1"
  printf 'script: close %s is written\n' "$1"
}

# A value of the first run of an atom, or of its last one: `of_run first|last ATOM NAME`.
of_run() {
  if [ "$1" = first ]; then which=tail; else which=head; fi
  run=$(quietly_on elm el runs -q --atom "$2" | $which -n 1)
  quietly_on elm el --robot runs show "$run" | tr -d ' \n' |
    sed "s/.*\"$3\":\"\\([^\"]*\\)\".*/\\1/"
}

at_work() {
  test -n "$(grep -lazs "^EL_SESSION=$scratch/$1/" /proc/[0-9]*/environ)"
}

is_idle() {
  ! at_work "$1"
}

is_closed() {
  quietly_on elm el list -q --status closed | grep -qx "$1"
}

in_order() {
  printf '%s\n' "$@" | sort -c
}

story() {
  scripted_claude
  git config --global user.name "A. Demo"
  git config --global user.email demo@example.com
  git config --global init.defaultBranch main
  git config --global protocol.file.allow always

  chapter "Three machines"
  start_machines
  say "db has a PostgreSQL server and the repository; oak and elm are for work. Each is a network" \
    "namespace; the server listens by TCP with TLS:"
  "$network" on "$net" db ip -brief address show dev eth0
  "$network" on "$net" oak ip -brief address show dev eth0
  "$network" on "$net" elm ip -brief address show dev eth0

  chapter "One project, on both"
  git clone -q "$scratch/git/tea.git" "$scratch/oak" 2>/dev/null
  (
    cd "$scratch/oak"
    say "Everything about tea." >README.md
    git add README.md
    git commit -q -m "A beginning"
    git push -q origin HEAD:main
    git remote set-url origin git://192.0.2.1/tea.git
  )
  mkdir "$scratch/elm"
  on elm git clone -q git://192.0.2.1/tea.git .
  say 'export EL_DATABASE_URL=postgres://el@192.0.2.1/postgres?sslrootcert=…'
  on oak el init --name tea
  mkdir -p "$scratch/elm/.eluent"
  for machine in oak elm; do
    printf '%s\n' 'isolate = "worktree"' 'remote = "origin"' 'lease = "15s"' 'max_parallel = 2' \
      'retry_backoff = "0s"' >"$scratch/$machine/.eluent/config.toml"
    quietly_on "$machine" el trust --yes >/dev/null
  done
  atom() {
    variable=$1
    shift
    show_on oak el create "$@" -d "script: …" -q
    id=$(quietly_on oak el create "$@" -d "$description" -q)
    say "$id"
    eval "$variable=\$id"
  }
  description=$(writes green.txt 'echo 80 degrees') && atom green "Write about green tea"
  description=$(writes black.txt 'echo 95 degrees') && atom black "Write about black tea"
  description=$(writes herbs.txt 'echo boiling') && atom herbs "Write about herbs"
  description=$(writes table.txt 'cat green.txt black.txt herbs.txt') && atom table \
    "Make a table of them" --blocked-by "$green" --blocked-by "$black" --blocked-by "$herbs"

  chapter "Both work"
  : >"$scratch/shared/hold/oak"
  : >"$scratch/shared/hold/elm"
  for machine in oak elm; do
    show_on "$machine" el work --name "$machine"
    (cd "$scratch/$machine" && exec "$network" on "$net" "$machine" el work --name "$machine") \
      >"$scratch/$machine.log" 2>&1 &
    beside="$beside $!"
    wait_for at_work "$machine"
  done
  on elm el workers
  say ""
  on elm el runs
  rm "$scratch/shared/hold/elm"
  wait_for is_closed "$herbs"

  chapter "oak is cut off, in the middle of its work"
  "$network" cut "$net" oak
  cut=$(date -u +%Y-%m-%dT%H:%M:%S)
  wait_for is_idle oak
  gone=$(date -u +%Y-%m-%dT%H:%M:%S)
  until=$(of_run first "$green" lease_until)
  say "$cut  the network of oak is gone: nothing comes, nothing goes, nothing is told"
  say "$gone  its agent and all that the agent started are ended, by oak itself"
  say "$until  until then, nobody else may have $green: the lease, by the server's clock"
  on elm el list --status in_progress
  wait_for is_closed "$green"
  again=$(of_run last "$green" started_at)
  say "$again  elm took it over"
  wait_for is_closed "$table"

  chapter "oak is back, too late"
  "$network" heal "$net" oak
  told() { quietly_on elm el logs "$(quietly_on elm el runs -q --atom "$green" | tail -n 1)" |
    tee "$scratch/told" | grep -q 'its lease'; }
  wait_for told
  say "The agent's transcript on oak has come, too, and says why it was ended:"
  tail -n 3 "$scratch/told"
  on elm el runs --atom "$green"

  chapter "All of it lands"
  on elm el land --all
  on elm git log --oneline
  on elm cat table.txt
}

checks() {
  for id in "$green" "$black" "$herbs" "$table"; do
    check "$id is closed" is_closed "$id"
  done
  check "oak's agent was gone before its lease was over" in_order "$gone" "$until"
  check "elm took the work over after that" in_order "$until" "$again"
  check "$green had two runs: one was lost, one closed it" \
    test "$(quietly_on elm el runs -q --atom "$green" | wc -l)" -eq 2
  check "the table has all three kinds" test "$(wc -l <"$scratch/elm/table.txt")" -eq 3
  check "no agent is left on oak" is_idle oak
  check "no agent is left on elm" is_idle elm
}
