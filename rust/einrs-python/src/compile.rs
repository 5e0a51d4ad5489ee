//! A call that is not in the table to an entry: parse, lower, and let the framework make a program.

use std::sync::Arc;

use einrs::{Op, Pattern, Recipe, Style};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};

use crate::call::{Call, Function, Reduction};
use crate::calling::call as call_python;
use crate::diagnose::recipe_tuple;
use crate::frameworks::{Framework, Steps};
use crate::table::{Lookup, Transform};

/// What a framework does for a plan.
pub(crate) enum Program {
    /// numpy: views and small copies are made here; a reduction has its axes ready.
    Numpy {
        /// The axes of the reduction, as the tuple that numpy takes.
        axes: Option<Py<PyTuple>>,
    },
    /// Calls, one after the other, each with the result of the one before as first argument.
    Steps {
        /// The calls.
        steps: Vec<Step>,
        /// The dtypes that this program is for; empty for all.
        dtypes: Vec<Py<PyAny>>,
    },
}

/// A callable and its second argument.
pub(crate) struct Step {
    pub(crate) call: Py<PyAny>,
    pub(crate) argument: Argument,
}

/// Where the second argument of a step comes from.
pub(crate) enum Argument {
    /// There is none.
    Absent,
    /// It is the same at every call.
    Ready(Py<PyAny>),
    /// It is the shape of the first reshape.
    Split,
    /// It is the shape of the expansion.
    Expand,
    /// It is the shape of the last reshape.
    Merge,
}

/// Compiles a call and keeps the result. None if the call is wrong in a way that the readable
/// replay reports, or if making the program raised: the readable replay meets the same error.
#[cold]
pub(crate) fn compile(
    py: Python<'_>,
    call: &Call,
    ndim: usize,
    lookup: &Lookup<'_>,
) -> Option<Arc<Transform>> {
    let pattern = call.pattern_text()?;
    let names: Vec<&str> = (0..call.count()).map(|i| call.name(i)).collect::<Option<_>>()?;
    if names.iter().any(|name| is_parameter(call.function, name)) {
        return None;
    }
    let op = match call.function {
        Function::Rearrange => Op::Rearrange,
        Function::Reduce => Op::Reduce,
        Function::Repeat => Op::Repeat,
        Function::Einsum | Function::Packing | Function::ParseShape => return None,
    };
    let framework = call.native.framework();
    let style = match framework {
        Framework::Numpy(_) => Style::default(),
        Framework::Steps(steps) => {
            // Where nothing is rounded, the order of the axes makes no difference.
            let exact = call.reduction.is_some_and(|reduction| !reduction.rounds());
            Style { reduce_in_place: steps.style.reduce_in_place || exact, ..steps.style }
        }
    };
    let recipe = Pattern::parse(pattern).ok()?.lower(op, &names, ndim, style).ok()?;
    let program = match framework {
        Framework::Numpy(_) => numpy_program(py, &recipe),
        Framework::Steps(steps) => steps_program(py, steps, call, op, &names, &recipe),
    };
    let entry = Arc::new(Transform {
        needs_sizes: recipe.needs_sizes(),
        has_whole_inputs: recipe.has_whole_inputs(),
        recipe,
        program: program.ok()?,
    });
    lookup.insert(py, Arc::clone(&entry));
    Some(entry)
}

/// Whether a length is called like a parameter, which the readable way diagnoses.
fn is_parameter(function: Function, name: &str) -> bool {
    let reduces = function == Function::Reduce;
    matches!(name, "tensor" | "pattern") || (reduces && name == "reduction")
}

fn numpy_program(py: Python<'_>, recipe: &Recipe) -> PyResult<Program> {
    let axes = recipe.reduce.as_ref().map(|axes| PyTuple::new(py, axes).map(Bound::unbind));
    Ok(Program::Numpy { axes: axes.transpose()? })
}

/// A step as the framework's module gives it.
type RawStep<'py> = (Py<PyAny>, Bound<'py, PyAny>);

/// Calls the framework's `program(operation, pattern, names, lengths, reduction, recipe)`.
fn steps_program(
    py: Python<'_>,
    framework: &Steps,
    call: &Call,
    op: Op,
    names: &[&str],
    recipe: &Recipe,
) -> PyResult<Program> {
    // SAFETY: the caller of the builtin keeps the pattern alive.
    let pattern = unsafe { Bound::from_borrowed_ptr(py, call.pattern) };
    let names = PyTuple::new(py, names)?;
    let lengths = PyTuple::new(py, call.lengths())?;
    let reduction = call.reduction.map(Reduction::name).into_pyobject(py)?;
    let op = PyString::new(py, op_name(op));
    let recipe = recipe_tuple(py, recipe)?;
    let arguments =
        [op.as_any(), &pattern, names.as_any(), lengths.as_any(), &reduction, recipe.as_any()];
    let made = call_python(framework.program.bind(py), arguments)?;
    let (steps, dtypes): (Vec<RawStep<'_>>, Vec<Py<PyAny>>) = made.extract()?;
    let step =
        |(call, argument): RawStep<'_>| Ok(Step { call, argument: read_argument(&argument)? });
    Ok(Program::Steps { steps: steps.into_iter().map(step).collect::<PyResult<_>>()?, dtypes })
}

pub(crate) fn op_name(op: Op) -> &'static str {
    match op {
        Op::Rearrange => "rearrange",
        Op::Reduce => "reduce",
        Op::Repeat => "repeat",
    }
}

/// `None` for no argument, a tuple or an integer that is ready, or the name of a shape.
fn read_argument(argument: &Bound<'_, PyAny>) -> PyResult<Argument> {
    if argument.is_none() {
        return Ok(Argument::Absent);
    }
    if argument.is_instance_of::<PyTuple>() || argument.is_instance_of::<PyInt>() {
        return Ok(Argument::Ready(argument.clone().unbind()));
    }
    let name = argument.cast::<PyString>()?;
    Ok(match name.to_str()? {
        "split" => Argument::Split,
        "expand" => Argument::Expand,
        "merge" => Argument::Merge,
        other => {
            let message = format!("a step takes 'split', 'expand' or 'merge', not {other:?}");
            return Err(pyo3::exceptions::PyValueError::new_err(message));
        }
    })
}
