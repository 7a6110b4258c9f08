//! What expressions are put together from.

use aerolane_wire::msgpack::Writer;
use pyo3::prelude::*;

use super::{FilterExpression, MAX_BYTES, MAX_DEPTH};
use crate::cdt::{Ctx, ExpType, ListReturnType, MapReturnType};
use crate::errors;

/// The number of an operation on the value of a bin: `[CALL, type of the result, module, operation, bin]`.
const CALL: u8 = 127;
/// The bit of a module's number that says that the operation changes the value.
const MODIFY: u8 = 0x40;

/// The numbers of the modules of calls.
#[derive(Debug, Clone, Copy)]
pub(super) enum Module {
    /// Lists and maps.
    Cdt = 0,
    Bits = 1,
    Hll = 2,
    String = 3,
}

/// An argument of an expression's list.
pub(super) trait Part {
    fn write(&self, out: &mut Parts);

    /// How many elements of the list it is.
    fn count(&self) -> usize {
        1
    }
}

/// Bytes of an expression that is being put together.
#[derive(Default)]
pub(super) struct Parts {
    bytes: Vec<u8>,
    /// Of the expressions inside, the nesting of the deepest one.
    depth: u16,
}

impl Parts {
    pub(super) fn writer(&mut self) -> Writer<'_> {
        Writer::new(&mut self.bytes)
    }

    pub(super) fn list(&mut self, parts: &[&dyn Part]) {
        let count = parts.iter().map(|part| part.count()).sum();
        self.writer().list(count);
        for part in parts {
            part.write(self);
        }
    }

    fn finish(self, definition: bool) -> PyResult<FilterExpression> {
        let Self { bytes, depth } = self;
        let depth = depth + 1;
        if depth > MAX_DEPTH {
            return Err(refused(format!("expressions are nested more than {MAX_DEPTH} levels deep")));
        }
        if bytes.len() > MAX_BYTES {
            return Err(refused(format!("an expression of {} bytes does not fit into a request", bytes.len())));
        }
        Ok(FilterExpression { bytes: bytes.into(), depth, definition })
    }
}

#[cold]
fn refused(text: String) -> PyErr {
    Python::attach(|py| errors::invalid_argument(py, text))
}

/// An expression whose list has these elements: first the operation's number.
pub(super) fn list(parts: &[&dyn Part]) -> PyResult<FilterExpression> {
    let mut out = Parts::default();
    out.list(parts);
    out.finish(false)
}

/// A constant, written by `write`.
pub(super) fn constant(write: impl FnOnce(&mut Writer<'_>) -> PyResult<()>) -> PyResult<FilterExpression> {
    let mut out = Parts::default();
    write(&mut out.writer())?;
    out.finish(false)
}

/// A name and what it stands for.
pub(super) fn definition(name: &str, value: &Exp) -> PyResult<FilterExpression> {
    let mut out = Parts::default();
    Bare(name).write(&mut out);
    value.write(&mut out);
    out.finish(true)
}

/// An operation on the value of `bin`; `arguments` begin with its number.
pub(super) fn call(
    module: Module,
    gives: ExpType,
    arguments: &[&dyn Part],
    ctx: &Ctx,
    bin: &Exp,
) -> PyResult<FilterExpression> {
    list(&[&CALL, &gives, &(module as u8), &Operation { arguments, ctx }, bin])
}

/// An operation that gives the value of `bin` as it is afterwards.
pub(super) fn modify(
    module: Module,
    gives: ExpType,
    arguments: &[&dyn Part],
    ctx: &Ctx,
    bin: &Exp,
) -> PyResult<FilterExpression> {
    list(&[&CALL, &gives, &(module as u8 | MODIFY), &Operation { arguments, ctx }, bin])
}

/// The list of an operation, in its context.
struct Operation<'a> {
    arguments: &'a [&'a dyn Part],
    ctx: &'a Ctx,
}

impl Part for Operation<'_> {
    fn write(&self, out: &mut Parts) {
        if !self.ctx.is_empty() {
            self.ctx.begin(&mut out.writer());
            out.depth = out.depth.max(self.ctx.depth());
        }
        out.list(self.arguments);
    }
}

/// An operation on what a path selects in `bin`. `result`: what becomes of it.
pub(super) fn path(
    gives: ExpType,
    flags: i64,
    result: Option<&Exp>,
    ctx: &Ctx,
    bin: &Exp,
) -> PyResult<FilterExpression> {
    let module = if result.is_some() { Module::Cdt as u8 | MODIFY } else { Module::Cdt as u8 };
    list(&[&CALL, &gives, &module, &Path { flags, result, ctx }, bin])
}

struct Path<'a> {
    flags: i64,
    result: Option<&'a Exp>,
    ctx: &'a Ctx,
}

impl Part for Path<'_> {
    fn write(&self, out: &mut Parts) {
        use aerolane_wire::operation::path;
        out.depth = out.depth.max(self.ctx.depth());
        match self.result {
            None => {
                path::select(&mut out.bytes, self.ctx.levels(), self.flags);
            }
            Some(result) => {
                out.depth = out.depth.max(result.depth());
                let write = |writer: &mut Writer<'_>| {
                    writer.raw(result.bytes());
                    Ok::<_, std::convert::Infallible>(())
                };
                let Ok(_) = path::modify(&mut out.bytes, self.ctx.levels(), self.flags, write);
            }
        }
    }
}

/// An expression as an argument.
pub(crate) struct Exp(Py<FilterExpression>);

impl Exp {
    /// Of one that has been made.
    pub(super) fn made(py: Python<'_>, expression: FilterExpression) -> PyResult<Self> {
        Py::new(py, expression).map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.get().bytes()
    }

