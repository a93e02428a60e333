# Functions for scripts/demo, scripts/test and .ci/run, which source this file. POSIX sh. The caller
# sets `root` to the folder of the repository.

say() {
  printf '%s\n' "$*"
}

# A failure that the person can do something about.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

have() {
  command -v "$1" >/dev/null 2>&1
}

# Runs a command as root: as we are, or by sudo, which asks for a password only where somebody can
# type one.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif ! have sudo; then
    return 1
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "$@" >/dev/null
}

# Installs packages by the system's package manager. $1: the program they bring, for the message;
# the rest: their names.
install_packages() {
  wanted=$1
  shift
  if have apt-get; then
    say "== $wanted is missing; installing it: apt-get install $*"
    # The list of packages may be old, or not there at all in a fresh container.
    apt_install "$@" 2>/dev/null || { as_root apt-get update -q >/dev/null && apt_install "$@"; }
  elif have dnf; then
    say "== $wanted is missing; installing it: dnf install $*"
    as_root dnf install -y -q "$@" >/dev/null
  elif have brew; then
    say "== $wanted is missing; installing it: brew install $*"
    # Homebrew refuses to run as root, and needs not to.
    HOMEBREW_NO_AUTO_UPDATE=1 brew install -q "$@" </dev/null
  else
    return 1
  fi || die "$wanted could not be installed; install it by hand ($*), then run this again"
  hash -r
}

need_tmux() {
  have tmux ||
    install_packages tmux tmux ||
    die "tmux is missing, and so are apt-get, dnf and brew; install tmux 3.0 or newer"
  have tmux || die "tmux was installed, but is not on PATH"
}

need_rust() {
  # Where rustup puts it, should this shell not know yet.
  have cargo || PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
  have cargo ||
    die "Rust is missing; install it from https://rustup.rs (1.89 or newer), then run this again"
  have cc || have gcc || have clang ||
    die "a C compiler is missing (SQLite is built from source); Debian: apt-get install gcc" \
      "libc6-dev, Fedora: dnf install gcc, macOS: xcode-select --install"
}

# Where cargo puts what it builds for this repository.
target_dir() {
  (cd "$root" && cargo metadata --format-version 1 --no-deps --locked 2>/dev/null) |
    sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p'
}

# Nothing of an agent's session, of an outer tmux or of the user's settings of el reaches what is
# started from here.
leave_outer_sessions() {
  for name in $(env | sed -n 's/^\(EL_[A-Z0-9_]*\)=.*/\1/p'); do
    case $name in
      EL_REQUIRE_* | EL_TEST_*) ;;
      *) unset "$name" ;;
    esac
  done
  unset TMUX TMUX_PANE
}
