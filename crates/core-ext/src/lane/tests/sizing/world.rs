//! A simulated run: callers and the loop of one client thread drive a real [`Lane`] against simulated servers, in
//! simulated time.
//!
//! An iteration of the client's loop reads all readable connections, lets the callers submit whose answers came (or the
//! requests that arrived), and flushes all connections with output. Each of these steps takes processor time, during
//! which the servers go on.

use std::collections::VecDeque;
use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::params::{Change, Load, MS, Params, exponential};
use super::queue::{Event, Queue};
use super::server::{CLIENT_JOB, Job, Port, Server};
use super::wire;
use crate::lane::{Class, ConnId, Failure, FailureKind, Lane, LaneSizing, Millis, Sink};
use crate::metrics::{AnswerCounter, Metrics};

/// How long a run takes, in simulated time and in answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// The measurement starts after so many nanoseconds and so many answers.
    pub(super) warm_time: u64,
    pub(super) warm_answers: usize,
    /// It ends after so many further answers, at the latest at `end`.
    pub(super) answers: usize,
    pub(super) end: u64,
    /// Length of the windows in which connections in use are counted.
    pub(super) window: u64,
}

/// An answered request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) at: u64,
    pub(super) node: u16,
    pub(super) latency: u64,
    pub(super) write: bool,
}

/// The state at a point in time where a part of the run starts or ends: the start, the end of the warm-up, each change,
/// the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checkpoint {
    pub(super) at: u64,
    /// How many requests had been answered.
    pub(super) answers: usize,
    /// Processor time spent so far.
    pub(super) client_cpu: u64,
    pub(super) server_cpu: u64,
}

/// What a run has shown.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) done: Vec<Done>,
    /// The state at the start, at each change, and at the end.
    pub(super) checkpoints: Vec<Checkpoint>,
    /// The state at the end of the warm-up.
    pub(super) warm: Option<Checkpoint>,
    /// Connections in use in each window, and the state at its end.
    pub(super) windows: Vec<(usize, Checkpoint)>,
    /// Age of the oldest request that is not answered at the end.
    pub(super) oldest: u64,
    /// Connections opened.
    pub(super) opened: usize,
    /// It was ended because requests arrived faster than they were answered.
    pub(super) overloaded: bool,
}

#[derive(Debug, Clone, Copy)]
struct Request {
    begun: u64,
    node: u16,
    bits: u64,
    write: bool,
    live: bool,
}

/// The client's end of a connection.
#[derive(Debug)]
struct Link {
    conn: ConnId,
    node: usize,
    /// Answers that were sent; the first `here` of them have arrived.
    answers: VecDeque<u32>,
    here: usize,
    readable: bool,
    /// How many requests each flush on its way to the server holds.
    flushes: VecDeque<usize>,
    /// When the latest flush, and the latest answer, arrive: later ones are not earlier.
    flush_arrives: u64,
    answer_arrives: u64,
}

/// Hears outcomes.
#[derive(Debug, Default)]
struct Answers {
    tokens: Vec<u32>,
}

impl Sink<u32> for Answers {
    fn answer(&mut self, token: u32, body: &[u8]) {
        assert_eq!(wire::token(body), token, "the answer of another");
        self.tokens.push(token);
    }

    fn part(&mut self, _: &mut u32, _: &[u8], _: bool) {
        unreachable!("no batches here");
    }

    fn failed(&mut self, token: u32, failure: &Failure) {
        panic!("request {token} failed: {failure:?}");
    }
}

/// A step of the client's loop that takes processor time.
#[derive(Debug, Clone, Copy)]
enum Step {
    Wake,
    Read { link: usize, answers: usize },
    Submit { requests: usize },
    Write { link: usize },
}

fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
}

fn between(rng: &mut Xoshiro256PlusPlus, (from, to): (u64, u64)) -> u64 {
    from + rng.next_u64() % (to - from + 1)
}

