//! The core's recipes and errors to plain tuples, for the readable replay and its messages.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned values")]

use einrs::{Error, Given, Op, Pattern, Recipe, Style, nearest};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::call::Reduction;

/// Kind, message and the places in characters.
type Refusal<'py> = (String, String, Bound<'py, PyTuple>);

fn refusal<'py>(py: Python<'py>, error: &Error) -> PyResult<Refusal<'py>> {
    let spans = error.spans().iter().map(|span| span.in_characters(error.pattern()));
    let spans = PyTuple::new(py, spans.collect::<Vec<_>>())?;
    Ok((error.kind().name(), error.to_string(), spans))
}

fn op_named(name: &str) -> PyResult<Op> {
    match name {
        "rearrange" => Ok(Op::Rearrange),
        "reduce" => Ok(Op::Reduce),
        "repeat" => Ok(Op::Repeat),
        _ => Err(PyValueError::new_err("op is rearrange, reduce or repeat")),
    }
}

fn lower(
    op: &str,
    pattern: &str,
    names: &[String],
    ndim: usize,
    style: Style,
) -> PyResult<Result<Recipe, Error>> {
    let op = op_named(op)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(Pattern::parse(pattern).and_then(|parsed| parsed.lower(op, &names, ndim, style)))
}

/// The recipe of a pattern as nested tuples, `(None, recipe)`, or `((kind, message, spans), None)`:
/// in einops' order of steps, or leaner for a framework that reduces axes where they stand. Errors are returned, so that Dynamo can fold the call.
#[pyfunction]
pub(crate) fn recipe<'py>(
    py: Python<'py>,
    op: &str,
    pattern: &str,
    names: Vec<String>,
    ndim: usize,
    lean: bool,
) -> PyResult<(Option<Refusal<'py>>, Option<Bound<'py, PyTuple>>)> {
    let style = Style { reduce_in_place: lean, join_axes: lean, ..Style::einops() };
    match lower(op, pattern, &names, ndim, style)? {
        Ok(recipe) => Ok((None, Some(recipe_tuple(py, &recipe)?))),
        Err(error) => Ok((Some(refusal(py, &error)?), None)),
    }
}

/// Why these integers do not go with the pattern: `(kind, message, spans)`, or None if they do.
#[pyfunction]
pub(crate) fn misfit<'py>(
    py: Python<'py>,
    op: &str,
    pattern: &str,
    names: Vec<String>,
    shape: Vec<i64>,
    lengths: Vec<i64>,
) -> PyResult<Option<Refusal<'py>>> {
    if names.len() != lengths.len() {
        return Err(PyValueError::new_err("one length for each name"));
    }
    let error = match lower(op, pattern, &names, shape.len(), Style::default())? {
        Err(error) => error,
        Ok(recipe) => {
            let Err(misfit) = recipe.bind(&shape, &lengths) else { return Ok(None) };
            let parsed = Pattern::parse(pattern);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            parsed.map_or_else(|error| error, |parsed| recipe.explain(misfit, &parsed, &names))
        }
    };
    refusal(py, &error).map(Some)
}

/// The refusal of a length that is not an integer.
#[pyfunction]
pub(crate) fn length_type<'py>(
    py: Python<'py>,
    pattern: &str,
    name: String,
    given: String,
) -> PyResult<Refusal<'py>> {
    let axis = name.clone();
    refusal(py, &Error::about(pattern, &axis, Given::LengthType { name, given }))
}

/// The refusal of a length that does not fit 64 bits.
#[pyfunction]
pub(crate) fn huge_length<'py>(
    py: Python<'py>,
    pattern: &str,
    name: String,
    length: String,
) -> PyResult<Refusal<'py>> {
    let axis = name.clone();
    refusal(py, &Error::about(pattern, &axis, Given::HugeLength { name, length }))
}

/// The refusal of a reduction that does not exist.
#[pyfunction]
pub(crate) fn unknown_reduction<'py>(
    py: Python<'py>,
    pattern: &str,
    name: String,
) -> PyResult<Refusal<'py>> {
    let near = nearest(&name, Reduction::ALL.map(|(_, known)| known)).map(Into::into);
    refusal(py, &Error::about(pattern, "", Given::UnknownReduction { name, near }))
}

/// `(lengths, inputs, split, permute, reduce, expand, merge)`, each step None where it is idle.
///
/// A length is an int, `("given", i)` or None where it is inferred; an input is `(first, count,
/// inferred or None)`; sizes are tuples of the axes whose lengths they multiply.
pub(crate) fn recipe_tuple<'py>(py: Python<'py>, recipe: &Recipe) -> PyResult<Bound<'py, PyTuple>> {
    let factors = |factors: &einrs::Factors| {
        let dims = factors.iter().map(|dim| PyTuple::new(py, dim));
        PyTuple::new(py, dims.collect::<PyResult<Vec<_>>>()?)
    };
    let axes = |axes: &Vec<usize>| PyTuple::new(py, axes);
    let length = |length: &einrs::Length| {
        match *length {
            einrs::Length::Fixed(length) => length.into_pyobject(py).map(Bound::into_any),
            einrs::Length::Given(i) => {
                return Ok::<_, PyErr>(("given", i).into_pyobject(py)?.into_any());
            }
            einrs::Length::Inferred => Ok(py.None().into_bound(py)),
        }
        .map_err(Into::into)
    };
    let lengths = recipe.lengths.iter().map(length).collect::<PyResult<Vec<_>>>()?;
    let input = |input: &einrs::Input| (input.first, input.count, input.inferred).into_pyobject(py);
    let inputs = recipe.inputs.iter().map(input).collect::<PyResult<Vec<_>>>()?;
    let expand = recipe
        .expand
        .as_ref()
        .map(|expand| Ok::<_, PyErr>((factors(&expand.sizes)?, PyTuple::new(py, &expand.added)?)));
    let merge = recipe.merge.then(|| factors(&recipe.output));
    let parts = (
        PyTuple::new(py, lengths)?,
        PyTuple::new(py, inputs)?,
        recipe.split.as_ref().map(factors).transpose()?,
        recipe.permute.as_ref().map(axes).transpose()?,
        recipe.reduce.as_ref().map(axes).transpose()?,
        expand.transpose()?,
        merge.transpose()?,
    );
    parts.into_pyobject(py)
}
