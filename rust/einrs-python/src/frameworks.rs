//! Types of tensors to what the warm path does with them, as the framework modules register it.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use einrs::Style;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::{self, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple, PyType};

use crate::call::{Object, Reduction};
use crate::calling::call;
use crate::ndarray::Numpy;

/// How many types of tensors, and how many frameworks, may be registered.
const CAPACITY: usize = 32;

/// The index of a registered framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Native(usize);

/// What the warm path knows about a framework.
pub(crate) enum Framework {
    /// numpy's exact arrays, whose views and small copies are made here.
    Numpy(Numpy),
    /// Any other framework: a program of calls, made by its Python module.
    Steps(Steps),
}

/// A framework whose plans are replayed as calls.
pub(crate) struct Steps {
    pub(crate) style: Style,
    /// Whether a program is made for given lengths, as a compiled function is; otherwise the
    /// lengths are bound anew at each call.
    pub(crate) keyed_by_lengths: bool,
    /// Whether a program reads the shape of the tensor itself; otherwise sizes are bound here.
    pub(crate) binds_shape: bool,
    /// `program(op, pattern, names, lengths, reduction, recipe)` of the framework's module.
    pub(crate) program: Py<PyAny>,
}

/// A framework's functions on whole tensors.
pub(crate) struct Joins {
    /// `reshape(tensor, shape)`; none where `pack` and `unpack` are better left to Python.
    pub(crate) reshape: Option<Py<PyAny>>,
    /// `concat(tensors, axis)`, likewise.
    pub(crate) concat: Option<Py<PyAny>>,
    /// `einsum(letters)`: a callable, and a tuple of what it takes before the tensors.
    pub(crate) einsum: Py<PyAny>,
    /// `to_numpy(tensor)`.
    pub(crate) to_numpy: Py<PyAny>,
}

/// A type is registered once and for all, so its address stays its own. A slot is filled before
/// its type is published.
static TYPES: [AtomicPtr<PyTypeObject>; CAPACITY] =
    [const { AtomicPtr::new(null_mut()) }; CAPACITY];
static OWNERS: [AtomicUsize; CAPACITY] = [const { AtomicUsize::new(0) }; CAPACITY];
static FRAMEWORKS: [OnceLock<Framework>; CAPACITY] = [const { OnceLock::new() }; CAPACITY];
static JOINS: [OnceLock<Joins>; CAPACITY] = [const { OnceLock::new() }; CAPACITY];

/// No type's address: stands where a type was taken back, since null ends the list.
const TAKEN_BACK: *mut PyTypeObject = std::ptr::dangling_mut();

impl Native {
    /// The framework that registered exactly this type.
    #[inline]
    pub(crate) fn of(kind: *mut PyTypeObject) -> Option<Self> {
        for (known, owner) in TYPES.iter().zip(&OWNERS) {
            let known = known.load(Ordering::Acquire);
            if known == kind {
                return Some(Self(owner.load(Ordering::Relaxed)));
            }
            if known.is_null() {
                return None;
            }
        }
        None
    }

    #[inline]
    pub(crate) fn framework(self) -> &'static Framework {
        FRAMEWORKS[self.0].get().expect("a type is registered after its framework")
    }

    #[inline]
    pub(crate) fn joins(self) -> Option<&'static Joins> {
        JOINS[self.0].get()
    }

    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// Registrations follow one another; the warm path never waits for them.
static REGISTERING: Mutex<()> = Mutex::new(());

fn register(types: &Bound<'_, PyTuple>, framework: Framework) -> PyResult<()> {
    let kinds = types.iter().map(|kind| Ok(kind.cast_into::<PyType>()?.unbind()));
    let kinds: Vec<Py<PyType>> = kinds.collect::<PyResult<_>>()?;
    let _guard = REGISTERING.lock().unwrap_or_else(PoisonError::into_inner);
    let free = FRAMEWORKS.iter().position(|slot| slot.get().is_none()).ok_or_else(full)?;
    if FRAMEWORKS[free].set(framework).is_err() {
        return Err(full());
    }
    for kind in kinds {
        let slot = TYPES.iter().position(|known| known.load(Ordering::Acquire).is_null());
        let slot = slot.ok_or_else(full)?;
        OWNERS[slot].store(free, Ordering::Relaxed);
        // Kept alive for ever: its address is our key.
        TYPES[slot].store(kind.into_ptr().cast(), Ordering::Release);
    }
    Ok(())
}

