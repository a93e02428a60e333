//! As much HTTP/1.1 as the client speaks: keep-alive, bodies with a length or in chunks, streamed
//! answers.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// More than any request of the client; a bound, so that a broken length cannot take the memory of
/// the machine.
const MAX_BODY: usize = 256 << 20;

pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Lower-case names, in order of arrival.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
    }
}

/// A connection of a client.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::new(stream.try_clone()?), writer: stream })
    }

    /// The next request; `None` when the client has closed the connection.
    pub(crate) fn request(&mut self) -> io::Result<Option<Request>> {
        let Some(first) = self.line()? else { return Ok(None) };
        let mut words = first.split_whitespace();
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(invalid("the request line has no path"));
        };
        let (method, path) = (method.to_owned(), path.to_owned());
        let mut headers = Vec::new();
        loop {
            let line = self.line()?.ok_or_else(|| invalid("the headers end early"))?;
            if line.is_empty() {
                break;
            }
            let (name, value) =
                line.split_once(':').ok_or_else(|| invalid("a header without a colon"))?;
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Request { method, path, headers, body: Vec::new() };
        if request.header("expect").is_some_and(|v| v.eq_ignore_ascii_case("100-continue")) {
            self.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        request.body = self.body(&request)?;
        Ok(Some(request))
    }

    fn body(&mut self, request: &Request) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if request
            .header("transfer-encoding")
            .is_some_and(|v| v.to_ascii_lowercase().contains("chunked"))
        {
            loop {
                let size = self.line()?.ok_or_else(|| invalid("the chunks end early"))?;
                let size = size.split(';').next().unwrap_or_default().trim();
                let size = usize::from_str_radix(size, 16)
                    .map_err(|_| invalid("a chunk without a size"))?;
                if size == 0 {
                    // Trailers, up to the empty line.
                    while self.line()?.is_some_and(|l| !l.is_empty()) {}
                    return Ok(body);
                }
                self.take(&mut body, size)?;
                self.line()?;
            }
        }
        if let Some(length) = request.header("content-length") {
            let size =
                length.parse().map_err(|_| invalid("a content-length that is not a number"))?;
            self.take(&mut body, size)?;
        }
        Ok(body)
    }

    fn take(&mut self, body: &mut Vec<u8>, size: usize) -> io::Result<()> {
        if body.len() + size > MAX_BODY {
            return Err(invalid("the body is too large"));
        }
        let start = body.len();
        body.resize(start + size, 0);
        self.reader.read_exact(&mut body[start..])
    }

    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        if self.reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        while line.last().is_some_and(|b| matches!(b, b'\r' | b'\n')) {
            line.pop();
        }
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }

    /// A whole answer. `head_only` leaves the body out, as HEAD asks.
    pub(crate) fn answer(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
        head_only: bool,
    ) -> io::Result<()> {
        let mut raw = head(status, headers, &format!("content-length: {}", body.len()));
        if !head_only {
            raw.extend_from_slice(body);
        }
        self.writer.write_all(&raw)
    }

    /// Begins a streamed answer.
    pub(crate) fn start_stream(&mut self, headers: &[(String, String)]) -> io::Result<()> {
        self.writer.write_all(&head(200, headers, "transfer-encoding: chunked"))
    }

    /// A piece of a streamed answer. An empty piece ends the answer.
    pub(crate) fn chunk(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut raw = format!("{:x}\r\n", piece.len()).into_bytes();
        raw.extend_from_slice(piece);
        raw.extend_from_slice(b"\r\n");
        self.writer.write_all(&raw)
    }

    /// Blocks until the client has closed its side.
    pub(crate) fn wait_closed(&mut self) {
        let mut buffer = [0; 1024];
        while self.reader.read(&mut buffer).is_ok_and(|n| n > 0) {}
    }
}

fn head(status: u16, headers: &[(String, String)], framing: &str) -> Vec<u8> {
    // Clients read the number and ignore the reason phrase.
    let mut head = format!("HTTP/1.1 {status} Scripted\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(framing);
    head.push_str("\r\n\r\n");
    head.into_bytes()
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
