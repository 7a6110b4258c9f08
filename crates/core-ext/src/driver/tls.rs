//! A TLS session whose bytes a driver moves: rustls without I/O of its own.
//!
//! The driver owns the socket and passes it in. Two rules keep both sides of a session simple:
//!
//! * A read hands over *all* plaintext that it makes available. A loop reports bytes in the socket, and not plaintext
//!   inside rustls, so nothing readable may stay behind.
//! * A write encrypts more only when the socket has taken everything before it. So the buffered ciphertext is
//!   bounded, and records are as large as they can be.
//!
//! rustls allocates one buffer per record and direction, and gives it back with that record.

use std::io::{self, BufRead, IoSlice, Read, Write};

use rustls::ClientConnection;

/// The plaintext that is encrypted at a time: what waits for the socket is no larger than this, plus the records' frames.
const ENCRYPT_AT_ONCE: usize = 64 * 1024;

/// The state of one connection between its socket and the lane.
#[derive(Debug)]
pub(crate) struct TlsSession {
    rustls: ClientConnection,
    /// It may hold bytes that came while the connection was opened.
    fresh: bool,
    /// How many bytes were encrypted last, and whether the socket has taken any of their ciphertext.
    encrypted: usize,
    left: bool,
    /// How it ended. An error that came with answers is told after them, without waiting for the socket.
    ended: Option<io::ErrorKind>,
}

impl TlsSession {
    /// Takes over a connection after its handshake. What it holds already comes with the first read.
    pub(crate) fn new(mut rustls: ClientConnection) -> Self {
        rustls.set_buffer_limit(Some(ENCRYPT_AT_ONCE));
        Self { rustls, fresh: true, encrypted: 0, left: false, ended: None }
    }

    /// Reads from the socket once, into `buffer`, and gives the plaintext to `take`, in pieces. Says how many bytes the
    /// socket gave; 0 where it was not asked, as there was plaintext from before.
    ///
    /// No plaintext is an ordinary outcome: a part of a record came, or a message of the TLS protocol. It may have to
    /// be answered ([`wants_write`](Self::wants_write)).
    ///
    /// # Errors
    /// `UnexpectedEof` when the server has ended the session or the connection, `InvalidData` for bytes that are no
    /// records of this session, and errors of the socket (`WouldBlock`, too) and of `take`. What came before an error is
    /// handed over first.
    pub(crate) fn read<S: Read + Write>(
        &mut self,
        socket: &mut S,
        buffer: &mut [u8],
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<usize> {
        if self.take_held(socket, &mut take)? {
            return Ok(0);
        }
        self.check_open()?;
        let n = socket.read(buffer)?;
        if n == 0 {
            return Err(self.end(io::ErrorKind::UnexpectedEof).into());
        }
        let mut ciphertext = &buffer[..n];
        while !ciphertext.is_empty() {
            // rustls takes a few KiB at a time.
            if self.rustls.read_tls(&mut ciphertext)? == 0 {
                return Err(self.end(io::ErrorKind::UnexpectedEof).into());
            }
            self.process(socket, &mut take)?;
        }
        Ok(n)
    }

    fn check_open(&self) -> io::Result<()> {
        self.ended.map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn end(&mut self, kind: io::ErrorKind) -> io::ErrorKind {
        self.ended = Some(kind);
        kind
    }

    /// Gives the plaintext that came while the connection was opened to `take`, once. Says whether there was any. Reads
    /// begin with it; it is for drivers that wait for the socket before they read.
    pub(crate) fn take_held<S: Write>(
        &mut self,
        socket: &mut S,
        take: &mut impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<bool> {
        if std::mem::take(&mut self.fresh) { self.process(socket, take) } else { Ok(false) }
    }

    /// Decrypts the records that are there whole, and hands over all plaintext. Says whether there was any.
    fn process<S: Write>(
        &mut self,
        socket: &mut S,
        take: &mut impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<bool> {
        let processed = self.rustls.process_new_packets();
        let mut any = false;
        loop {
            let mut reader = self.rustls.reader();
            let taken = match reader.fill_buf() {
                // The server has closed the session.
                Ok([]) => return Err(self.end(io::ErrorKind::UnexpectedEof).into()),
                Ok(plaintext) => {
                    take(plaintext)?;
                    plaintext.len()
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            };
            reader.consume(taken);
            any = true;
        }
        let Err(error) = processed else { return Ok(any) };
        crate::logging::warn!("a TLS connection is given up: {error}");
        // The alert tells the server why. The session has failed already: failing to say so changes nothing.
        let _ = self.rustls.write_tls(socket);
        self.end(io::ErrorKind::InvalidData);
        Err(io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Encrypts `bytes` from `encrypted` on and writes them, as far as the socket takes them. Moves `encrypted` on, also
    /// before an error: what it covers may have reached the server, although its ciphertext may still wait here
    /// ([`wants_write`](Self::wants_write)).
    ///
    /// # Errors
    /// Errors of the socket, but not `WouldBlock`; how the session has ended.
    pub(crate) fn write<S: Write>(&mut self, socket: &mut S, bytes: &[u8], encrypted: &mut usize) -> io::Result<()> {
        self.check_open()?;
        while self.flush(socket)? && *encrypted < bytes.len() {
            (self.encrypted, self.left) = (0, false);
            match self.rustls.writer().write(&bytes[*encrypted..])? {
                // The keys are used up, and TLS 1.2 has no others.
                0 => return Err(io::ErrorKind::WriteZero.into()),
                n => {
                    *encrypted += n;
                    self.encrypted = n;
                }
            }
        }
        Ok(())
    }

    /// Of the bytes that [`write`](Self::write) has counted as encrypted, the last so many have not been sent: the socket
    /// has taken none of their ciphertext.
    pub(crate) fn unsent(&self) -> usize {
        if self.left { 0 } else { self.encrypted }
    }

    /// Whether ciphertext waits for the socket.
    pub(crate) fn wants_write(&self) -> bool {
        self.rustls.wants_write()
    }

    /// Writes the ciphertext that waits. False: the socket did not take all of it.
    fn flush<S: Write>(&mut self, socket: &mut S) -> io::Result<bool> {
        while self.rustls.wants_write() {
            match self.rustls.write_tls(&mut OneRecord(&mut *socket)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => self.left = true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

/// Most writes are of one record: then the plain call costs the kernel less than the one for several buffers.
struct OneRecord<'a, S>(&'a mut S);

impl<S: Write> Write for OneRecord<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn write_vectored(&mut self, records: &[IoSlice<'_>]) -> io::Result<usize> {
        match records {
            [record] => self.0.write(record),
            records => self.0.write_vectored(records),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
