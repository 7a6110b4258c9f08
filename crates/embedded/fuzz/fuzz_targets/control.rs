//! Lines to whoever controls a cluster: each has an answer in one line of JSON, with a result or an error.
#![no_main]

use aerolane_embedded::control::Controller;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut controller = Controller::new();
    controller.answer(r#"{"do":"start","nodes":1,"threads":1}"#);
    for line in text.lines().take(16) {
        let answer = controller.answer(line);
        assert!(answer.contains("\"ok\":") || answer.contains("\"error\":"), "{answer}");
        assert!(!answer.contains('\n'), "{answer}");
    }
});
