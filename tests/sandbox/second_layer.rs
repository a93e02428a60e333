//! The second layer of the sandbox: Landlock, where the kernel has it.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;

use super::places::EVERYWHERE;
use crate::support::TestEnv;

/// Returns true if the kernel's Landlock has at least this version. Fails if `EL_REQUIRE_LANDLOCK`
/// is set and the kernel has less.
fn has_landlock(version: i32) -> bool {
    let ask = "print syscall(444, 0, 0, 1)";
    let said = Command::new("perl").args(["-e", ask]).output().map(|ran| ran.stdout);
    let found = String::from_utf8_lossy(&said.unwrap_or_default()).trim().parse().unwrap_or(-1);
    if found < version {
        let is_wanted = std::env::var_os("EL_REQUIRE_LANDLOCK").is_some();
        assert!(!is_wanted, "this kernel's Landlock is {found}, and the tests need {version}");
        eprintln!("skipped: this kernel's Landlock is {found}, and {version} is needed");
    }
    found >= version
}

/// The buses and X11 listen on such sockets, which no mount hides.
#[test]
fn an_abstract_socket_outside_is_out_of_reach_and_one_of_its_own_works() {
    if !has_landlock(6) {
        return;
    }
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        let name = format!("el-test-{}", env.path("").display());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let _listener = UnixListener::bind_addr(&address).unwrap();
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(&format!(
            "cat > ask.pl <<'PERL'
use Socket;
my $address = pack_sockaddr_un(\"\\0\" . $ARGV[0]);
socket(my $own, PF_UNIX, SOCK_STREAM, 0);
if ($ARGV[1]) {{ bind($own, $address) or die; listen($own, 1) or die; }}
socket(my $socket, PF_UNIX, SOCK_STREAM, 0);
print connect($socket, $address) ? \"reached $ARGV[0]\\n\" : \"kept from $ARGV[0]: $!\\n\";
PERL
             perl ask.pl '{name}'; perl ask.pl el-own-socket 1; rm ask.pl"
        ));
        assert!(said.contains(&format!("kept from {name}: Operation not permitted")), "{said}");
        assert!(said.contains("reached el-own-socket"), "{said}");
        let doctor = env.el(&["doctor"]).stdout;
        assert!(doctor.contains("bubblewrap and Landlock"), "{doctor}");
    }
}

#[test]
fn nothing_can_be_mounted_and_files_move_between_folders() {
    if !has_landlock(2) {
        return;
    }
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(
            "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /mnt && echo mounted'
             mkdir a b; echo x > a/x; mv a/x b/x && echo moved; ln b/x a/hard && echo linked
             echo again > /dev/stdout; echo once more > /dev/stderr
             echo none > /dev/null && echo ok
             echo tmp > /tmp/x && mkdir ~/own && echo home > ~/own/x && cat ~/own/x
             rm -r a b",
        );
        assert!(!said.contains("mounted"), "{said}");
        for word in ["moved", "linked", "again", "once more", "ok", "home"] {
            assert!(said.lines().any(|line| line == word), "{word}: {said}");
        }
    }
}

/// A check writes into a file outside, which it opens again by its name.
#[test]
fn a_check_can_open_its_output_again() {
    let Some(env) = TestEnv::with_sandbox(
        "verify = \"sh -c 'echo one > /dev/stdout; echo two | tee /dev/stderr; test -w .'\"\n",
    ) else {
        return;
    };
    env.attack("echo worked");
}
