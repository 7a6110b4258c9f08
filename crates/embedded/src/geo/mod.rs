//! `GeoJSON` values: checked, covered by S2 cells, and compared.
//!
//! A `GeoJSON` particle is flags (1 byte), a number of cells (2 bytes), the cells (8 bytes each) and the text. Clients
//! send none of the cells; the server adds the leaf cell of a point (flags 0), and a covering of a region (flags 1).
//! The settings of the covering are the server's defaults, and its coverings are those of the golden groups `record` and
//! `query`.

mod polygon;

use aerolane_wire::particle::{Particle, particle_type};
use polygon::Polygon;
use s2::cap::Cap;
use s2::cell::Cell;
use s2::cellid::CellID;
use s2::latlng::LatLng;
use s2::point::Point;
use s2::rect::Rect;
use s2::region::{Region, RegionCoverer};
use s2::s1::angle::{Angle, Rad};
use serde_json::Value;

const POINT_FLAGS: u8 = 0;
const REGION_FLAGS: u8 = 1;
/// Mean radius of the earth in metres, as the server has it.
const EARTH_RADIUS: f64 = 6_371_000.0;
/// The server's defaults for coverings of what queries look for.
const COVERER: RegionCoverer = RegionCoverer { min_level: 1, max_level: 20, level_mod: 1, max_cells: 12 };
/// Those of values that are stored: down to leaf cells, whatever the namespace's settings are.
const STORED_COVERER: RegionCoverer = RegionCoverer { max_level: 30, ..COVERER };
/// Corners and polygons of one value: what is costly grows with them.
const MAX_CORNERS: usize = 20_000;

/// A `GeoJSON` value that the server takes.
#[derive(Debug)]
pub(crate) enum Shape {
    /// A point, as the leaf cell that it is in.
    Point(CellID),
    /// A polygon, several, or a circle.
    Region(Area),
}

/// A region on the sphere.
#[derive(Debug)]
pub(crate) enum Area {
    Circle(Cap),
    Polygons(Vec<Polygon>),
}

impl Shape {
    /// Takes a text apart; `None` if it is none that the server takes.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        geometry(&serde_json::from_slice(text).ok()?)
    }

    /// The cells that go with the value: the leaf cell of a point, the covering of a region.
    pub(crate) fn cells(&self) -> Vec<u64> {
        match self {
            Self::Point(cell) => vec![cell.0],
            Self::Region(area) => STORED_COVERER.covering(area).0.iter().map(|cell| cell.0).collect(),
        }
    }

    /// Whether one of the two is a point and the other a region that contains it.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Point(point), Self::Region(area)) | (Self::Region(area), Self::Point(point)) => {
                area.contains(&Point::from(point))
            }
            _ => false,
        }
    }
}

impl Area {
    /// Cells that cover the area for a query, by rising id.
    pub(crate) fn covering(&self) -> Vec<CellID> {
        COVERER.covering(self).0
    }

    fn contains(&self, point: &Point) -> bool {
        match self {
            Self::Circle(cap) => cap.contains_point(point),
            Self::Polygons(polygons) => polygons.iter().any(|polygon| polygon.contains_point(point)),
        }
    }
}

impl Region for Area {
    fn cap_bound(&self) -> Cap {
        match self {
            Self::Circle(cap) => cap.clone(),
            Self::Polygons(_) => self.rect_bound().cap_bound(),
        }
    }

    fn rect_bound(&self) -> Rect {
        match self {
            Self::Circle(cap) => cap.rect_bound(),
            Self::Polygons(polygons) => {
                polygons.iter().fold(Rect::empty(), |bound, polygon| bound.union(polygon.bound()))
            }
        }
    }

    fn contains_cell(&self, cell: &Cell) -> bool {
        match self {
            Self::Circle(cap) => cap.contains_cell(cell),
            Self::Polygons(polygons) => polygons.iter().any(|polygon| polygon.contains_cell(cell)),
        }
    }

    fn intersects_cell(&self, cell: &Cell) -> bool {
        match self {
            Self::Circle(cap) => cap.intersects_cell(cell),
            Self::Polygons(polygons) => polygons.iter().any(|polygon| polygon.intersects_cell(cell)),
        }
    }
}

/// The particle to be stored; `None` if it is no `GeoJSON` that the server takes.
pub(crate) fn stored(value: &[u8]) -> Option<Vec<u8>> {
    let Ok(Particle::GeoJson(text)) = Particle::decode(particle_type::GEOJSON, value) else {
        return None;
    };
    let geometry = Shape::parse(text)?;
    let cells = geometry.cells();
    let mut out = Vec::with_capacity(3 + cells.len() * 8 + text.len());
    out.push(if matches!(geometry, Shape::Point(_)) { POINT_FLAGS } else { REGION_FLAGS });
    out.extend_from_slice(&(cells.len() as u16).to_be_bytes());
    out.extend(cells.iter().flat_map(|cell| cell.to_be_bytes()));
    out.extend_from_slice(text);
    Some(out)
}

