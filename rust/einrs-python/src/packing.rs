//! `pack` and `unpack` on tensors of one framework: its own reshape, concatenation and slices.

use std::ptr::null_mut;
use std::sync::Arc;

use einrs::{Packing, Piece, Sizes, Strided, pieces};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};

use crate::call::{Function, Object, PlainPattern, exact_integer};
use crate::calling::{attribute, call, item};
use crate::einsum::is_refusal;
use crate::frameworks::{Framework, Native};
use crate::ndarray::Array;
use crate::table::Lookup;

/// How many axes stand before and after the `*`.
#[derive(Clone, Copy)]
pub(crate) struct PackedAxes {
    before: usize,
    after: usize,
}

impl PackedAxes {
    fn of(py: Python<'_>, native: Native, pattern: &PlainPattern) -> Option<Self> {
        let lookup = Lookup::plain(Function::Packing, native, pattern, 0);
        if let Some(found) = lookup.read(py, |axes: &Arc<Self>| **axes) {
            return Some(found);
        }
        let packing = Packing::parse(pattern.text()?).ok()?;
        let axes = Self { before: packing.before(), after: packing.after() };
        lookup.insert(py, Arc::new(axes));
        Some(axes)
    }

    /// The pieces of an axis whose length `length` reads, if rank and shapes fit.
    fn split(
        self,
        ndim: usize,
        length: impl FnOnce() -> Option<i64>,
        packed: &[Sizes],
    ) -> Option<Vec<Piece>> {
        if ndim != self.before + 1 + self.after {
            return None;
        }
        pieces(length()?, packed.iter().map(|sizes| &**sizes)).ok()
    }

    /// `shape[:before] + middle + shape[-after:]`.
    fn shape_with<'py>(
        self,
        shape: &Bound<'py, PyTuple>,
        middle: &[i64],
    ) -> PyResult<Bound<'py, PyTuple>> {
        let py = shape.py();
        let kept = |i| shape.get_item(i);
        let before = (0..self.before).map(kept);
        let after = (shape.len() - self.after..shape.len()).map(kept);
        let middle = middle.iter().map(|size| Ok(size.into_pyobject(py)?.into_any()));
        let all: PyResult<Vec<_>> = before.chain(middle).chain(after).collect();
        PyTuple::new(py, all?)
    }
}

/// `pack(tensors, pattern)`: the result, or null with an exception set; none where the readable way
/// is to be taken.
///
/// # Safety
/// `args` must be the arguments of the running builtin, `positional` of them.
pub(crate) unsafe fn pack(
    py: Python<'_>,
    args: *const Object,
    positional: usize,
) -> Option<Object> {
    if positional != 2 {
        return None;
    }
    // SAFETY: the caller's contract.
    let (tensors, pattern) =
        unsafe { (Bound::from_borrowed_ptr(py, *args), PlainPattern::read(*args.add(1))?) };
    finished(pack_all(py, &tensors, &pattern))
}

fn pack_all<'py>(
    py: Python<'py>,
    tensors: &Bound<'py, PyAny>,
    pattern: &PlainPattern,
) -> Result<Bound<'py, PyAny>, Stopped> {
    let tensors = items_of(tensors).or_readable()?;
    let native = Native::of(tensors.first().or_readable()?.get_type_ptr()).or_readable()?;
    let joins = native.joins().or_readable()?;
    let (reshape, concat) =
        (joins.reshape.as_ref().or_readable()?, joins.concat.as_ref().or_readable()?);
    let axes = PackedAxes::of(py, native, pattern).or_readable()?;
    let (flat, shapes) = (PyList::empty(py), PyList::empty(py));
    for tensor in &tensors {
        if Native::of(tensor.get_type_ptr()) != Some(native) {
            return Err(Stopped::Readable);
        }
        flat.append(flatten(reshape, tensor, axes, &shapes)?)?;
    }
    let at = axes.before.into_pyobject(py)?;
    let packed = call(concat.bind(py), [flat.as_any(), at.as_any()])?;
    Ok(PyTuple::new(py, [packed.as_any(), shapes.as_any()])?.into_any())
}

