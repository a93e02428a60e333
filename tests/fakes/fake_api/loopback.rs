//! Listening on 127.0.0.1, also in a network namespace that was made a moment ago, where `lo` is
//! still down.
//!
//! Brings up the loopback interface by a netlink message, since a clean machine may lack `ip`.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Listens on loopback, and brings the interface up if needed.
pub(crate) fn listen(port: u16) -> Result<TcpListener, String> {
    let first = reachable(port);
    if first.is_ok() {
        return first;
    }
    up().map_err(|e| format!("loopback is down and cannot be brought up: {e}"))?;
    reachable(port)
}

/// A listener that a connection reaches: while `lo` is down the bind may succeed and only the
/// connection fails.
fn reachable(port: u16) -> Result<TcpListener, String> {
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener =
        TcpListener::bind(wanted).map_err(|e| format!("cannot listen on {wanted}: {e}"))?;
    let at = listener.local_addr().map_err(|e| format!("no local address: {e}"))?;
    TcpStream::connect_timeout(&at, Duration::from_secs(2))
        .map_err(|e| format!("cannot reach {at}: {e}"))?;
    Ok(listener)
}

#[cfg(target_os = "linux")]
fn up() -> std::io::Result<()> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

    const RTM_NEWLINK: u16 = 16;
    const NLM_F_REQUEST_ACK: u16 = 1 | 4;
    const NLMSG_ERROR: u16 = 2;
    const IFF_UP: u32 = 1;
    /// The index of `lo`: the first interface of every namespace.
    const LO: i32 = 1;

    // struct nlmsghdr, then struct ifinfomsg, in the machine's byte order.
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST_ACK.to_ne_bytes());
    message.extend([0; 8]); // sequence, sender
    message.extend([0; 4]); // family, padding, device type
    message.extend(LO.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes()); // flags
    message.extend(IFF_UP.to_ne_bytes()); // which flags change

    // No protocol means NETLINK_ROUTE.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    rustix::io::write(&socket, &message)?;
    let mut answer = [0_u8; 256];
    let n = rustix::io::read(&socket, &mut answer)?;
    let code = match answer.get(4..6).zip(answer.get(16..20)) {
        Some((kind, code)) if n >= 20 && kind == NLMSG_ERROR.to_ne_bytes() => {
            i32::from_ne_bytes(code.try_into().expect("the slice has four bytes"))
        }
        _ => return Err(std::io::Error::other("an unexpected netlink answer")),
    };
    if code == 0 {
        return Ok(());
    }
    Err(std::io::Error::from_raw_os_error(-code))
}

#[cfg(not(target_os = "linux"))]
fn up() -> std::io::Result<()> {
    Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
}
