//! Particles: what is read is written to the same bytes, but for short integers, cells and bytes behind nil.
#![no_main]

use aerolane_wire::msgpack;
use aerolane_wire::particle::{GeoJson, Particle};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [kind, value @ ..] = input else { return };
    if let Ok(particle) = msgpack::particle(input) {
        assert_eq!(particle.particle_type(), *kind);
    }
    let Ok(particle) = Particle::decode(*kind, value) else { return };
    assert_eq!(particle.particle_type(), *kind);
    let mut out = vec![];
    match particle {
        Particle::Nil => return,
        Particle::Integer(_) if value.len() < 8 => return,
        Particle::GeoJson(_) => GeoJson::decode(value).expect("read before").encode(&mut out),
        other => other.encode(&mut out),
    }
    assert_eq!(out, value);
});