pub(super) struct World {
    params: Params,
    extent: Extent,
    lane: Lane<u32>,
    queue: Queue,
    servers: Vec<Server>,
    ports: Vec<Port>,
    links: Vec<Link>,
    /// The link of each slot, by node.
    by_slot: Vec<[Vec<usize>; Class::ALL.len()]>,
    requests: Vec<Request>,
    free: Vec<u32>,
    /// Requests, pauses, and all else are drawn separately: runs that differ in the number of connections only have the
    /// same requests and the same pauses.
    request_rng: Xoshiro256PlusPlus,
    pause_rng: Xoshiro256PlusPlus,
    rng: Xoshiro256PlusPlus,
    /// Callers at work and callers wanted (closed loop).
    callers: usize,
    target: usize,
    /// Requests to submit, each with the moment when its latency starts if that has come (open loop).
    due: VecDeque<Option<u64>>,
    running: bool,
    step: Step,
    /// When the step is done; `u64::MAX`: none runs, or a core of the server does it.
    step_ends: u64,
    /// The thread does nothing before this moment.
    paused_until: u64,
    readable: VecDeque<usize>,
    reading: VecDeque<usize>,
    to_write: VecDeque<ConnId>,
    submitted: bool,
    /// Nodes to which a connection has been opened that the loop has not seen.
    opened: Vec<(usize, Class)>,
    /// Processor time for opening that the next step takes with it.
    open_cost: u64,
    client_cpu: u64,
    buffer: Vec<u8>,
    bytes: Vec<u8>,
    frames: wire::Frames,
    answers: Answers,
    /// When which node answers another lane of the client, and where those are counted.
    other: VecDeque<(u64, u16)>,
    of_other: Vec<AnswerCounter>,
    run: Run,
}

impl World {
    /// A run with a lane of this sizing. With `warm` all connections of the minimum are open at the start.
    pub(super) fn new(params: &Params, sizing: LaneSizing, warm: bool, extent: Extent) -> Self {
        let nodes = params.servers.len();
        let mut world = Self {
            extent,
            lane: Lane::new(sizing),
            queue: Queue::default(),
            servers: params.servers.iter().cloned().map(Server::new).collect(),
            ports: Vec::new(),
            links: Vec::new(),
            by_slot: vec![Default::default(); nodes],
            requests: Vec::new(),
            free: Vec::new(),
            request_rng: Xoshiro256PlusPlus::seed_from_u64(params.seed),
            pause_rng: Xoshiro256PlusPlus::seed_from_u64(params.seed ^ 0xab5e),
            rng: Xoshiro256PlusPlus::seed_from_u64(params.seed ^ 0x5eed),
            callers: 0,
            target: 0,
            due: VecDeque::new(),
            running: false,
            step: Step::Wake,
            step_ends: u64::MAX,
            paused_until: 0,
            readable: VecDeque::new(),
            reading: VecDeque::new(),
            to_write: VecDeque::new(),
            submitted: true,
            opened: Vec::new(),
            open_cost: 0,
            client_cpu: 0,
            buffer: Vec::new(),
            bytes: Vec::new(),
            frames: wire::Frames::new(),
            answers: Answers::default(),
            other: VecDeque::new(),
            of_other: Vec::new(),
            run: Run::default(),
            params: params.clone(),
        };
        world.lane.set_time(0);
        if warm {
            for node in 0..nodes {
                for _ in 0..sizing.min {
                    world.lane.warm(node as u16);
                    while world.lane.open_request().is_some() {
                        world.open_link(node, Class::Single);
                    }
                }
            }
        }
        world
    }

    /// Beside another lane of the same client, which has these answers meanwhile. The servers have processors for both.
    pub(super) fn beside(mut self, other: &[Done]) -> Self {
        let metrics = Arc::new(Metrics::new());
        let (kind, shard) = (Class::Single.index(), metrics.answers.shard());
        self.of_other = (0..self.servers.len()).map(|node| metrics.answers.counter(node, kind, shard)).collect();
        self.other = other.iter().map(|done| (done.at, done.node)).collect();
        self.lane = self.lane.measured(Some(&metrics));
        self
    }

    /// Runs to the end.
    pub(super) fn run(mut self) -> Run {
        self.start();
        loop {
            if self.step_ends <= self.queue.next_time() {
                self.queue.now = self.step_ends;
                self.step_ends = u64::MAX;
                self.step_done();
            } else {
                let Some((event, number)) = self.queue.pop() else { break };
                self.handle(event, number);
            }
            let (answers, now) = (self.run.done.len(), self.queue.now);
            let warm_answers = match self.run.warm {
                Some(warm) => warm.answers,
                None if answers >= self.extent.warm_answers && now >= self.extent.warm_time => {
                    self.run.warm = Some(self.checkpoint());
                    answers
                }
                None => answers,
            };
            if self.requests.len() - self.free.len() > OVERLOAD {
                self.run.overloaded = true;
                self.run.warm = self.run.warm.or(Some(self.run.checkpoints[0]));
                break;
            }
            if now >= self.extent.end || answers - warm_answers >= self.extent.answers {
                break;
            }
        }
        let checkpoint = self.checkpoint();
        self.run.checkpoints.push(checkpoint);
        let waiting =
            self.requests.iter().filter(|r| r.live).map(|r| r.begun).chain(self.due.iter().flatten().copied());
        self.run.oldest = self.queue.now - waiting.min().unwrap_or(self.queue.now);
        self.run
    }

