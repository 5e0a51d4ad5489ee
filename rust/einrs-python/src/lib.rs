//! The core's patterns to Python's builtins: the list of what `einrs._einrs` exports.

mod cache;
mod call;
mod compile;
mod copy;
mod diagnose;
mod entry;
mod frameworks;
mod ndarray;
mod numpy;
mod replay;
mod table;

use pyo3::prelude::*;

/// Works without the GIL: shared state is one mutex, under which no Python code runs, and atomics.
#[pymodule(gil_used = false)]
fn _einrs(module: &Bound<'_, PyModule>) -> PyResult<()> {
    entry::add_operations(module)?;
    module.add_function(wrap_pyfunction!(table::cache_info, module)?)?;
    module.add_function(wrap_pyfunction!(table::cache_clear, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::recipe, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::misfit, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::length_type, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::unknown_reduction, module)?)?;
    module.add_function(wrap_pyfunction!(frameworks::register_numpy, module)?)?;
    module.add_function(wrap_pyfunction!(frameworks::register_steps, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