/// The tensor with its packed axes as one, which are added to `shapes`.
fn flatten<'py>(
    reshape: &Py<PyAny>,
    tensor: &Bound<'py, PyAny>,
    axes: PackedAxes,
    shapes: &Bound<'py, PyList>,
) -> Result<Bound<'py, PyAny>, Stopped> {
    let shape = shape_of(tensor).or_readable()?;
    let ndim = shape.len();
    let end = ndim.checked_sub(axes.after).filter(|end| *end >= axes.before).or_readable()?;
    let mut length: i64 = 1;
    for i in axes.before..end {
        length = length.checked_mul(exact_item(&shape, i).or_readable()?).or_readable()?;
    }
    // Slicing keeps the type, such as torch's `Size`.
    let slice = PySlice::new(tensor.py(), axes.before.cast_signed(), end.cast_signed(), 1);
    shapes.append(item(shape.as_any(), slice.as_any())?)?;
    if end - axes.before == 1 {
        return Ok(tensor.clone());
    }
    let flat = axes.shape_with(&shape, &[length])?;
    Ok(call(reshape.bind(tensor.py()), [tensor, flat.as_any()])?)
}

/// `unpack(tensor, packed_shapes, pattern)`, likewise.
///
/// # Safety
/// `args` must be the arguments of the running builtin, `positional` of them.
pub(crate) unsafe fn unpack(
    py: Python<'_>,
    args: *const Object,
    positional: usize,
) -> Option<Object> {
    if positional != 3 {
        return None;
    }
    // SAFETY: the caller's contract.
    let (tensor, shapes, pattern) = unsafe {
        let tensor = Bound::from_borrowed_ptr(py, *args);
        (tensor, Bound::from_borrowed_ptr(py, *args.add(1)), PlainPattern::read(*args.add(2))?)
    };
    finished(unpack_all(py, &tensor, &shapes, &pattern))
}

fn unpack_all<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, PyAny>,
    shapes: &Bound<'py, PyAny>,
    pattern: &PlainPattern,
) -> Result<Bound<'py, PyAny>, Stopped> {
    let native = Native::of(tensor.get_type_ptr()).or_readable()?;
    let axes = PackedAxes::of(py, native, pattern).or_readable()?;
    let shapes = items_of(shapes).or_readable()?;
    let packed: Vec<Sizes> = shapes.iter().map(integers).collect::<Option<_>>().or_readable()?;
    if let Framework::Numpy(numpy) = native.framework() {
        // SAFETY: the array has the type that numpy registered, and `tensor` keeps it alive.
        return unsafe { unpack_array(py, numpy.array(tensor.as_ptr()), axes, &packed) };
    }
    let shape = shape_of(tensor).or_readable()?;
    let split = axes.split(shape.len(), || exact_item(&shape, axes.before), &packed);
    let cutter = Cutter {
        reshape: native.joins().or_readable()?.reshape.as_ref().or_readable()?,
        tensor: tensor.clone(),
        shape,
        axes,
        whole: PySlice::full(py),
    };
    let results = PyList::empty(py);
    for (piece, sizes) in split.or_readable()?.iter().zip(&packed) {
        results.append(cutter.cut(*piece, sizes)?)?;
    }
    Ok(results.into_any())
}

/// Views of an array, made here.
///
/// # Safety
/// We must be attached.
unsafe fn unpack_array<'py>(
    py: Python<'py>,
    array: Array<'_>,
    axes: PackedAxes,
    packed: &[Sizes],
) -> Result<Bound<'py, PyAny>, Stopped> {
    let (shape, strides) = (array.shape(), array.strides());
    let split = axes.split(shape.len(), || Some(shape[axes.before]), packed).or_readable()?;
    let results = PyList::empty(py);
    let mut view = Strided::default();
    for (piece, sizes) in split.iter().zip(packed) {
        let sizes = piece.sizes(sizes);
        view.part(shape, strides, axes.before, &sizes, array.item());
        let offset = isize::try_from(piece.start.wrapping_mul(strides[axes.before]));
        // SAFETY: the pieces lie within their axis; the result is a new reference or null.
        let part = unsafe {
            Bound::from_owned_ptr_or_err(py, array.view_at(offset.ok().or_readable()?, &view))?
        };
        results.append(part)?;
    }
    Ok(results.into_any())
}

