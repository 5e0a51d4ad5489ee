//! A call on an exact `ndarray` to its result: one strided view, one small copy, or numpy's own
//! calls.

use std::ptr::null_mut;
use std::sync::Arc;

use einrs::{Plan, Sizes, Strided};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};

use crate::call::{Call, Object, Reduction};
use crate::calling::{attribute, call as call_python, vectorcall};
use crate::compile::{Program, compile};
use crate::copy::copy_strided;
use crate::ndarray::{Array, Numpy, data_of_fresh};
use crate::replay::call_with;
use crate::table::{Lookup, Transform};

/// Results of up to this many bytes are copied here, larger ones by numpy.
const SMALL: i64 = 1 << 18;

/// What is to be done with an array, decided under the table's guard by arithmetic alone.
enum Action {
    Same,
    /// The view is the result.
    View,
    /// The elements of the view, in order, as a new array of the output's shape.
    Copy,
    /// The same for a repeat, whose result is never a view of its input.
    Repeat,
    Reduce(Arc<Transform>),
    /// The readable replay says what is wrong.
    Misfit,
}

/// The numbers that go with an action.
#[derive(Default)]
struct Numbers {
    view: Strided,
    output: Sizes,
}

/// The result, or null with an exception set; none where the readable replay is to do it.
///
/// # Safety
/// The tensor of the call must be an exact `ndarray` of this numpy.
pub(crate) unsafe fn run(py: Python<'_>, call: &Call, numpy: &Numpy) -> Option<Object> {
    // SAFETY: the caller's contract; the caller of the builtin keeps the array alive.
    let array = unsafe { numpy.array(call.tensor) };
    let lookup = Lookup::new(call, array.ndim(), false);
    let mut numbers = Numbers::default();
    let found = lookup.read(py, |entry| decide(call, array, entry, &mut numbers));
    let action = match found {
        Some(action) => action,
        None => decide(call, array, &compile(py, call, array.ndim(), &lookup)?, &mut numbers),
    };
    let Numbers { view, output } = &numbers;
    // SAFETY: the caller's contract; every view lies within the array, as its plan was bound to
    // the array's shape.
    unsafe {
        match action {
            Action::Same => Some(ffi::Py_NewRef(array.object)),
            Action::View => Some(array.view(view)),
            Action::Copy => Some(copy(py, array, view, output)),
            Action::Repeat => Some(repeat(py, array, view, output)),
            Action::Reduce(entry) => {
                reduce(py, call, array, &entry).map(|result| into_ptr(py, result))
            }
            Action::Misfit => None,
        }
    }
}

#[inline]
fn decide(call: &Call, array: Array<'_>, entry: &Arc<Transform>, numbers: &mut Numbers) -> Action {
    let recipe = &entry.recipe;
    if recipe.reduce.is_some() {
        return Action::Reduce(Arc::clone(entry));
    }
    let (shape, strides, item) = (array.shape(), array.strides(), array.item());
    let view = &mut numbers.view;
    if !entry.needs_sizes {
        return match &recipe.permute {
            Some(axes) => {
                view.permute(shape, strides, Some(axes));
                Action::View
            }
            None => Action::Same,
        };
    }
    if entry.has_whole_inputs {
        if recipe.layout_of_whole(shape, strides, item, view) {
            return Action::View;
        }
        numbers
            .output
            .fill(recipe.output.iter().map(|dim| dim.iter().map(|i| shape[*i]).product()));
        return Action::Copy;
    }
    let mut plan = Plan::of(recipe);
    if plan.bind(shape, call.lengths()).is_err() {
        return Action::Misfit;
    }
    if recipe.expand.is_some() {
        plan.elements(strides, item, view);
        numbers.output = plan.output();
        return Action::Repeat;
    }
    if recipe.is_identity() {
        return Action::Same;
    }
    if plan.layout(strides, item, view) {
        return Action::View;
    }
    numbers.output = plan.output();
    Action::Copy
}

/// # Safety
/// As [`run`], and the view must lie within the array.
unsafe fn copy(py: Python<'_>, array: Array<'_>, view: &Strided, shape: &Sizes) -> Object {
    // SAFETY: the caller's contract.
    unsafe {
        if let Some(result) = copy_small(array, view, shape) {
            return result;
        }
        let result = owned(py, array.view(view)).and_then(|view| reshape(&view, shape));
        into_ptr(py, result)
    }
}

/// einops tiles, and numpy's `tile` keeps the order of the elements in memory if nothing grows.
///
/// # Safety
/// As [`copy`].
unsafe fn repeat(py: Python<'_>, array: Array<'_>, view: &Strided, shape: &Sizes) -> Object {
    let grows = view.shape.iter().product::<i64>() != array.shape().iter().product::<i64>();
    // SAFETY: the caller's contract.
    unsafe {
        if grows && let Some(result) = copy_small(array, view, shape) {
            return result;
        }
        let result = owned(py, array.view(view)).and_then(|view| {
            let order = if grows { pyo3::intern!(py, "C") } else { pyo3::intern!(py, "K") };
            let copied = copy_in_order(&view, order)?;
            reshape(&copied, shape)
        });
        into_ptr(py, result)
    }
}