    fn start(&mut self) {
        let checkpoint = self.checkpoint();
        self.run.checkpoints.push(checkpoint);
        for index in 0..self.params.changes.len() {
            self.queue.push(self.params.changes[index].0, Event::Change, index);
        }
        match self.params.load {
            Load::Closed(callers) => self.set_callers(callers),
            Load::Open(_) => self.queue.push(0, Event::Arrival, 0),
        }
        if self.params.client.pauses > 0 {
            self.pause_later(self.params.client.pauses, Event::ClientPause, 0);
        }
        for node in 0..self.servers.len() {
            if self.params.servers[node].pauses > 0 {
                self.pause_later(self.params.servers[node].pauses, Event::ServerPause, node);
            }
        }
        self.queue.push(self.extent.window, Event::Window, 0);
        self.queue.push(1000 * MS, Event::Trim, 0);
        self.wake();
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            at: self.queue.now,
            answers: self.run.done.len(),
            client_cpu: self.client_cpu,
            server_cpu: self.servers.iter().map(|s| s.cpu).sum(),
        }
    }

    fn handle(&mut self, event: Event, number: usize) {
        let (ports, queue) = (&mut self.ports[..], &mut self.queue);
        match event {
            Event::ToServer => {
                ports[number].arrived += self.links[number].flushes.pop_front().unwrap();
                self.servers[self.links[number].node].arrived(number, ports, queue);
            }
            Event::Resumed => self.servers[self.links[number].node].resumed(number, ports, queue),
            Event::Core if number == CLIENT_JOB => {
                self.servers[0].free_core(queue);
                self.step_done();
            }
            Event::Core => {
                let job = self.servers[self.links[number].node].worked(number, ports, queue);
                self.answered(number, job);
            }
            Event::Service => {
                let job = self.servers[self.links[number].node].serviced(number, ports, queue);
                self.answered(number, job);
            }
            Event::Answer => self.arrived(number),
            Event::Arrival => {
                let Load::Open(rate) = self.params.load else { unreachable!() };
                self.due.push_back(Some(self.queue.now));
                let gap = exponential((1e9 / rate) as u64, unit(&mut self.request_rng));
                self.queue.push(gap, Event::Arrival, 0);
                self.wake();
            }
            Event::Opened => {
                self.opened.push((number & 0xfff, Class::ALL[number >> 12]));
                self.wake();
            }
            Event::ClientPause => {
                self.paused_until = self.queue.now + between(&mut self.pause_rng, (MS, 5 * MS));
                self.pause_later(self.params.client.pauses, event, 0);
            }
            Event::ServerPause => {
                self.servers[number].pause = between(&mut self.pause_rng, (MS, 5 * MS));
                self.pause_later(self.params.servers[number].pauses, event, number);
            }
            Event::Change => self.change(number),
            Event::Window => {
                let width = self.width();
                let checkpoint = self.checkpoint();
                self.run.windows.push((width, checkpoint));
                self.queue.push(self.extent.window, event, 0);
            }
            Event::Trim => {
                self.lane.trim(self.millis());
                self.queue.push(1000 * MS, event, 0);
                self.wake();
            }
        }
    }

    fn pause_later(&mut self, per_second: u64, event: Event, number: usize) {
        let gap = exponential(1000 * MS / per_second, unit(&mut self.pause_rng));
        self.queue.push(gap, event, number);
    }

    fn change(&mut self, index: usize) {
        let checkpoint = self.checkpoint();
        self.run.checkpoints.push(checkpoint);
        match self.params.changes[index].1 {
            Change::Service(node, read, write) => {
                (self.servers[node].params.read, self.servers[node].params.write) = (read, write);
            }
            Change::Callers(callers) => self.set_callers(callers),
            Change::Pause(time) => self.paused_until = self.paused_until.max(self.queue.now + time),
        }
    }

    fn set_callers(&mut self, callers: usize) {
        self.target = callers;
        while self.callers < callers {
            self.callers += 1;
            self.due.push_back(None);
        }
        self.wake();
    }

    /// The number of connections in use, over all nodes.
    fn width(&self) -> usize {
        (0..self.servers.len() as u16).map(|node| self.lane.counters(node).in_use as usize).sum()
    }

    fn latency(&mut self) -> u64 {
        let Params { rtt, jitter, .. } = self.params;
        rtt / 2 + if jitter > 0 { exponential(jitter, unit(&mut self.rng)) } else { 0 }
    }

    /// The server has answered a request, if one.
    fn answered(&mut self, number: usize, job: Option<Job>) {
        let Some(job) = job else { return };
        self.links[number].answers.push_back(job.token);
        let at = self.queue.now + self.latency();
        let at = at.max(self.links[number].answer_arrives);
        if at == self.queue.now {
            self.arrived(number);
        } else {
            self.links[number].answer_arrives = at;
            self.queue.push(at - self.queue.now, Event::Answer, number);
        }
    }

    fn arrived(&mut self, number: usize) {
        let link = &mut self.links[number];
        link.here += 1;
        if !link.readable {
            link.readable = true;
            self.readable.push_back(number);
            self.wake();
        }
    }
}

