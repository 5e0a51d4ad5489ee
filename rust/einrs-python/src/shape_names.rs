//! `parse_shape` on a tensor to a dictionary of names and sizes.

use std::sync::Arc;

use einrs::ShapeNames;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::call::{Function, Object, PlainPattern, exact_integer};
use crate::frameworks::Native;
use crate::packing::shape_of;
use crate::table::Lookup;

/// Which dimensions have names, and which must have a given length.
pub(crate) struct NamedShape {
    names: Vec<(usize, Py<PyString>)>,
    lengths: Vec<(usize, i64)>,
}

/// `parse_shape(x, pattern)`: the result; none where the readable way is to be taken.
///
/// # Safety
/// `args` must be the arguments of the running builtin, `positional` of them.
pub(crate) unsafe fn run(py: Python<'_>, args: *const Object, positional: usize) -> Option<Object> {
    if positional != 2 {
        return None;
    }
    // SAFETY: the caller's contract.
    let (tensor, pattern) =
        unsafe { (Bound::from_borrowed_ptr(py, *args), PlainPattern::read(*args.add(1))?) };
    let native = Native::of(tensor.get_type_ptr())?;
    let shape = shape_of(&tensor)?;
    let lookup = Lookup::plain(Function::ParseShape, native, &pattern, shape.len());
    let found = lookup.read(py, Arc::clone);
    let named = found.or_else(|| compile(py, &pattern, shape.len(), &lookup))?;
    dictionary(&named, &shape)
}

#[cold]
fn compile(
    py: Python<'_>,
    pattern: &PlainPattern,
    ndim: usize,
    lookup: &Lookup<'_>,
) -> Option<Arc<NamedShape>> {
    let parsed = ShapeNames::parse(pattern.text()?, ndim).ok()?;
    let interned = |(dim, name): &(usize, String)| (*dim, PyString::intern(py, name).unbind());
    let named = Arc::new(NamedShape {
        names: parsed.names().iter().map(interned).collect(),
        lengths: parsed.lengths().to_vec(),
    });
    lookup.insert(py, Arc::clone(&named));
    Some(named)
}

fn dictionary(named: &NamedShape, shape: &Bound<'_, PyTuple>) -> Option<Object> {
    // SAFETY: the entry was compiled for the rank of this shape, so every dimension is there.
    let item = |dim: usize| unsafe { ffi::PyTuple_GET_ITEM(shape.as_ptr(), dim.cast_signed()) };
    for (dim, length) in &named.lengths {
        // SAFETY: the item is alive.
        if unsafe { exact_integer(item(*dim)) } != Some(*length) {
            return None;
        }
    }
    let result = PyDict::new(shape.py());
    for (dim, name) in &named.names {
        // SAFETY: all three are alive; a string's hash runs no Python code.
        if unsafe { ffi::PyDict_SetItem(result.as_ptr(), name.as_ptr(), item(*dim)) } < 0 {
            return Some(std::ptr::null_mut());
        }
    }
    Some(result.into_ptr())
}