/// What all pieces of a tensor are cut with.
struct Cutter<'py> {
    reshape: &'py Py<PyAny>,
    tensor: Bound<'py, PyAny>,
    shape: Bound<'py, PyTuple>,
    axes: PackedAxes,
    /// `slice(None)`.
    whole: Bound<'py, PySlice>,
}

impl<'py> Cutter<'py> {
    /// One piece, in its own shape.
    fn cut(&self, piece: Piece, sizes: &Sizes) -> PyResult<Bound<'py, PyAny>> {
        let (py, before) = (self.tensor.py(), self.axes.before);
        let (start, stop) = (piece.start.into_pyobject(py)?, piece.stop.into_pyobject(py)?);
        // SAFETY: both are alive, and no step is one of 1; the result is a new reference.
        let range = unsafe {
            let range = ffi::PySlice_New(start.as_ptr(), stop.as_ptr(), null_mut());
            Bound::from_owned_ptr_or_err(py, range)?
        };
        let part = |i| if i < before { self.whole.as_any() } else { &range };
        let count = before + 1;
        let key = PyTuple::new(py, (0..count).map(part))?;
        let part = item(&self.tensor, key.as_any())?;
        if sizes.len() == 1 {
            return Ok(part);
        }
        let shape = self.axes.shape_with(&self.shape, &piece.sizes(sizes))?;
        call(self.reshape.bind(py), [&part, shape.as_any()])
    }
}

/// Why there is no result.
enum Stopped {
    /// The readable way is to be taken.
    Readable,
    /// An exception is set that is to be seen, such as an interrupt.
    Raised,
}

impl<E: Into<PyErr>> From<E> for Stopped {
    /// What a framework refuses the readable way looks into.
    fn from(error: E) -> Self {
        // SAFETY: errors are met attached.
        let py = unsafe { Python::assume_attached() };
        error.into().restore(py);
        if is_refusal(py) { Self::Readable } else { Self::Raised }
    }
}

trait OrReadable<T> {
    fn or_readable(self) -> Result<T, Stopped>;
}

impl<T> OrReadable<T> for Option<T> {
    fn or_readable(self) -> Result<T, Stopped> {
        self.ok_or(Stopped::Readable)
    }
}

/// A builtin's result: null with an exception set, or none for the readable way.
fn finished(result: Result<Bound<'_, PyAny>, Stopped>) -> Option<Object> {
    match result {
        Ok(result) => Some(result.into_ptr()),
        Err(Stopped::Raised) => Some(null_mut()),
        Err(Stopped::Readable) => None,
    }
}

fn items_of<'py>(sequence: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = sequence.cast_exact::<PyList>() {
        return Some(list.iter().collect());
    }
    let tuple = sequence.cast_exact::<PyTuple>().ok()?;
    Some(tuple.iter().collect())
}

/// The sizes of a packed shape: a tuple, also of a subclass, or a list, of exact integers.
fn integers(shape: &Bound<'_, PyAny>) -> Option<Sizes> {
    let mut sizes = Sizes::new();
    let mut push = |size: &Bound<'_, PyAny>| {
        // SAFETY: the object is alive and we are attached.
        sizes.push(unsafe { exact_integer(size.as_ptr()) }?);
        Some(())
    };
    if let Ok(tuple) = shape.cast::<PyTuple>() {
        tuple.iter().try_for_each(|size| push(&size))?;
    } else {
        shape.cast_exact::<PyList>().ok()?.iter().try_for_each(|size| push(&size))?;
    }
    Some(sizes)
}

/// The shape, if it is a tuple.
pub(crate) fn shape_of<'py>(tensor: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
    let shape = attribute(tensor, pyo3::intern!(tensor.py(), "shape")).ok()?;
    shape.cast_into::<PyTuple>().ok()
}

fn exact_item(shape: &Bound<'_, PyTuple>, i: usize) -> Option<i64> {
    // SAFETY: the caller asks for items that are there; we are attached.
    unsafe { exact_integer(ffi::PyTuple_GET_ITEM(shape.as_ptr(), i.cast_signed())) }
}
