//! The messages between the `el` of a session and the `el` that answers.
//!
//! A message is a byte for the kind, the length, and the parts. File descriptors travel with the
//! first byte.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// The longest message: above the system's default limit for a command line and its environment.
const LENGTH_MAX: usize = 4 << 20;
/// Most messages are shorter than this: they are read at once.
const LENGTH_SOON: usize = 8 << 10;
const FILES_MAX: usize = 3;
const HEAD: usize = 5;

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// From the caller, with stdin, stdout and stderr: a whole command.
    Call = b'C',
    /// To the caller: open this file to be read.
    Read = b'R',
    /// To the caller: make a file that takes this one's place later.
    Write = b'W',
    /// To the caller: the new file is complete.
    Keep = b'K',
    /// From the caller: done, with the file if one was asked for.
    Done = b'D',
    /// From the caller: not done, and why.
    Failed = b'F',
    /// To the caller: the command has ended, with this code.
    Exit = b'X',
}

const KINDS: [Kind; 7] =
    [Kind::Call, Kind::Read, Kind::Write, Kind::Keep, Kind::Done, Kind::Failed, Kind::Exit];

/// A message as it was received.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) parts: Vec<OsString>,
    pub(super) files: Vec<OwnedFd>,
}

/// Sends a message. No part may have a NUL, which arguments, variables and paths never have.
pub(super) fn send(
    to: &UnixStream,
    kind: Kind,
    parts: &[&OsStr],
    files: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut bytes = vec![kind as u8; HEAD];
    for part in parts {
        bytes.extend_from_slice(part.as_bytes());
        bytes.push(0);
    }
    let length = bytes.len() - HEAD;
    if length > LENGTH_MAX {
        return Err(io::Error::new(io::ErrorKind::ArgumentListTooLong, "the command is too long"));
    }
    let length = u32::try_from(length).expect("it is less than LENGTH_MAX");
    bytes[1..HEAD].copy_from_slice(&length.to_le_bytes());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(files));
    }
    let sent = rustix::io::retry_on_intr(|| {
        sendmsg(to, &[IoSlice::new(&bytes)], &mut ancillary, SendFlags::empty())
    })?;
    (&*to).write_all(&bytes[sent..])
}

/// Receives the next message; `None` at the end.
pub(super) fn receive(from: &UnixStream) -> io::Result<Option<Message>> {
    let (mut head, mut filled, mut files) = ([0; HEAD], 0, Vec::new());
    while filled < HEAD {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = rustix::io::retry_on_intr(|| {
            recvmsg(
                from,
                &mut [IoSliceMut::new(&mut head[filled..])],
                &mut ancillary,
                receive_flags(),
            )
        })?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                files.extend(received);
            }
        }
        if received.bytes == 0 {
            return if filled == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        filled += received.bytes;
    }
    // Linux has set it already.
    for file in files.iter().filter(|_| !cfg!(target_os = "linux")) {
        rustix::io::fcntl_setfd(file, rustix::io::FdFlags::CLOEXEC)?;
    }
    let rubbish = |what: &'static str| io::Error::new(io::ErrorKind::InvalidData, what);
    let kind = KINDS.into_iter().find(|kind| *kind as u8 == head[0]);
    let kind = kind.ok_or_else(|| rubbish("this is no message of el"))?;
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
    if length > LENGTH_MAX {
        return Err(rubbish("the message is too long"));
    }
    // A length is not trusted before that many bytes have come.
    let mut bytes = Vec::with_capacity(length.min(LENGTH_SOON));
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut parts: Vec<OsString> =
        bytes.split(|byte| *byte == 0).map(|part| OsString::from_vec(part.to_owned())).collect();
    // After the last NUL.
    parts.pop();
    Ok(Some(Message { kind, parts, files }))
}

#[cfg(target_os = "linux")]
fn receive_flags() -> RecvFlags {
    RecvFlags::CMSG_CLOEXEC
}

#[cfg(not(target_os = "linux"))]
fn receive_flags() -> RecvFlags {
    RecvFlags::empty()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn parts_and_files_come_as_they_were_sent() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let long = "x".repeat(LENGTH_MAX - 10);
        let parts: Vec<OsString> = vec!["".into(), OsString::from_vec(vec![0xff]), long.into()];
        let file = File::open("/dev/null").unwrap();
        let sent = parts.clone();
        let sender = std::thread::spawn(move || {
            let parts: Vec<&OsStr> = sent.iter().map(OsString::as_os_str).collect();
            let fd = file.as_fd();
            send(&ours, Kind::Call, &parts, &[fd, fd, fd]).unwrap();
            send(&ours, Kind::Done, &[], &[]).unwrap();
        });
        let call = receive(&theirs).unwrap().unwrap();
        assert_eq!((call.kind, call.files.len()), (Kind::Call, 3));
        assert!(call.parts == parts);
        let done = receive(&theirs).unwrap().unwrap();
        assert_eq!((done.kind, done.parts.len(), done.files.len()), (Kind::Done, 0, 0));
        sender.join().unwrap();
        assert!(receive(&theirs).unwrap().is_none());
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [&b"X"[..], b"GET / HTTP", b"C\xff\xff\xff\xff", b"C\x05\0\0\0ab"] {
            let (ours, theirs) = UnixStream::pair().unwrap();
            (&ours).write_all(bytes).unwrap();
            drop(ours);
            assert!(receive(&theirs).is_err(), "{bytes:?}");
        }
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let long = "x".repeat(LENGTH_MAX + 1);
        assert!(send(&ours, Kind::Call, &[OsStr::new(&long)], &[]).is_err());
    }
}
