//! GeoJSON geometries: points, and the regions that contain them.

mod region;
mod shape;

pub(crate) use shape::Shape;
