//! A simulated server node. It works on one request of a connection at a time, in order: a service thread takes the
//! connection, a core does the processor work, then the service time passes. Everybody waits in FIFO order.

use std::collections::VecDeque;

use super::params::{ServerParams, Service};
use super::queue::{Event, Queue};

/// Takes the place of a connection's number for processor work of the client.
pub(super) const CLIENT_JOB: usize = 0xffff;

/// A request on its way through a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) token: u32,
    pub(super) write: bool,
    /// Random bits that decide the service time.
    pub(super) bits: u64,
}

/// The server's end of a connection.
#[derive(Debug, Default)]
pub(super) struct Port {
    /// Requests that were sent, whether they have arrived or not; the first of them may be in work.
    pub(super) jobs: VecDeque<Job>,
    /// How many of them have arrived.
    pub(super) arrived: usize,
    /// A thread works for this connection, or it waits for one.
    active: bool,
    /// The thread takes the next request without the connection having been idle.
    warm: bool,
    /// The service time of the request in work is over.
    serviced: bool,
    /// Processor work that waits for the end of a pause.
    held: u64,
}

#[derive(Debug)]
pub(super) struct Server {
    pub(super) params: ServerParams,
    free_threads: usize,
    free_cores: usize,
    free_slots: usize,
    /// Connections that wait for a thread.
    for_thread: VecDeque<usize>,
    /// Work that waits for a core, with its processor time.
    for_core: VecDeque<(usize, u64)>,
    /// Connections that wait for a slot.
    for_slot: VecDeque<usize>,
    /// The next thread that starts with a request first stands still for this long.
    pub(super) pause: u64,
    /// Processor time spent for requests.
    pub(super) cpu: u64,
}

impl Server {
    pub(super) fn new(params: ServerParams) -> Self {
        Self {
            free_threads: params.threads,
            free_cores: params.cores,
            free_slots: params.slots,
            params,
            for_thread: VecDeque::new(),
            for_core: VecDeque::new(),
            for_slot: VecDeque::new(),
            pause: 0,
            cpu: 0,
        }
    }

    /// Requests have arrived on a connection.
    pub(super) fn arrived(&mut self, number: usize, ports: &mut [Port], queue: &mut Queue) {
        let port = &mut ports[number];
        if !port.active && port.arrived > 0 {
            (port.active, port.warm) = (true, false);
            self.for_thread.push_back(number);
            self.start_threads(ports, queue);
        }
    }

    fn start_threads(&mut self, ports: &mut [Port], queue: &mut Queue) {
        while self.free_threads > 0
            && let Some(number) = self.for_thread.pop_front()
        {
            self.free_threads -= 1;
            let port = &mut ports[number];
            port.serviced = false;
            let cost = self.params.cpu_before + if port.warm { 0 } else { self.params.cpu_wake };
            if self.pause > 0 {
                port.held = cost;
                queue.push(std::mem::take(&mut self.pause), Event::Resumed, number);
            } else {
                self.use_core(number, cost, queue);
            }
        }
    }

    /// A paused thread goes on.
    pub(super) fn resumed(&mut self, number: usize, ports: &[Port], queue: &mut Queue) {
        self.use_core(number, ports[number].held, queue);
    }

    /// Does processor work as soon as a core is free; [`Event::Core`] is its end.
    pub(super) fn use_core(&mut self, number: usize, cost: u64, queue: &mut Queue) {
        if self.free_cores > 0 {
            self.free_cores -= 1;
            self.run(number, cost, queue);
        } else {
            self.for_core.push_back((number, cost));
        }
    }

    fn run(&mut self, number: usize, cost: u64, queue: &mut Queue) {
        self.cpu += if number == CLIENT_JOB { 0 } else { cost };
        queue.push(cost, Event::Core, number);
    }

    /// A core has finished its work; the next that waits takes it.
    pub(super) fn free_core(&mut self, queue: &mut Queue) {
        match self.for_core.pop_front() {
            Some((number, cost)) => self.run(number, cost, queue),
            None => self.free_cores += 1,
        }
    }

    /// Processor work for a connection is done. Returns the request if it is answered with that.
    pub(super) fn worked(&mut self, number: usize, ports: &mut [Port], queue: &mut Queue) -> Option<Job> {
        self.free_core(queue);
        if !ports[number].serviced {
            if self.service_time(&ports[number]) > 0 {
                if self.free_slots > 0 {
                    self.free_slots -= 1;
                    self.serve(number, ports, queue);
                } else {
                    self.for_slot.push_back(number);
                }
                return None;
            }
            if self.params.cpu_after > 0 {
                ports[number].serviced = true;
                self.use_core(number, self.params.cpu_after, queue);
                return None;
            }
        }
        self.finish(number, ports, queue)
    }

    fn service(&self, write: bool) -> Service {
        if write { self.params.write } else { self.params.read }
    }

    fn service_time(&self, port: &Port) -> u64 {
        port.jobs.front().map_or(0, |job| self.service(job.write).time(job.bits))
    }

    fn serve(&mut self, number: usize, ports: &[Port], queue: &mut Queue) {
        queue.push(self.service_time(&ports[number]), Event::Service, number);
    }

    /// The service time of a request is over. Returns the request if it is answered with that.
    pub(super) fn serviced(&mut self, number: usize, ports: &mut [Port], queue: &mut Queue) -> Option<Job> {
        match self.for_slot.pop_front() {
            Some(next) => self.serve(next, ports, queue),
            None => self.free_slots += 1,
        }
        if self.params.cpu_after > 0 {
            ports[number].serviced = true;
            self.use_core(number, self.params.cpu_after, queue);
            return None;
        }
        self.finish(number, ports, queue)
    }

    fn finish(&mut self, number: usize, ports: &mut [Port], queue: &mut Queue) -> Option<Job> {
        let port = &mut ports[number];
        port.arrived -= 1;
        let job = port.jobs.pop_front();
        (port.active, port.warm) = (port.arrived > 0, true);
        if port.active {
            self.for_thread.push_back(number);
        }
        self.free_threads += 1;
        self.start_threads(ports, queue);
        job
    }
}