    pub(crate) fn depth(&self) -> u16 {
        self.0.get().depth
    }

    pub(crate) fn to_core(&self) -> aerospike_core::expressions::Expression {
        self.0.get().to_core()
    }

    /// `remove_result`.
    pub(crate) fn removal() -> PyResult<Self> {
        let expression = list(&[&REMOVE])?;
        Python::attach(|py| Py::new(py, expression)).map(Self)
    }

    fn of(value: Borrowed<'_, '_, PyAny>, definitions: bool) -> PyResult<Self> {
        let expression = value.cast::<FilterExpression>()?;
        if expression.get().definition && !definitions {
            return Err(errors::invalid_argument(value.py(), "a definition is no expression: it stands in an exp_let"));
        }
        Ok(Self(expression.to_owned().unbind()))
    }
}

impl<'py> FromPyObject<'_, 'py> for Exp {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Self::of(value, false)
    }
}

impl Part for Exp {
    fn write(&self, out: &mut Parts) {
        out.bytes.extend_from_slice(self.bytes());
        out.depth = out.depth.max(self.depth());
    }
}

/// Expressions as one argument of Python, at least one.
pub(super) struct Exps(Vec<Exp>);

impl<'py> FromPyObject<'_, 'py> for Exps {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut list = Vec::with_capacity(value.len().unwrap_or(0).min(64));
        for item in value.try_iter()? {
            list.push(item?.extract::<Exp>()?);
        }
        if list.is_empty() {
            return Err(errors::invalid_argument(value.py(), "there are no expressions"));
        }
        Ok(Self(list))
    }
}

impl Part for Exps {
    fn write(&self, out: &mut Parts) {
        self.0.iter().for_each(|exp| exp.write(out));
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

/// Definitions of variables, and behind them the expression that uses them.
pub(super) struct Scope(Vec<Exp>);

impl<'py> FromPyObject<'_, 'py> for Scope {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut list = Vec::with_capacity(value.len().unwrap_or(0).min(64));
        for item in value.try_iter()? {
            list.push(Exp::of(item?.as_borrowed(), true)?);
        }
        let right = match list.split_last() {
            Some((body, definitions)) => {
                !body.0.get().definition && definitions.iter().all(|item| item.0.get().definition)
            }
            None => false,
        };
        if !right {
            let text = "exp_let takes definitions (def_), and then one expression that uses them";
            return Err(errors::invalid_argument(value.py(), text));
        }
        Ok(Self(list))
    }
}

impl Part for Scope {
    fn write(&self, out: &mut Parts) {
        self.0.iter().for_each(|exp| exp.write(out));
    }

    fn count(&self) -> usize {
        // A definition is two elements.
        2 * self.0.len() - 1
    }
}

/// The lower bound of a range; `None`: nil, which is smaller than everything.
impl Part for Option<Exp> {
    fn write(&self, out: &mut Parts) {
        match self {
            Some(exp) => exp.write(out),
            None => out.writer().nil(),
        }
    }
}

/// An argument that may be left out, at the end of a list.
pub(super) struct Last<'a, T>(pub(super) &'a Option<T>);

impl<T: Part> Part for Last<'_, T> {
    fn write(&self, out: &mut Parts) {
        if let Some(part) = self.0 {
            part.write(out);
        }
    }

    fn count(&self) -> usize {
        usize::from(self.0.is_some())
    }
}

/// A selection that answers with nothing is no value.
#[cold]
pub(super) fn nothing_selected() -> PyErr {
    refused("an expression cannot select nothing: the return type NONE is for removals".to_owned())
}

/// A 1 at the end of a list, or nothing.
pub(super) struct OneIf(pub(super) bool);

impl Part for OneIf {
    fn write(&self, out: &mut Parts) {
        if self.0 {
            1_i64.write(out);
        }
    }

    fn count(&self) -> usize {
        usize::from(self.0)
    }
}

/// Text without a particle type: a name, a regular expression.
pub(super) struct Bare<'a>(pub(super) &'a str);

impl Part for Bare<'_> {
    fn write(&self, out: &mut Parts) {
        out.writer().bare(self.0.as_bytes());
    }
}

/// Text as binary data: source for the server's compiler.
pub(super) struct Binary<'a>(pub(super) &'a str);

impl Part for Binary<'_> {
    fn write(&self, out: &mut Parts) {
        out.writer().bin(self.0.as_bytes());
    }
}

/// Arguments that the server is not to take for an expression.
pub(super) struct Quoted<'a>(pub(super) &'a [&'a dyn Part]);

/// The number of the result that removes what a path selects.
pub(super) const REMOVE: u8 = 100;
/// The number of a list that is a constant.
pub(super) const QUOTED: u8 = 126;

impl Part for Quoted<'_> {
    fn write(&self, out: &mut Parts) {
        out.writer().list(2);
        QUOTED.write(out);
        out.list(self.0);
    }
}

impl Part for i64 {
    fn write(&self, out: &mut Parts) {
        out.writer().int(*self);
    }
}

impl Part for u8 {
    fn write(&self, out: &mut Parts) {
        out.writer().uint(u64::from(*self));
    }
}

impl Part for ExpType {
    fn write(&self, out: &mut Parts) {
        i64::from(*self as u8).write(out);
    }
}

impl Part for ListReturnType {
    fn write(&self, out: &mut Parts) {
        self.number().write(out);
    }
}

impl Part for MapReturnType {
    fn write(&self, out: &mut Parts) {
        self.number().write(out);
    }
}