/// The copy by our own loop, if the elements are plain and few.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_small(array: Array<'_>, view: &Strided, shape: &Sizes) -> Option<Object> {
    let bytes = shape.iter().try_fold(array.item(), |bytes, size| bytes.checked_mul(*size))?;
    if bytes > SMALL || !array.is_plain() {
        return None;
    }
    // SAFETY: the view lies within the array; the fresh array has as many elements as the view,
    // and is known to nobody else.
    unsafe {
        let result = array.fresh(shape);
        if result.is_null() {
            return Some(null_mut());
        }
        let item = usize::try_from(array.item()).unwrap_or(0);
        let to = data_of_fresh(result);
        if copy_strided(to, array.data(), &view.shape, &view.strides, item) {
            return Some(result);
        }
        ffi::Py_DECREF(result);
        None
    }
}

fn reduce<'py>(
    py: Python<'py>,
    call: &Call,
    array: Array<'_>,
    entry: &Transform,
) -> Option<PyResult<Bound<'py, PyAny>>> {
    let Program::Numpy { axes: Some(axes) } = &entry.program else { return None };
    let reduction = call.reduction?;
    let is_mean = reduction == Reduction::Mean;
    let empty = array.shape().contains(&0);
    // An array that repeats elements is summed in another order without einops' transpose.
    if reduction.rounds() && array.strides().contains(&0) {
        return None;
    }
    if !array.is_plain() || (is_mean && (empty || !array.is_float())) {
        return None;
    }
    let function = array.numpy.reduction(if is_mean { Reduction::Sum } else { reduction })?;
    let plan = entry.recipe.bind(array.shape(), call.lengths()).ok()?;
    let mut moved = Strided::default();
    plan.moved(array.shape(), array.strides(), array.item(), &mut moved);
    let reduced = entry.recipe.reduce.as_ref()?;
    let count = reduced.iter().map(|axis| moved.shape[*axis]).product();
    let needs_view = entry.recipe.split.is_some() || entry.recipe.permute.is_some();
    // SAFETY: we are attached, and the view lies within the array, to whose shape it is bound.
    let input = unsafe {
        owned(py, if needs_view { array.view(&moved) } else { ffi::Py_NewRef(array.object) })
    };
    let result = input.and_then(|input| call_with(function, &input, Some(axes.bind(py).as_any())));
    let result = match result {
        Ok(sum) if is_mean => divide(array.numpy, &sum, count)?,
        other => other,
    };
    let merged = plan.merge();
    Some(result.and_then(|result| match &merged {
        Some(shape) => reshape(&result, shape),
        None => Ok(result),
    }))
}

/// A sum to a mean, as numpy's `mean` divides: in place, or a scalar of the same type. None where
/// numpy 1 would widen the scalar.
fn divide<'py>(
    numpy: &Numpy,
    sum: &Bound<'py, PyAny>,
    count: i64,
) -> Option<PyResult<Bound<'py, PyAny>>> {
    let py = sum.py();
    let count = PyInt::new(py, count);
    if !numpy.is_array(sum) {
        let mean = sum.div(&count);
        let same = mean.as_ref().is_ok_and(|mean| mean.get_type().is(sum.get_type()));
        return (same || mean.is_err()).then_some(mean);
    }
    let args = [null_mut(), sum.as_ptr(), count.as_ptr(), sum.as_ptr()];
    let out = PyTuple::new(py, [pyo3::intern!(py, "out")]);
    Some(out.and_then(|out| {
        // SAFETY: two arguments and one keyword follow the lent place, all alive.
        unsafe {
            let positional = 2 | ffi::PY_VECTORCALL_ARGUMENTS_OFFSET;
            let divide = numpy.divide.as_ptr();
            let (first, out) = (args.as_ptr().add(1), out.as_ptr());
            owned(py, vectorcall(divide, first, positional, out))
        }
    }))
}

fn reshape<'py>(array: &Bound<'py, PyAny>, shape: &Sizes) -> PyResult<Bound<'py, PyAny>> {
    let shape = PyTuple::new(array.py(), shape.iter())?;
    let reshape = attribute(array, pyo3::intern!(array.py(), "reshape"))?;
    call_python(&reshape, [shape.as_any()])
}

fn copy_in_order<'py>(
    array: &Bound<'py, PyAny>,
    order: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    let copy = attribute(array, pyo3::intern!(array.py(), "copy"))?;
    call_python(&copy, [order.as_any()])
}

/// # Safety
/// `object` must be a new reference, or null with an exception set.
unsafe fn owned(py: Python<'_>, object: Object) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the caller's contract.
    unsafe { Bound::from_owned_ptr_or_err(py, object) }
}

fn into_ptr(py: Python<'_>, result: PyResult<Bound<'_, PyAny>>) -> Object {
    match result {
        Ok(object) => object.into_ptr(),
        Err(error) => {
            error.restore(py);
            null_mut()
        }
    }
}
