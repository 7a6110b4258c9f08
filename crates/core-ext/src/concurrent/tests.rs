use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use futures::FutureExt;
use futures::executor::block_on;

use super::*;

/// Gives its number after some turns; counts how many like it run.
async fn call(number: usize, turns: usize, running: Rc<Cell<(usize, usize)>>) -> usize {
    struct Leave(Rc<Cell<(usize, usize)>>);
    impl Drop for Leave {
        fn drop(&mut self) {
            let (now, most) = self.0.get();
            self.0.set((now - 1, most));
        }
    }
    let (now, most) = running.get();
    running.set((now + 1, most.max(now + 1)));
    let _leave = Leave(running);
    for _ in 0..turns {
        let mut before = true;
        std::future::poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::take(&mut before) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }
    number
}

#[test]
fn outputs_come_in_order_and_within_the_bound() {
    for concurrency in [1, 3, 100] {
        let running = Rc::new(Cell::new((0, 0)));
        let calls = (0..50).map(|n| call(n, 1 + (n * 7) % 11, Rc::clone(&running)));
        let outputs = block_on(concurrent(concurrency, calls).unwrap().collect_all());
        assert_eq!(outputs, (0..50).collect::<Vec<_>>());
        assert_eq!(running.get(), (0, concurrency.min(50)));
    }
    assert_eq!(block_on(concurrent(3, std::iter::empty::<std::future::Ready<()>>()).unwrap().collect_all()), []);
}

#[test]
fn inputs_are_taken_as_there_is_room_and_dropping_cancels() {
    let (taken, running) = (Rc::new(Cell::new(0)), Rc::new(Cell::new((0, 0))));
    let inputs = std::iter::from_fn({
        let (taken, running) = (Rc::clone(&taken), Rc::clone(&running));
        move || {
            taken.set(taken.get() + 1);
            Some(call(taken.get(), 1_000_000, Rc::clone(&running)))
        }
    });
    let mut stream = concurrent(4, inputs).unwrap();
    let waker = Waker::noop();
    for _ in 0..10 {
        assert!(stream.poll_next_unpin(&mut Context::from_waker(waker)).is_pending());
    }
    assert_eq!((taken.get(), running.get()), (4, (4, 4)));
    drop(stream);
    assert_eq!(running.get(), (0, 4));
}

#[test]
fn a_stream_of_calls_is_read_as_it_comes() {
    let (sender, calls) = futures::channel::mpsc::unbounded();
    let running = Rc::new(Cell::new((0, 0)));
    // Not `Unpin`: an async block.
    let calls = async move { calls }.flatten_stream();
    let mut outputs = concurrent_stream(2, calls).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    assert!(outputs.poll_next_unpin(&mut context).is_pending(), "there is no call yet");
    for number in 0..5 {
        sender.unbounded_send(call(number, 1, Rc::clone(&running))).unwrap();
    }
    assert_eq!(block_on(outputs.next()), Some(0));
    drop(sender);
    assert_eq!(block_on(outputs.collect_all()), [1, 2, 3, 4]);
    assert_eq!(running.get(), (0, 2));
}

#[test]
fn the_first_error_in_order_ends_it() {
    let begun = RefCell::new(Vec::new());
    let calls = (0..100).map(|n| {
        begun.borrow_mut().push(n);
        async move { if n == 5 || n == 6 { Err(n) } else { Ok(n) } }
    });
    assert_eq!(block_on(concurrent(2, calls).unwrap().try_collect_all()), Err(5));
    assert!(begun.borrow().len() <= 8, "{:?}", begun.borrow());
}

#[test]
fn a_call_that_another_thread_wakes_goes_on() {
    let calls = (0..40).map(|n| async move {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(40 - n));
            let _ = sender.send(n);
        });
        receiver.await
    });
    let outputs = block_on(concurrent(16, calls).unwrap().try_collect_all()).unwrap();
    assert_eq!(outputs, (0..40).collect::<Vec<_>>());
}

#[test]
fn a_concurrency_of_0_is_refused() {
    let error = concurrent(0, [std::future::ready(())]).unwrap_err();
    assert!(matches!(error.kind(), crate::ErrorKind::InvalidArgument), "{error:?}");
}
