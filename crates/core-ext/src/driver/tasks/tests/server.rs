//! A server that does what each request says, one after the other, as the real one does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use aerolane_wire::message::info3;

use super::*;

/// A request, and how it is to be answered.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ask {
    pub(super) id: u32,
    /// Milliseconds before the answer; [`HELD`]: until the server is told to go on.
    pub(super) delay: u16,
    /// Bytes behind the answer's id.
    pub(super) answer: u32,
    /// Bytes behind the request.
    pub(super) padding: usize,
    /// The answer comes a byte at a time, each in a packet of its own.
    pub(super) dribble: bool,
    /// The answer comes before the rest of the request is read.
    pub(super) early: bool,
    /// A batch: its answer says that it is the last, and has the id in its header.
    pub(super) batch: bool,
    pub(super) timeout: Option<Duration>,
}

const FIXED: usize = 12;
/// See [`Ask::delay`].
pub(super) const HELD: u16 = u16::MAX;

impl Ask {
    pub(super) fn id(id: u32) -> Self {
        Self { id, timeout: Some(SOON * 3), ..Self::default() }
    }

    pub(super) fn len(self) -> usize {
        8 + FIXED + self.padding
    }

    pub(super) fn encode(self, out: &mut Vec<u8>) {
        let len = ((FIXED + self.padding) as u64).to_be_bytes();
        out.extend_from_slice(&[2, 3]);
        out.extend_from_slice(&len[2..]);
        out.extend_from_slice(&self.id.to_be_bytes());
        out.extend_from_slice(&self.delay.to_be_bytes());
        out.extend_from_slice(&self.answer.to_be_bytes());
        out.extend_from_slice(&[u8::from(self.dribble), u8::from(self.early) | u8::from(self.batch) << 1]);
        out.resize(out.len() + self.padding, 7);
    }
}

pub(super) struct Server {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
    released: Arc<AtomicBool>,
}

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::<AtomicUsize>::default();
        let released = Arc::<AtomicBool>::default();
        let (count, shared) = (Arc::clone(&accepted), Arc::clone(&released));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                count.fetch_add(1, Ordering::SeqCst);
                let released = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &released));
            }
        });
        Self { address, accepted, lost: Arc::default(), released }
    }

    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    pub(super) fn lost(&self) -> usize {
        self.lost.load(Ordering::SeqCst)
    }

    /// Answers what is held, from now on.
    pub(super) fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
    }

    pub(super) fn lane(&self, sizing: LaneSizing, runtime: &tokio::runtime::Runtime) -> Arc<SharedLane> {
        let opener = Connect { address: self.address, lost: Arc::clone(&self.lost) };
        SharedLane::new(sizing, runtime.handle().clone(), Arc::new(opener))
    }
}

struct Connect {
    address: SocketAddr,
    lost: Arc<AtomicUsize>,
}

impl Opener for Connect {
    fn open(&self, _node: u16, _class: Class) -> Pin<Box<dyn Future<Output = Result<Stream, Error>> + Send + '_>> {
        Box::pin(async {
            let stream = tokio::net::TcpStream::connect(self.address).await;
            stream.map(Stream::Plain).map_err(|e| Error::connection_io("connect", e))
        })
    }

    fn lost(&self) {
        self.lost.fetch_add(1, Ordering::SeqCst);
    }
}

fn serve(mut stream: TcpStream, released: &AtomicBool) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    loop {
        let mut head = [0; 8 + FIXED];
        stream.read_exact(&mut head).ok()?;
        let (header, fixed) = head.split_first_chunk::<8>()?;
        assert_eq!(header[..2], [2, 3], "the stream of requests is broken");
        let len = u64::from_be_bytes(*header) as u32 as usize;
        let mut rest = vec![0; len - FIXED];
        let (dribble, early, batch) = (fixed[10] == 1, fixed[11] & 1 != 0, fixed[11] & 2 != 0);
        if !early {
            stream.read_exact(&mut rest).ok()?;
        }
        match u16::from_be_bytes([fixed[4], fixed[5]]) {
            HELD => {
                while !released.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            delay => thread::sleep(Duration::from_millis(delay.into())),
        }
        let padding = u32::from_be_bytes(fixed[6..10].try_into().ok()?) as usize;
        let body = (22 + 4 + padding) as u64;
        let mut answer = ((0x0203_u64 << 48) | body).to_be_bytes().to_vec();
        answer.push(22);
        answer.extend([0; 21]);
        answer.extend_from_slice(&fixed[..4]);
        answer.resize(answer.len() + padding, 9);
        if batch {
            answer = ((0x0203_u64 << 48) | 0x16).to_be_bytes().to_vec();
            answer.extend([22, 0, 0, info3::LAST]);
            answer.extend([0; 10]);
            answer.extend_from_slice(&fixed[..4]);
            answer.extend([0; 4]);
        }
        for piece in answer.chunks(if dribble { 1 } else { answer.len() }) {
            stream.write_all(piece).ok()?;
        }
        if early {
            thread::sleep(Duration::from_millis(100));
            stream.read_exact(&mut rest).ok()?;
        }
        assert!(rest.iter().all(|&byte| byte == 7), "a request in the middle of another");
    }
}
