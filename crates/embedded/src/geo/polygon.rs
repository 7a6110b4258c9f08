//! Polygons on the sphere, made of rings: a point is inside if it is inside of an odd number of them.

use s2::cell::Cell;
use s2::edge_crossings::{Crossing, EdgeCrosser};
use s2::point::{Point, ordered_ccw};
use s2::predicates::{Direction, robust_sign};
use s2::rect::Rect;
use s2::rect_bounder::RectBounder;

/// One closed ring; its inside is the smaller of the two parts of the sphere.
#[derive(Debug)]
struct Ring {
    corners: Vec<Point>,
    /// Whether the point that all tests begin at is inside.
    origin_inside: bool,
}

/// A polygon.
#[derive(Debug)]
pub(crate) struct Polygon {
    rings: Vec<Ring>,
    bound: Rect,
}

impl Polygon {
    /// A polygon of rings of three corners or more, each without the closing one.
    pub(super) fn new(rings: Vec<Vec<Point>>) -> Self {
        let rings: Vec<Ring> = rings.into_iter().map(Ring::new).collect();
        let bound = rings.iter().fold(Rect::empty(), |bound, ring| bound.union(&ring.bound()));
        Self { rings, bound }
    }

    /// Latitudes and longitudes that the polygon is between.
    pub(super) fn bound(&self) -> &Rect {
        &self.bound
    }

    pub(super) fn contains_point(&self, point: &Point) -> bool {
        self.rings.iter().filter(|ring| ring.contains_point(point)).count() % 2 == 1
    }

    /// Whether all of the cell is inside.
    pub(super) fn contains_cell(&self, cell: &Cell) -> bool {
        self.contains_point(&cell.center()) && !self.boundary_touches(cell)
    }

    /// Whether something of the cell is inside.
    pub(super) fn intersects_cell(&self, cell: &Cell) -> bool {
        self.contains_point(&cell.center()) || self.boundary_touches(cell)
    }

    /// Whether an edge goes through the cell, or lies in it.
    fn boundary_touches(&self, cell: &Cell) -> bool {
        let corners: [Point; 4] = std::array::from_fn(|k| cell.vertex(k));
        self.rings.iter().any(|ring| {
            ring.edges().any(|(a, b)| {
                if cell.contains_point(a) {
                    return true;
                }
                let mut crosser = EdgeCrosser::new_with_c(a, b, &corners[3]);
                corners.iter().any(|corner| crosser.chain_crossing_sign(corner) != Crossing::DoNotCross)
            })
        })
    }
}

impl Ring {
    fn new(mut corners: Vec<Point>) -> Self {
        if turning(&corners) < 0.0 {
            corners.reverse();
        }
        let mut ring = Self { corners, origin_inside: false };
        // The corner itself is inside if a direction away from it lies within the angle at it; if the count of crossings
        // says otherwise, the assumption about the origin was wrong.
        let corner = ring.corners[1];
        let inside = ordered_ccw(&corner.ortho(), &ring.corners[0], &ring.corners[2], &corner);
        ring.origin_inside = inside != ring.contains_point(&corner);
        ring
    }

    fn edges(&self) -> impl Iterator<Item = (&Point, &Point)> {
        let next = self.corners.iter().cycle().skip(1);
        self.corners.iter().zip(next)
    }

    fn contains_point(&self, point: &Point) -> bool {
        let origin = Point::origin();
        let Some(last) = self.corners.last() else { return false };
        let mut crosser = EdgeCrosser::new_with_c(&origin, point, last);
        let crossings = self.corners.iter().filter(|corner| crosser.chain_edge_or_vertex_crossing(corner)).count();
        self.origin_inside != (crossings % 2 == 1)
    }

    fn bound(&self) -> Rect {
        let mut bounder = RectBounder::new();
        for corner in self.corners.iter().chain(self.corners.first()) {
            bounder.add_point(corner);
        }
        let mut bound = bounder.get_bound();
        // A ring around a pole reaches up to it, and has all longitudes.
        if self.contains_point(&Point::from_coords(0.0, 0.0, 1.0)) {
            bound.lat.hi = std::f64::consts::FRAC_PI_2;
            bound.lng = s2::s1::interval::FULL;
        }
        if self.contains_point(&Point::from_coords(0.0, 0.0, -1.0)) {
            bound.lat.lo = -std::f64::consts::FRAC_PI_2;
            bound.lng = s2::s1::interval::FULL;
        }
        bound
    }
}

/// Sum of the turns at all corners; positive if the ring goes around the smaller part of the sphere counter-clockwise.
fn turning(corners: &[Point]) -> f64 {
    let n = corners.len();
    (0..n).map(|i| turn(&corners[(i + n - 1) % n], &corners[i], &corners[(i + 1) % n])).sum()
}

/// The turn at `b` on the way from `a` to `c`, in radians; left is positive.
fn turn(a: &Point, b: &Point, c: &Point) -> f64 {
    let (before, after) = (a.0.cross(&b.0), b.0.cross(&c.0));
    let angle = before.cross(&after).norm().atan2(before.dot(&after));
    if robust_sign(a, b, c) == Direction::CounterClockwise { angle } else { -angle }
}
