//! The embedded cluster as a program.

fn main() {
    eprintln!("aerolane-embedded: the command line is not there yet");
    std::process::exit(2);
}
