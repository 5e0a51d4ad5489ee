//! The core's recipes and errors to plain tuples, for the readable replay and its messages.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned values")]

use einrs::{
    EinMix, Einsum, Error, Given, Op, Packing, Pattern, Plan, Recipe, ShapeNames, Sizes, Style,
    nearest,
};
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

/// How the readable replay wants a recipe: in einops' order of steps, or leaner for a framework that
/// reduces axes where they stand.
const fn replayed(lean: bool) -> Style {
    Style { reduce_in_place: lean, join_axes: lean, ..Style::einops() }
}

/// The recipe of a pattern as nested tuples, `(None, recipe)`, or `((kind, message, spans), None)`.
/// Errors are returned, so that Dynamo can fold the call.
#[pyfunction]
fn recipe<'py>(
    py: Python<'py>,
    op: &str,
    pattern: &str,
    names: Vec<String>,
    ndim: usize,
    lean: bool,
) -> PyResult<(Option<Refusal<'py>>, Option<Bound<'py, PyTuple>>)> {
    match lower(op, pattern, &names, ndim, replayed(lean))? {
        Ok(recipe) => Ok((None, Some(recipe_tuple(py, &recipe)?))),
        Err(error) => Ok((Some(refusal(py, &error)?), None)),
    }
}

/// The steps of a recipe for these integers, `(None, (split, permute, reduce, expand, merge))`, or
/// `(refusal, None)`. Split and merge are shapes, expand is a shape and its new dimensions.
#[pyfunction]
fn steps<'py>(
    py: Python<'py>,
    op: &str,
    pattern: &str,
    names: Vec<String>,
    shape: Vec<i64>,
    lengths: Vec<i64>,
    lean: bool,
) -> Answer<'py, Bound<'py, PyTuple>> {
    if names.len() != lengths.len() {
        return Err(PyValueError::new_err("one length for each name"));
    }
    let recipe = match lower(op, pattern, &names, shape.len(), replayed(lean))? {
        Ok(recipe) => recipe,
        Err(error) => return Ok((Some(refusal(py, &error)?), None)),
    };
    match recipe.bind(&shape, &lengths) {
        Ok(plan) => Ok((None, Some(steps_tuple(py, &recipe, &plan)?))),
        Err(misfit) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let error = Pattern::parse(pattern)
                .map_or_else(|error| error, |parsed| recipe.explain(misfit, &parsed, &names));
            Ok((Some(refusal(py, &error)?), None))
        }
    }
}

/// Why these integers do not go with the pattern: `(kind, message, spans)`, or None if they do.
#[pyfunction]
fn misfit<'py>(
    py: Python<'py>,
    op: &str,
    pattern: &str,
    names: Vec<String>,
    shape: Vec<i64>,
    lengths: Vec<i64>,
) -> PyResult<Option<Refusal<'py>>> {
    steps(py, op, pattern, names, shape, lengths, true).map(|(refusal, _)| refusal)
}

fn steps_tuple<'py>(
    py: Python<'py>,
    recipe: &Recipe,
    plan: &Plan<'_>,
) -> PyResult<Bound<'py, PyTuple>> {
    let shape =
        |sizes: Option<Sizes>| sizes.map(|sizes| PyTuple::new(py, sizes.iter())).transpose();
    let axes = |axes: Option<&Vec<usize>>| axes.map(|axes| PyTuple::new(py, axes)).transpose();
    let expanded = shape(plan.expand())?;
    let expand = expanded.zip(axes(recipe.expand.as_ref().map(|expand| &expand.added))?);
    let (split, merge) = (shape(plan.split())?, shape(plan.merge())?);
    (split, axes(recipe.permute.as_ref())?, axes(recipe.reduce.as_ref())?, expand, merge)
        .into_pyobject(py)
}

/// The refusal of a length that is not an integer, or does not fit 64 bits.
#[pyfunction]
fn bad_length<'py>(
    py: Python<'py>,
    pattern: &str,
    name: String,
    given: String,
    huge: bool,
) -> PyResult<Refusal<'py>> {
    let axis = name.clone();
    let kind = if huge {
        Given::HugeLength { name, length: given }
    } else {
        Given::LengthType { name, given }
    };
    refusal(py, &Error::about(pattern, &axis, kind))
}

/// The refusal of a reduction that does not exist.
#[pyfunction]
fn unknown_reduction<'py>(py: Python<'py>, pattern: &str, name: String) -> PyResult<Refusal<'py>> {
    let near = nearest(&name, Reduction::ALL.map(|(_, known)| known)).map(Into::into);
    refusal(py, &Error::about(pattern, "", Given::UnknownReduction { name, near }))
}

/// What a part of the core says, `(None, answer)`, or `(refusal, None)`. Errors are returned, so that
/// Dynamo can fold the call.
type Answer<'py, T> = PyResult<(Option<Refusal<'py>>, Option<T>)>;

fn answer<T>(py: Python<'_>, result: Result<T, Error>) -> Answer<'_, T> {
    match result {
        Ok(value) => Ok((None, Some(value))),
        Err(error) => Ok((Some(refusal(py, &error)?), None)),
    }
}

/// How many dimensions a pattern describes, and whether an ellipsis stands for more.
#[pyfunction]
fn rank<'py>(py: Python<'py>, pattern: &str) -> Answer<'py, (usize, bool)> {
    answer(py, Pattern::parse(pattern).map(|pattern| pattern.rank()))
}

