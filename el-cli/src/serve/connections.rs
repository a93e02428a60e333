//! Connections: how many there may be, and how long each may keep the server waiting.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Sleep, sleep};

/// A request's head has to come within this time.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// A browser has to take something of an answer within this time.
const WRITE_TIME: Duration = Duration::from_secs(10);
/// The longest head of a request, in bytes.
const HEAD_SIZE: usize = 16 << 10;
const HEADERS: usize = 64;
/// The pause after a failure to accept, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections for ever. One too many is closed at once.
pub(super) async fn accept_connections(
    listener: TcpListener,
    routes: Router,
    slots: Arc<Semaphore>,
) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else { continue };
        let routes = routes.clone();
        tokio::spawn(async move {
            let _slot = slot;
            let mut server = http1::Builder::new();
            server
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .max_buf_size(HEAD_SIZE)
                .max_headers(HEADERS);
            let io = TokioIo::new(Patient { stream, deadline: None });
            // An error of this connection ends nothing else.
            let _ = server.serve_connection(io, TowerToHyperService::new(routes)).await;
        });
    }
}

/// A connection that waits for its reader for a limited time.
#[derive(Debug)]
struct Patient {
    stream: TcpStream,
    /// Set while the reader takes nothing.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn limit_waiting<T>(
        &mut self,
        cx: &mut Context<'_>,
        done: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.deadline = None;
            return done;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(WRITE_TIME)));
        match deadline.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.limit_waiting(cx, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.limit_waiting(cx, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.limit_waiting(cx, done)
    }
}
