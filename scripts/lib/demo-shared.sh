# Sourced by scripts/demo: what the scenes with the scripted agent share. `el`, `target`, `bin`,
# `scratch`, `project` are the caller's.

# Puts the scripted agent in the place of Claude Code.
scripted_claude() {
  ln -s "$target/debug/fake-agent" "$bin/claude"
  # The scripted agent keeps its conversations where Claude Code does; here that is not the real
  # home.
  mkdir "$scratch/home"
  export HOME="$scratch/home"
  unset XDG_CONFIG_HOME CLAUDE_CONFIG_DIR
  # The agent works in a sandbox with a /tmp of its own; this folder is open to both sides.
  mkdir "$scratch/shared"
  export EL_SANDBOX_WRITE="$scratch/shared"
}

# Files an atom and prints its id: `file VARIABLE el create …`.
file() {
  variable=$1
  shift
  show "$@"
  id=$("$@")
  say "$id"
  eval "$variable=\$id"
}

# Is this atom among those of that status?
is() {
  "$el" list -q --status "$2" 2>/dev/null | grep -qx "$1"
}

# Waits up to ten seconds until no session and no process of this project is left.
nothing_runs() {
  tries=0
  while [ "$tries" -lt 100 ]; do
    tries=$((tries + 1))
    socket=$(own_socket)
    if [ -z "$socket" ] || ! tmux -L "$socket" list-sessions >/dev/null 2>&1; then
      # Where there is /proc, nothing carries this project's mark any more.
      [ -d /proc/self ] || return 0
      left=$(grep -lazs "^EL_SESSION=$project/" /proc/[0-9]*/environ || :)
      [ -n "$left" ] || return 0
    fi
    sleep 0.1
  done
  return 1
}