fn geometry(json: &Value) -> Option<Shape> {
    let kind = json.get("type")?.as_str()?;
    if kind == "Feature" {
        let inner = json.get("geometry")?;
        // A feature in a feature is none; this also bounds the recursion.
        return (inner.get("type")?.as_str()? != "Feature").then(|| geometry(inner))?;
    }
    let coordinates = json.get("coordinates")?;
    let mut corners = 0;
    match kind {
        "Point" => position(coordinates).map(|place| Shape::Point(CellID::from(place))),
        "Polygon" => Some(Shape::Region(Area::Polygons(vec![polygon(coordinates, &mut corners)?]))),
        "MultiPolygon" => {
            let polygons = coordinates.as_array()?;
            let polygons = polygons.iter().map(|json| polygon(json, &mut corners)).collect::<Option<Vec<_>>>()?;
            (!polygons.is_empty()).then_some(Shape::Region(Area::Polygons(polygons)))
        }
        "AeroCircle" => match coordinates.as_array()?.as_slice() {
            [center, radius] => {
                let center = Point::from(position(center)?);
                let radius = radius.as_f64().filter(|radius| *radius >= 0.0)?;
                let angle = Angle::from(Rad(radius / EARTH_RADIUS));
                Some(Shape::Region(Area::Circle(Cap::from_center_angle(&center, &angle))))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Longitude and latitude in degrees.
fn position(json: &Value) -> Option<LatLng> {
    let [lng, lat] = json.as_array()?.as_slice() else { return None };
    let (lng, lat) = (lng.as_f64()?, lat.as_f64()?);
    ((-180.0..=180.0).contains(&lng) && (-90.0..=90.0).contains(&lat)).then(|| LatLng::from_degrees(lat, lng))
}

/// Closed rings of at least three corners.
fn polygon(json: &Value, corners: &mut usize) -> Option<Polygon> {
    let rings = json.as_array()?;
    *corners += rings.iter().filter_map(Value::as_array).map(Vec::len).sum::<usize>();
    if *corners > MAX_CORNERS {
        return None;
    }
    let ring = |json: &Value| {
        let mut points = Vec::new();
        for corner in json.as_array()? {
            let point = Point::from(position(corner)?);
            // Corners that follow each other at one place count once.
            if points.last() != Some(&point) {
                points.push(point);
            }
        }
        if points.len() < 4 || points.first() != points.last() {
            return None;
        }
        points.pop();
        Some(points)
    };
    let rings = rings.iter().map(ring).collect::<Option<Vec<_>>>()?;
    (!rings.is_empty()).then(|| Polygon::new(rings))
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
            r#"{"type": "Polygon", "coordinates": [[[0,0],[0,0],[0,0],[0,0]]]}"#,
            r#"{"type": "AeroCircle", "coordinates": [[0,0], -1]}"#,
            r#"{"type": "Feature", "geometry": {"type": "Feature"}}"#,
        ] {
            assert!(stored_text(bad).is_none(), "{bad}");
        }
        assert!(stored(&[]).is_none() && stored(&[0]).is_none());
        assert!(stored_text(r#"{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}}"#).is_some());
        assert!(stored_text(&"[".repeat(100_000)).is_none(), "deep nesting ends in an error");
    }

    /// As the recorded server covers it (`tests/random.jsonl.gz`).
    #[test]
    fn small_regions_that_are_stored_are_covered_finely() {
        let circle = Shape::parse(br#"{"type":"AeroCircle","coordinates":[[10,10],5]}"#).unwrap();
        let cells = circle.cells();
        assert_eq!((cells.len(), cells[0], cells[11]), (12, 0x1055_1bf2_5145_0000, 0x1055_1bf2_56b4_0000));
        let Shape::Region(area) = circle else { panic!() };
        assert!(area.covering().iter().all(|cell| cell.level() <= 20));
    }

    fn matches(region: &str, lng: f64, lat: f64) -> bool {
        let point = format!(r#"{{"type": "Point", "coordinates": [{lng}, {lat}]}}"#);
        let (region, point) = (Shape::parse(region.as_bytes()).unwrap(), Shape::parse(point.as_bytes()).unwrap());
        assert_eq!(region.matches(&point), point.matches(&region));
        let Shape::Point(cell) = &point else { panic!() };
        let Shape::Region(area) = &region else { panic!() };
        let covered = area.covering().iter().any(|c| c.contains(cell));
        assert!(covered || !region.matches(&point), "what is inside is covered");
        region.matches(&point)
    }

    #[test]
    fn regions_contain_what_is_inside_whichever_way_they_are_drawn() {
        let square = r#"{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]]]}"#;
        let backwards = r#"{"type":"Polygon","coordinates":[[[0,0],[0,10],[10,10],[10,0],[0,0]]]}"#;
        for region in [square, backwards] {
            assert!(matches(region, 5.0, 5.0) && matches(region, 0.1, 9.9));
            assert!(!matches(region, 11.0, 5.0) && !matches(region, -0.1, 5.0) && !matches(region, -170.0, -5.0));
        }
        let hole = r#"{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]],
                       [[4,4],[6,4],[6,6],[4,6],[4,4]]]}"#;
        assert!(matches(hole, 2.0, 2.0) && !matches(hole, 5.0, 5.0) && !matches(hole, 20.0, 5.0));
        let several = r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,1],[0,0]]],
                          [[[179,0],[-179,0],[-179,1],[179,1],[179,0]]]]}"#;
        assert!(matches(several, 0.5, 0.5) && matches(several, 180.0, 0.5) && !matches(several, 90.0, 0.5));
        let circle = r#"{"type":"AeroCircle","coordinates":[[10, 50], 10000]}"#;
        assert!(matches(circle, 10.0, 50.05) && !matches(circle, 10.0, 50.1));
        let pole = r#"{"type":"Polygon","coordinates":[[[0,80],[90,80],[180,80],[-90,80],[0,80]]]}"#;
        assert!(matches(pole, 45.0, 89.0) && !matches(pole, 45.0, 70.0) && !matches(pole, 0.0, -89.0));
    }
}
