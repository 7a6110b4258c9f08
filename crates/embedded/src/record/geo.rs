//! GeoJSON values: checked, and stored with the S2 cell of a point.
//!
//! A GeoJSON particle is flags (1 byte), a number of cells (2 bytes), the cells (8 bytes each) and the text. Clients
//! send none of the cells; the server adds the leaf cell of a point, and a covering for a region (flags 1).
//! The covering is not computed here: regions are stored with no cells.

use crate::geo::Shape;
use aerolane_wire::particle::{Particle, particle_type};

const POINT_FLAGS: u8 = 0;
const REGION_FLAGS: u8 = 1;

/// The particle to be stored; `None` if it is no GeoJSON that the server takes.
pub(crate) fn stored(value: &[u8]) -> Option<Vec<u8>> {
    let Ok(Particle::GeoJson(text)) = Particle::decode(particle_type::GEOJSON, value) else {
        return None;
    };
    let cell = match Shape::parse(text)? {
        Shape::Point { lng, lat } => Some(leaf_cell(lng, lat)),
        Shape::Region(_) => None,
    };
    let mut out = Vec::with_capacity(11 + text.len());
    out.push(if cell.is_some() { POINT_FLAGS } else { REGION_FLAGS });
    out.extend_from_slice(&u16::from(cell.is_some()).to_be_bytes());
    out.extend(cell.iter().flat_map(|id| id.to_be_bytes()));
    out.extend_from_slice(text);
    Some(out)
}

/// Levels of S2 cells.
const LEVELS: u32 = 30;

/// Position on the curve of each quadrant (i bit, j bit), for each orientation.
const POSITION: [[u64; 4]; 4] = [[0, 1, 3, 2], [0, 3, 1, 2], [2, 3, 1, 0], [2, 1, 3, 0]];
/// How the orientation changes on the way into each position.
const TURN: [usize; 4] = [1, 0, 0, 3];

/// The S2 cell id of a point: the face of a cube around the sphere, then the place on the Hilbert curve of that face.
fn leaf_cell(lng: f64, lat: f64) -> u64 {
    let (face, u, v) = on_cube(lng.to_radians(), lat.to_radians());
    let (i, j) = (grid(u), grid(v));
    let mut orientation = (face & 1) as usize;
    let mut place = 0;
    for level in (0..LEVELS).rev() {
        let quadrant = ((i >> level & 1) << 1 | (j >> level & 1)) as usize;
        let position = POSITION[orientation][quadrant];
        orientation ^= TURN[position as usize];
        place = place << 2 | position;
    }
    face << 61 | place << 1 | 1
}

/// The face that a point (in radians) is projected on, and where: -1 to 1 in both directions.
fn on_cube(theta: f64, phi: f64) -> (u64, f64, f64) {
    let (x, y, z) = (phi.cos() * theta.cos(), phi.cos() * theta.sin(), phi.sin());
    if x.abs() >= y.abs() && x.abs() >= z.abs() {
        if x >= 0.0 { (0, y / x, z / x) } else { (3, z / x, y / x) }
    } else if y.abs() >= z.abs() {
        if y >= 0.0 { (1, -x / y, z / y) } else { (4, z / y, -x / y) }
    } else if z >= 0.0 {
        (2, -x / z, -y / z)
    } else {
        (5, -y / z, -x / z)
    }
}

/// The row or column of the grid on a face, from a coordinate between -1 and 1 (quadratic projection).
fn grid(u: f64) -> u64 {
    let s = if u >= 0.0 { 0.5 * (1.0 + 3.0 * u).sqrt() } else { 1.0 - 0.5 * (1.0 - 3.0 * u).sqrt() };
    let size = 1_u64 << LEVELS;
    ((s * size as f64) as u64).min(size - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored_text(text: &str) -> Option<Vec<u8>> {
        stored(&[&[0, 0, 0], text.as_bytes()].concat())
    }

    /// From the golden scenario `record/value-geo-point`.
    #[test]
    fn a_point_gets_its_cell() {
        let text = r#"{"type": "Point", "coordinates": [-122.0, 37.4]}"#;
        let expected = [&[0, 0, 1, 0x80, 0x8f, 0xb6, 0x2c, 0xf5, 0x22, 0x8e, 0xf5][..], text.as_bytes()].concat();
        assert_eq!(stored_text(text).unwrap(), expected);
    }

    #[test]
    fn what_is_no_geometry_is_refused() {
        for bad in [
            "not json",
            r#"{"type": "Nonsense", "x": 1}"#,
            r#"{"type": "Point", "coordinates": [-1220.0, 37.4]}"#,
            r#"{"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1]]]}"#,
            r#"{"type": "AeroCircle", "coordinates": [[0,0], -1]}"#,
            r#"{"type": "Feature", "geometry": {"type": "Feature"}}"#,
        ] {
            assert!(stored_text(bad).is_none(), "{bad}");
        }
        assert!(stored(&[]).is_none() && stored(&[0]).is_none());
        assert!(stored_text(r#"{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}}"#).is_some());
        assert!(stored_text(&"[".repeat(100_000)).is_none(), "deep nesting ends in an error");
    }
}
