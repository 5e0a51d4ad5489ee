//! `einsum` on tensors of one framework: the framework's own, with names replaced by letters once.

use std::ptr::null_mut;
use std::sync::Arc;

use einrs::Einsum;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::call::{Function, Object, PlainPattern};
use crate::calling::{call, vectorcall};
use crate::frameworks::Native;
use crate::table::Lookup;

/// The most tensors of the warm path; calls with more take the readable way.
const MAX_TENSORS: usize = 8;

/// An einsum pattern as one framework takes it.
pub(crate) struct Contraction {
    function: Py<PyAny>,
    /// What the function takes before the tensors.
    prefix: Py<PyTuple>,
}

/// The result, or null with an exception set; none where the readable way is to be taken.
///
/// # Safety
/// `args` must be the arguments of the running builtin, `positional` of them.
pub(crate) unsafe fn run(py: Python<'_>, args: *const Object, positional: usize) -> Option<Object> {
    let count = positional.checked_sub(1)?;
    if count == 0 || count > MAX_TENSORS {
        return None;
    }
    // SAFETY: the caller's contract.
    let (tensors, pattern) = unsafe {
        let tensors = std::slice::from_raw_parts(args, count);
        (tensors, PlainPattern::read(*args.add(count))?)
    };
    // SAFETY: the arguments are alive.
    let native = unsafe { common_native(tensors)? };
    let lookup = Lookup::plain(Function::Einsum, native, &pattern, count);
    let found = lookup.read(py, Arc::clone);
    let found = found.or_else(|| compile(py, native, &pattern, &lookup))?;
    contract(py, &found, tensors)
}

/// The framework that registered the types of all tensors.
///
/// # Safety
/// The tensors must be alive.
unsafe fn common_native(tensors: &[Object]) -> Option<Native> {
    // SAFETY: the caller's contract.
    let native_of = |tensor: &Object| Native::of(unsafe { ffi::Py_TYPE(*tensor) });
    let (first, others) = tensors.split_first()?;
    let native = native_of(first)?;
    others.iter().all(|tensor| native_of(tensor) == Some(native)).then_some(native)
}

#[cold]
fn compile(
    py: Python<'_>,
    native: Native,
    pattern: &PlainPattern,
    lookup: &Lookup<'_>,
) -> Option<Arc<Contraction>> {
    let einsum = Einsum::parse(pattern.text()?).ok()?;
    let letters = einsum.compact().into_pyobject(py).ok()?;
    let made = call(native.joins()?.einsum.bind(py), [letters.as_any()]).ok()?;
    let (function, prefix) = made.extract().ok()?;
    let contraction = Arc::new(Contraction { function, prefix });
    lookup.insert(py, Arc::clone(&contraction));
    Some(contraction)
}

/// None if the framework refuses: the readable way looks for the reason in the sizes.
fn contract(py: Python<'_>, contraction: &Contraction, tensors: &[Object]) -> Option<Object> {
    let prefix = contraction.prefix.bind(py);
    // One place more before the arguments, lent to the callee.
    let mut args = [null_mut(); 3 + MAX_TENSORS];
    let before = prefix.len();
    for (place, item) in args.get_mut(1..=before)?.iter_mut().zip(prefix.iter_borrowed()) {
        *place = item.as_ptr();
    }
    args.get_mut(before + 1..=before + tensors.len())?.copy_from_slice(tensors);
    let count = (before + tensors.len()) | ffi::PY_VECTORCALL_ARGUMENTS_OFFSET;
    // SAFETY: prefix and tensors are alive, and follow the lent place.
    let result = unsafe {
        vectorcall(contraction.function.as_ptr(), args.as_ptr().add(1), count, null_mut())
    };
    if result.is_null() && is_refusal(py) {
        return None;
    }
    Some(result)
}

/// Whether the exception that is set is a framework's plain refusal, which is then taken away.
///
/// Others stay, and the call is not tried again: interrupts, exhausted memory, and classes by which
/// a framework stops a call from inside, as torch's checkpoints do.
pub(crate) fn is_refusal(py: Python<'_>) -> bool {
    let Some(error) = PyErr::take(py) else { return false };
    let kind = error.get_type(py);
    let refuses = kind.is(py.get_type::<PyTypeError>())
        || kind.is(py.get_type::<PyValueError>())
        || kind.is(py.get_type::<PyIndexError>())
        || kind.is(py.get_type::<PyRuntimeError>());
    if !refuses {
        error.restore(py);
    }
    refuses
}
