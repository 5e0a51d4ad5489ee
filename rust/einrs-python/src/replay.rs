//! A call to its result: look up, bind and replay natively; what is not plain goes the readable
//! way.

use std::sync::Arc;

use einrs::{Plan, Sizes};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::call::{Call, Object, exact_integer};
use crate::calling::{attribute, vectorcall};
use crate::compile::{Argument, Program, Step, compile};
use crate::frameworks::{Framework, Steps};
use crate::numpy;
use crate::table::{Lookup, Transform};

/// The result of a call: a new reference, or null with an exception set; none where the readable
/// replay is to do it.
#[inline]
pub(crate) fn run(py: Python<'_>, call: &Call) -> Option<Object> {
    match call.native.framework() {
        // SAFETY: the tensor's type is the one that numpy registered.
        Framework::Numpy(numpy) => unsafe { numpy::run(py, call, numpy) },
        Framework::Steps(framework) => run_steps(py, call, framework),
    }
}

fn run_steps(py: Python<'_>, call: &Call, framework: &Steps) -> Option<Object> {
    // SAFETY: the caller of the builtin keeps the tensor alive.
    let tensor = unsafe { Bound::from_borrowed_ptr(py, call.tensor) };
    if framework.binds_shape {
        return run_unbound(py, call, &tensor);
    }
    let mut shape = Sizes::new();
    let needs_rank_only = call.moves_whole_axes() && !framework.keyed_by_lengths;
    let ndim = if needs_rank_only {
        rank(&tensor)?
    } else {
        read_shape(&tensor, &mut shape)?;
        shape.len()
    };
    let lookup = Lookup::new(call, ndim, framework.keyed_by_lengths);
    let found = lookup.read(py, Arc::clone);
    let entry = found.or_else(|| compile(py, call, ndim, &lookup))?;
    let mut plan = Plan::of(&entry.recipe);
    if entry.needs_sizes {
        if needs_rank_only {
            read_shape(&tensor, &mut shape)?;
        }
        plan.bind(&shape, call.lengths()).ok()?;
    }
    if entry.recipe.is_identity() {
        return Some(tensor.into_ptr());
    }
    replay(&entry, &tensor, &plan)
}

/// For a framework whose programs read the shape themselves.
fn run_unbound(py: Python<'_>, call: &Call, tensor: &Bound<'_, PyAny>) -> Option<Object> {
    let ndim = rank(tensor)?;
    let lookup = Lookup::new(call, ndim, true);
    let found = lookup.read(py, Arc::clone);
    let entry = found.or_else(|| compile(py, call, ndim, &lookup))?;
    if entry.recipe.is_identity() && !entry.needs_sizes {
        return Some(tensor.clone().into_ptr());
    }
    replay(&entry, tensor, &Plan::of(&entry.recipe))
}

/// The result, or null with an exception set; none where the program is not for this dtype.
fn replay(entry: &Transform, tensor: &Bound<'_, PyAny>, plan: &Plan<'_>) -> Option<Object> {
    let Program::Steps { steps, dtypes } = &entry.program else { return None };
    if !dtypes.is_empty() {
        let name = pyo3::intern!(tensor.py(), "dtype");
        let dtype = attribute(tensor, name).ok()?;
        if !dtypes.iter().any(|known| known.is(&dtype)) {
            return None;
        }
    }
    let result = steps.iter().try_fold(tensor.clone(), |tensor, step| {
        let argument = argument_of(tensor.py(), step, plan)?;
        call_with(&step.call, &tensor, argument.as_ref())
    });
    Some(result.map_or_else(
        |error| {
            error.restore(tensor.py());
            std::ptr::null_mut()
        },
        Bound::into_ptr,
    ))
}

fn argument_of<'py>(
    py: Python<'py>,
    step: &Step,
    plan: &Plan<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let sizes = match &step.argument {
        Argument::Absent => return Ok(None),
        Argument::Ready(argument) => return Ok(Some(argument.bind(py).clone())),
        Argument::Split => plan.split(),
        Argument::Expand => plan.expand(),
        Argument::Merge => plan.merge(),
    };
    let sizes = sizes.unwrap_or_default();
    Ok(Some(PyTuple::new(py, sizes.iter())?.into_any()))
}

/// `function(first, second)`, or `function(first)`.
pub(crate) fn call_with<'py>(
    function: &Py<PyAny>,
    first: &Bound<'py, PyAny>,
    second: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = first.py();
    let second_or_null = second.map_or(std::ptr::null_mut(), Bound::as_ptr);
    // The place before the arguments is lent to the callee, which saves a bound method a copy.
    let args = [std::ptr::null_mut(), first.as_ptr(), second_or_null];
    let count = 1 + usize::from(second.is_some());
    let count = count | ffi::PY_VECTORCALL_ARGUMENTS_OFFSET;
    let no_names = std::ptr::null_mut();
    // SAFETY: `count` arguments follow the lent place, all alive; the result is ours.
    unsafe {
        let first = args.as_ptr().add(1);
        let result = vectorcall(function.as_ptr(), first, count, no_names);
        Bound::from_owned_ptr_or_err(py, result)
    }
}

fn rank(tensor: &Bound<'_, PyAny>) -> Option<usize> {
    let name = pyo3::intern!(tensor.py(), "ndim");
    let ndim = attribute(tensor, name).ok()?;
    // SAFETY: the object is alive and we are attached.
    unsafe { exact_integer(ndim.as_ptr()) }?.try_into().ok()
}

/// Reads the shape, if it is a tuple of exact integers; none where sizes are symbols, or reading
/// raises.
pub(crate) fn read_shape(tensor: &Bound<'_, PyAny>, sizes: &mut Sizes) -> Option<()> {
    let name = pyo3::intern!(tensor.py(), "shape");
    let shape = attribute(tensor, name).ok()?;
    let shape = shape.cast::<PyTuple>().ok()?;
    sizes.clear();
    for size in shape.iter_borrowed() {
        // SAFETY: the object is alive and we are attached.
        sizes.push(unsafe { exact_integer(size.as_ptr()) }?);
    }
    Some(())
}