/// The client's loop.
impl World {
    fn millis(&self) -> Millis {
        Millis(self.queue.now / MS)
    }

    /// There is something to do: starts an iteration unless one runs.
    fn wake(&mut self) {
        if !self.running {
            self.running = true;
            self.step = Step::Wake;
            if self.paused_until > self.queue.now {
                self.step_ends = self.paused_until;
            } else {
                self.next_step();
            }
        }
    }

    fn begin(&mut self, step: Step, cost: u64) {
        let cost = cost + std::mem::take(&mut self.open_cost);
        self.client_cpu += cost;
        self.step = step;
        if self.params.shared_cores {
            self.servers[0].use_core(CLIENT_JOB, cost, &mut self.queue);
        } else {
            self.step_ends = self.queue.now + cost;
        }
    }

    fn step_done(&mut self) {
        if self.paused_until > self.queue.now {
            self.step_ends = self.paused_until;
            return;
        }
        match self.step {
            Step::Wake => {}
            Step::Read { link, answers } => self.read(link, answers),
            Step::Submit { requests } => self.submit(requests),
            Step::Write { link } => self.write(link),
        }
        self.next_step();
    }

    fn next_step(&mut self) {
        loop {
            if let Some(number) = self.reading.pop_front() {
                let (link, costs) = (&mut self.links[number], &self.params.client);
                link.readable = false;
                let (answers, cost) = (link.here, costs.read + costs.answer * link.here as u64);
                return self.begin(Step::Read { link: number, answers }, cost);
            }
            if !std::mem::replace(&mut self.submitted, true) && !self.due.is_empty() {
                let requests = self.due.len();
                return self.begin(Step::Submit { requests }, self.params.client.request * requests as u64);
            }
            while let Some(conn) = self.lane.flush_request() {
                self.to_write.push_back(conn);
            }
            if let Some(conn) = self.to_write.pop_front() {
                let number = self.by_slot[usize::from(conn.node)][conn.class.index()][usize::from(conn.slot)];
                if self.links[number].conn == conn && self.take_output(number) {
                    return self.begin(Step::Write { link: number }, self.params.client.write);
                }
                continue;
            }
            self.care();
            if self.readable.is_empty() && self.due.is_empty() && !self.lane_has_output() {
                self.running = false;
                return;
            }
            std::mem::swap(&mut self.readable, &mut self.reading);
            self.submitted = false;
        }
    }

    fn lane_has_output(&mut self) -> bool {
        self.to_write.extend(self.lane.flush_request());
        !self.to_write.is_empty()
    }

    /// Opens and closes connections, and lets the lane's timer run.
    fn care(&mut self) {
        while let Some((node, class)) = self.opened.pop() {
            self.open_link(node, class);
        }
        while let Some((node, class)) = self.lane.open_request() {
            self.open_cost += self.params.client.open;
            let after = self.params.rtt + between(&mut self.rng, self.params.client.open_latency);
            self.queue.push(after, Event::Opened, class.index() << 12 | usize::from(node));
        }
        while let Some(conn) = self.lane.close_request() {
            let now = self.millis();
            self.lane.closed(conn, &FailureKind::Closed, now, &mut self.answers);
        }
        if self.lane.next_deadline().is_some_and(|due| due <= self.millis()) {
            self.lane.expire(self.millis(), &mut self.answers);
        }
    }

