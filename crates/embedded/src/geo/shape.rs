//! From GeoJSON text to geometries.

use super::region::{Circle, Loop, Region};
use serde_json::Value;

/// A geometry.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// Degrees.
    Point {
        lng: f64,
        lat: f64,
    },
    Region(Region),
}

impl Shape {
    /// Reads a Point, Polygon, `MultiPolygon` or `AeroCircle`, or a Feature of one; `None` if it is none that the server
    /// takes.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        shape(&serde_json::from_slice(text).ok()?)
    }

    /// Whether one of two geometries is a point and the other a region that contains it.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Region(region), Self::Point { lng, lat }) | (Self::Point { lng, lat }, Self::Region(region)) => {
                region.contains(*lng, *lat)
            }
            _ => false,
        }
    }
}

fn shape(json: &Value) -> Option<Shape> {
    let kind = json.get("type")?.as_str()?;
    if kind == "Feature" {
        let geometry = json.get("geometry")?;
        // A feature in a feature is none; this also bounds the recursion.
        return (geometry.get("type")?.as_str()? != "Feature").then(|| shape(geometry))?;
    }
    let coordinates = json.get("coordinates")?;
    match kind {
        "Point" => position(coordinates).map(|(lng, lat)| Shape::Point { lng, lat }),
        "Polygon" => Some(Shape::Region(Region::Polygons(vec![polygon(coordinates)?]))),
        "MultiPolygon" => {
            let polygons: Option<Vec<_>> = coordinates.as_array()?.iter().map(polygon).collect();
            polygons.filter(|polygons| !polygons.is_empty()).map(|polygons| Shape::Region(Region::Polygons(polygons)))
        }
        "AeroCircle" => match coordinates.as_array()?.as_slice() {
            [center, radius] => {
                let (lng, lat) = position(center)?;
                let meters = radius.as_f64().filter(|radius| *radius >= 0.0)?;
                Some(Shape::Region(Region::Circle(Circle::new(lng, lat, meters))))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Longitude and latitude in degrees.
fn position(json: &Value) -> Option<(f64, f64)> {
    let [lng, lat] = json.as_array()?.as_slice() else { return None };
    let (lng, lat) = (lng.as_f64()?, lat.as_f64()?);
    ((-180.0..=180.0).contains(&lng) && (-90.0..=90.0).contains(&lat)).then_some((lng, lat))
}

/// Closed rings of at least three corners.
fn polygon(json: &Value) -> Option<Vec<Loop>> {
    let rings: Option<Vec<Loop>> = json.as_array()?.iter().map(ring).collect();
    rings.filter(|rings| !rings.is_empty())
}

fn ring(json: &Value) -> Option<Loop> {
    let mut corners: Vec<(f64, f64)> = json.as_array()?.iter().map(position).collect::<Option<_>>()?;
    corners.dedup();
    (corners.len() >= 4 && corners.first() == corners.last()).then(|| Loop::new(&corners[1..]))
}
