//! A call that is not in the table to an entry: parse, lower, and let the framework make a program.

use std::sync::Arc;

use einrs::{Op, Pattern, Recipe, Style};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};

use crate::call::{Call, Function, Reduction};
use crate::diagnose::recipe_tuple;
use crate::frameworks::{Framework, Steps};
use crate::table::{Entry, Lookup};

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
pub(crate) fn compile(call: &Call<'_>, ndim: usize, lookup: &Lookup<'_>) -> Option<Arc<Entry>> {
    let reserved: &[&str] = match call.function {
        Function::Reduce => &["tensor", "pattern", "reduction"],
        Function::Rearrange | Function::Repeat => &["tensor", "pattern"],
    };
    if call.names().iter().any(|name| reserved.contains(name)) {
        return None;
    }
    let op = match call.function {
        Function::Rearrange => Op::Rearrange,
        Function::Reduce => Op::Reduce,
        Function::Repeat => Op::Repeat,
    };
    let style = match call.native.framework() {
        Framework::Numpy(_) => Style::default(),
        Framework::Steps(steps) => steps.style,
    };
    let recipe = Pattern::parse(call.pattern).ok()?.lower(op, call.names(), ndim, style).ok()?;
    let program = Python::attach(|py| match call.native.framework() {
        Framework::Numpy(_) => numpy_program(py, &recipe),
        Framework::Steps(steps) => steps_program(py, steps, call, op, &recipe),
    });
    let entry = Arc::new(Entry { recipe, program: program.ok()? });
    lookup.insert(Arc::clone(&entry));
    Some(entry)
}

fn numpy_program(py: Python<'_>, recipe: &Recipe) -> PyResult<Program> {
    let axes = recipe.reduce.as_ref().map(|axes| PyTuple::new(py, axes).map(Bound::unbind));
    Ok(Program::Numpy { axes: axes.transpose()? })
}

/// A step as the framework's module gives it.
type RawStep<'py> = (Py<PyAny>, Bound<'py, PyAny>);

fn steps_program(
    py: Python<'_>,
    framework: &Steps,
    call: &Call<'_>,
    op: Op,
    recipe: &Recipe,
) -> PyResult<Program> {
    let names = PyTuple::new(py, call.names())?;
    let lengths = PyTuple::new(py, call.lengths())?;
    let reduction = call.reduction.map(Reduction::name);
    let arguments =
        (op_name(op), call.pattern, names, lengths, reduction, recipe_tuple(py, recipe)?);
    let made = framework.program.bind(py).call1(arguments)?;
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