    fn open_link(&mut self, node: usize, class: Class) {
        let conn = self.lane.opened(node as u16, class, self.millis());
        let slots = &mut self.by_slot[node][class.index()];
        if slots.len() <= usize::from(conn.slot) {
            slots.resize(usize::from(conn.slot) + 1, usize::MAX);
        }
        slots[usize::from(conn.slot)] = self.links.len();
        self.links.push(Link {
            conn,
            node,
            answers: VecDeque::new(),
            here: 0,
            readable: false,
            flushes: VecDeque::new(),
            flush_arrives: 0,
            answer_arrives: 0,
        });
        self.ports.push(Port::default());
        self.run.opened += 1;
    }

    fn read(&mut self, number: usize, count: usize) {
        let now = self.queue.now;
        let link = &mut self.links[number];
        self.bytes.clear();
        for token in link.answers.drain(..count) {
            self.frames.answer(&mut self.bytes, token);
        }
        link.here -= count;
        if link.here > 0 && !link.readable {
            link.readable = true;
            self.readable.push_back(number);
        }
        while let Some(&(at, node)) = self.other.front()
            && at <= now
        {
            self.of_other[usize::from(node)].add(1);
            self.other.pop_front();
        }
        self.lane.set_time(now - self.params.client.answer * count as u64);
        let (conn, millis) = (link.conn, Millis(now / MS));
        self.lane.received(conn, &self.bytes, millis, &mut self.answers).unwrap();
        assert_eq!(self.answers.tokens.len(), count);
        for token in self.answers.tokens.drain(..) {
            let request = &mut self.requests[token as usize];
            request.live = false;
            let Request { begun, write, node, .. } = *request;
            self.run.done.push(Done { at: now, node, latency: now - begun, write });
            self.free.push(token);
            if self.target >= self.callers {
                self.due.extend((self.target > 0).then_some(None));
            } else {
                self.callers -= 1;
            }
        }
    }

    fn submit(&mut self, count: usize) {
        let nodes = self.servers.len() as u64;
        let mut at = self.queue.now - self.params.client.request * (count as u64 - 1);
        for begun in self.due.drain(..count) {
            let bits = self.request_rng.next_u64();
            let choice = self.request_rng.next_u64();
            let write = (choice >> 32) % 100 < self.params.write_percent;
            let node = ((choice & 0xffff_ffff) % nodes) as u16;
            let request = Request { begun: begun.unwrap_or(at), node, bits, write, live: true };
            let token = if let Some(token) = self.free.pop() {
                self.requests[token as usize] = request;
                token
            } else {
                self.requests.push(request);
                self.requests.len() as u32 - 1
            };
            self.lane.set_time(at);
            let now = Millis(at / MS);
            let frame = self.frames.request(token, write);
            self.lane.submit(node, Class::Single, frame, now.plus(PATIENCE_MS), now, token).unwrap();
            at += self.params.client.request;
        }
    }

    /// Takes what the lane has for a connection; it leaves at the end of the step.
    fn take_output(&mut self, number: usize) -> bool {
        let link = &mut self.links[number];
        self.buffer.clear();
        if !self.lane.take_output(link.conn, &mut self.buffer) {
            return false;
        }
        let (jobs, mut count) = (&mut self.ports[number].jobs, 0);
        wire::each_request(&self.buffer, |token, write| {
            let request = &self.requests[token as usize];
            assert_eq!(request.write, write);
            jobs.push_back(Job { token, write, bits: request.bits });
            count += 1;
        });
        link.flushes.push_back(count);
        true
    }

    fn write(&mut self, number: usize) {
        let at = (self.queue.now + self.latency()).max(self.links[number].flush_arrives);
        self.links[number].flush_arrives = at;
        if at == self.queue.now {
            self.handle(Event::ToServer, number);
        } else {
            self.queue.push(at - self.queue.now, Event::ToServer, number);
        }
    }
}

/// A run ends when so many requests wait.
const OVERLOAD: usize = 50_000;

/// Deadline of all requests: nobody waits longer, or the run fails.
const PATIENCE_MS: u64 = 30_000;