/// An einsum pattern in single letters.
#[pyfunction]
fn einsum_letters<'py>(py: Python<'py>, pattern: &str) -> Answer<'py, String> {
    answer(py, Einsum::parse(pattern).map(|einsum| einsum.compact().into()))
}

/// Why these shapes do not go with an einsum pattern, or None.
#[pyfunction]
fn einsum_misfit<'py>(
    py: Python<'py>,
    pattern: &str,
    shapes: Vec<Vec<i64>>,
) -> PyResult<Option<Refusal<'py>>> {
    let checked = Einsum::parse(pattern).and_then(|einsum| einsum.check(&shapes));
    checked.err().map(|error| refusal(py, &error)).transpose()
}

/// How many axes stand before and after the `*`.
#[pyfunction]
fn packing<'py>(py: Python<'py>, pattern: &str) -> Answer<'py, (usize, usize)> {
    answer(py, Packing::parse(pattern).map(|packing| (packing.before(), packing.after())))
}

/// Why tensors of these shapes cannot be packed, or None.
#[pyfunction]
fn pack_misfit<'py>(
    py: Python<'py>,
    pattern: &str,
    shapes: Vec<Vec<i64>>,
) -> PyResult<Option<Refusal<'py>>> {
    let checked = Packing::parse(pattern).and_then(|packing| packing.check_pack(&shapes));
    checked.err().map(|error| refusal(py, &error)).transpose()
}

/// `(start, stop, unknown)` of each piece of a packed axis.
#[pyfunction]
fn unpacked<'py>(
    py: Python<'py>,
    pattern: &str,
    shape: Vec<i64>,
    packed: Vec<Vec<i64>>,
) -> Answer<'py, Bound<'py, PyTuple>> {
    let split = Packing::parse(pattern).and_then(|packing| packing.unpack(&shape, &packed));
    let split = split.map(|pieces| {
        let pieces = pieces.iter().map(|piece| (piece.start, piece.stop, piece.unknown));
        PyTuple::new(py, pieces.collect::<Vec<_>>())
    });
    answer(py, split).and_then(|(refusal, pieces)| Ok((refusal, pieces.transpose()?)))
}

/// `(names, lengths)` of a pattern of `parse_shape`: pairs of a dimension and its name or length.
#[pyfunction]
fn shape_names<'py>(
    py: Python<'py>,
    pattern: &str,
    ndim: usize,
) -> Answer<'py, (Bound<'py, PyTuple>, Bound<'py, PyTuple>)> {
    let pairs = ShapeNames::parse(pattern, ndim).map(|parsed| {
        Ok::<_, PyErr>((PyTuple::new(py, parsed.names())?, PyTuple::new(py, parsed.lengths())?))
    });
    answer(py, pairs).and_then(|(refusal, pairs)| Ok((refusal, pairs.transpose()?)))
}

/// Why a shape does not go with a pattern of `parse_shape`, or None.
#[pyfunction]
fn shape_misfit<'py>(
    py: Python<'py>,
    pattern: &str,
    shape: Vec<i64>,
) -> PyResult<Option<Refusal<'py>>> {
    let checked = ShapeNames::parse(pattern, shape.len()).and_then(|names| names.check(&shape));
    checked.err().map(|error| refusal(py, &error)).transpose()
}

/// The parts of an `EinMix` layer: `(pre, post, einsum, weight, fan_in, bias)`.
#[pyfunction]
fn einmix<'py>(
    py: Python<'py>,
    pattern: &str,
    weight: &str,
    bias: Option<&str>,
    names: Vec<String>,
) -> Answer<'py, Bound<'py, PyTuple>> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let parts = EinMix::parse(pattern, weight, bias, &names).map(|mix| {
        let bias = mix.bias.map(|axes| PyTuple::new(py, axes)).transpose()?;
        let (weight, fan_in) = (PyTuple::new(py, mix.weight)?, PyTuple::new(py, mix.fan_in)?);
        (mix.pre, mix.post, mix.einsum, weight, fan_in, bias).into_pyobject(py)
    });
    answer(py, parts).and_then(|(refusal, parts)| Ok((refusal, parts.transpose()?)))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(recipe, module)?)?;
    module.add_function(wrap_pyfunction!(steps, module)?)?;
    module.add_function(wrap_pyfunction!(misfit, module)?)?;
    module.add_function(wrap_pyfunction!(bad_length, module)?)?;
    module.add_function(wrap_pyfunction!(unknown_reduction, module)?)?;
    module.add_function(wrap_pyfunction!(rank, module)?)?;
    module.add_function(wrap_pyfunction!(einsum_letters, module)?)?;
    module.add_function(wrap_pyfunction!(einsum_misfit, module)?)?;
    module.add_function(wrap_pyfunction!(packing, module)?)?;
    module.add_function(wrap_pyfunction!(pack_misfit, module)?)?;
    module.add_function(wrap_pyfunction!(unpacked, module)?)?;
    module.add_function(wrap_pyfunction!(shape_names, module)?)?;
    module.add_function(wrap_pyfunction!(shape_misfit, module)?)?;
    module.add_function(wrap_pyfunction!(einmix, module)?)
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