fn full() -> PyErr {
    PyRuntimeError::new_err(format!("einrs: more than {CAPACITY} native tensor types"))
}

/// Registers numpy: its array type, its C API, and the functions that reduce.
#[pyfunction]
fn register_numpy(
    kind: &Bound<'_, PyType>,
    api: &Bound<'_, PyCapsule>,
    reductions: &Bound<'_, PyDict>,
    divide: Py<PyAny>,
) -> PyResult<()> {
    let mut functions = [const { None }; Reduction::ALL.len()];
    for (slot, (_, name)) in functions.iter_mut().zip(Reduction::ALL) {
        *slot = reductions.get_item(name)?.map(Bound::unbind);
    }
    // SAFETY: numpy's module gave the capsule, which has no name and outlives the process's use.
    let table = unsafe { ffi::PyCapsule_GetPointer(api.as_ptr(), std::ptr::null()) };
    if table.is_null() {
        return Err(PyErr::fetch(kind.py()));
    }
    // SAFETY: it points to numpy's table of C functions.
    let numpy = unsafe { Numpy::new(table.cast(), functions, divide) };
    register(&PyTuple::new(kind.py(), [kind])?, Framework::Numpy(numpy))
}

/// Registers a framework that is replayed by calls.
#[pyfunction]
#[expect(clippy::fn_params_excessive_bools, reason = "Python gives them by keyword")]
#[pyo3(signature = (
    types, program, reduce_in_place, fold_new_axes, keyed_by_lengths, binds_shape=false
))]
fn register_steps(
    types: &Bound<'_, PyTuple>,
    program: Py<PyAny>,
    reduce_in_place: bool,
    fold_new_axes: bool,
    keyed_by_lengths: bool,
    binds_shape: bool,
) -> PyResult<()> {
    let style = Style { reduce_in_place, fold_new_axes, join_axes: true };
    register(types, Framework::Steps(Steps { style, keyed_by_lengths, binds_shape, program }))
}

/// Registers what joins whole tensors of a type that is registered: `pack`, `unpack`, `einsum` and
/// `asnumpy` are native for it from then on.
#[pyfunction]
fn register_joins(
    kind: &Bound<'_, PyType>,
    reshape: Option<Py<PyAny>>,
    concat: Option<Py<PyAny>>,
    einsum: Py<PyAny>,
    to_numpy: Py<PyAny>,
) -> PyResult<()> {
    let native = Native::of(kind.as_type_ptr())
        .ok_or_else(|| PyRuntimeError::new_err("einrs: the type is not registered"))?;
    let joins = Joins { reshape, concat, einsum, to_numpy };
    JOINS[native.0].set(joins).map_err(|_| PyRuntimeError::new_err("einrs: registered twice"))
}

/// `asnumpy(tensor)`: an array itself, or what its framework makes of a tensor.
///
/// # Safety
/// `args` must be the arguments of the running builtin, `positional` of them.
pub(crate) unsafe fn asnumpy(
    py: Python<'_>,
    args: *const Object,
    positional: usize,
) -> Option<Object> {
    if positional != 1 {
        return None;
    }
    // SAFETY: the caller's contract.
    let tensor = unsafe { Bound::from_borrowed_ptr(py, *args) };
    let native = Native::of(tensor.get_type_ptr())?;
    if let Framework::Numpy(_) = native.framework() {
        return Some(tensor.into_ptr());
    }
    let array = call(native.joins()?.to_numpy.bind(py), [&tensor]);
    Some(array.map_or_else(
        |error| {
            error.restore(py);
            null_mut()
        },
        Bound::into_ptr,
    ))
}

/// Takes a type back, if it is native: its calls go the readable way from then on.
#[pyfunction]
fn leave_to_python(kind: &Bound<'_, PyType>) {
    let _guard = REGISTERING.lock().unwrap_or_else(PoisonError::into_inner);
    for known in &TYPES {
        if known.load(Ordering::Acquire) == kind.as_type_ptr() {
            known.store(TAKEN_BACK, Ordering::Release);
        }
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(register_numpy, module)?)?;
    module.add_function(wrap_pyfunction!(register_steps, module)?)?;
    module.add_function(wrap_pyfunction!(register_joins, module)?)?;
    module.add_function(wrap_pyfunction!(leave_to_python, module)?)
}
