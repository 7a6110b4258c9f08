//! Regions on the sphere.

use std::f64::consts::PI;

/// The radius that the server reckons with by default, in meters.
const EARTH_RADIUS: f64 = 6_371_000.0;

/// A point on the unit sphere.
type Point = [f64; 3];

/// What a point can be in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Region {
    Circle(Circle),
    /// Each with its outer ring and its holes.
    Polygons(Vec<Vec<Loop>>),
}

impl Region {
    /// Whether a point, given in degrees, is in the region.
    pub(crate) fn contains(&self, lng: f64, lat: f64) -> bool {
        let point = on_sphere(lng, lat);
        match self {
            Self::Circle(circle) => angle(circle.center, point) <= circle.radius,
            // In the outer ring and in no hole, or on an island in a hole.
            Self::Polygons(polygons) => {
                polygons.iter().any(|rings| rings.iter().filter(|ring| ring.contains(point)).count() % 2 == 1)
            }
        }
    }
}

/// All points that are so near to a center.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Circle {
    center: Point,
    /// Radians.
    radius: f64,
}

impl Circle {
    pub(super) fn new(lng: f64, lat: f64, meters: f64) -> Self {
        Self { center: on_sphere(lng, lat), radius: meters / EARTH_RADIUS }
    }
}

/// A ring whose sides are parts of great circles. It contains the smaller side, whichever way round it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loop {
    /// Counterclockwise around the inside, the last one not repeated.
    corners: Vec<Point>,
}

impl Loop {
    pub(super) fn new(corners: &[(f64, f64)]) -> Self {
        let mut corners: Vec<Point> = corners.iter().map(|(lng, lat)| on_sphere(*lng, *lat)).collect();
        if signed_area(&corners) < 0.0 {
            corners.reverse();
        }
        Self { corners }
    }

    /// The ring winds once around each point inside, as seen from there.
    fn contains(&self, point: Point) -> bool {
        let turned: f64 = sides(&self.corners).map(|(a, b)| turn(point, a, b)).sum();
        turned > PI
    }
}

fn sides(corners: &[Point]) -> impl Iterator<Item = (Point, Point)> {
    corners.iter().copied().zip(corners.iter().copied().cycle().skip(1))
}

/// The area on the left of a ring, up to a half sphere; negative if more than that is on the left.
fn signed_area(corners: &[Point]) -> f64 {
    let Some((&first, rest)) = corners.split_first() else { return 0.0 };
    rest.windows(2)
        .map(|pair| {
            let [a, b] = [pair[0], pair[1]];
            let volume = dot(first, cross(a, b));
            2.0 * volume.atan2(1.0 + dot(first, a) + dot(a, b) + dot(b, first))
        })
        .sum()
}

/// By how much the direction from a point turns along a side, in radians, counterclockwise.
fn turn(point: Point, a: Point, b: Point) -> f64 {
    let (to_a, to_b) = (cross(point, a), cross(point, b));
    dot(point, cross(to_a, to_b)).atan2(dot(to_a, to_b))
}

fn on_sphere(lng: f64, lat: f64) -> Point {
    let (lng, lat) = (lng.to_radians(), lat.to_radians());
    [lat.cos() * lng.cos(), lat.cos() * lng.sin(), lat.sin()]
}

fn angle(a: Point, b: Point) -> f64 {
    let normal = cross(a, b);
    dot(normal, normal).sqrt().atan2(dot(a, b))
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [(f64, f64); 4] = [(-10.0, -10.0), (10.0, -10.0), (10.0, 10.0), (-10.0, 10.0)];

    #[test]
    fn rings_contain_their_smaller_side_whichever_way_round() {
        let mut reversed = SQUARE;
        reversed.reverse();
        for corners in [SQUARE, reversed] {
            let region = Region::Polygons(vec![vec![Loop::new(&corners)]]);
            for (lng, lat, inside) in
                [(0.0, 0.0, true), (9.9, 9.8, true), (11.0, 0.0, false), (0.0, 60.0, false), (180.0, 0.0, false)]
            {
                assert_eq!(region.contains(lng, lat), inside, "{lng}, {lat}");
            }
        }
    }

    #[test]
    fn rings_across_the_date_line_and_around_a_pole() {
        let date_line = [(170.0, -10.0), (-170.0, -10.0), (-170.0, 10.0), (170.0, 10.0)];
        let region = Region::Polygons(vec![vec![Loop::new(&date_line)]]);
        assert!(region.contains(180.0, 0.0) && region.contains(-175.0, 5.0) && !region.contains(0.0, 0.0));
        let pole = [(0.0, 70.0), (90.0, 70.0), (180.0, 70.0), (-90.0, 70.0)];
        let region = Region::Polygons(vec![vec![Loop::new(&pole)]]);
        assert!(region.contains(45.0, 89.0) && !region.contains(45.0, 60.0) && !region.contains(0.0, -89.0));
    }

    #[test]
    fn holes_are_outside() {
        let hole = [(-5.0, -5.0), (5.0, -5.0), (5.0, 5.0), (-5.0, 5.0)];
        let region = Region::Polygons(vec![vec![Loop::new(&SQUARE), Loop::new(&hole)]]);
        assert!(region.contains(7.0, 7.0) && !region.contains(0.0, 0.0));
    }

    #[test]
    fn circles_have_a_radius_in_meters() {
        let region = Region::Circle(Circle::new(-122.0, 37.5, 1000.0));
        assert!(region.contains(-122.0, 37.508) && !region.contains(-122.0, 37.51));
    }
}
