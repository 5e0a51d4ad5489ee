//! The core's patterns to Python's builtins: the list of what `einrs._einrs` exports.

mod cache;
mod call;
mod calling;
mod compile;
mod copy;
mod diagnose;
mod einsum;
mod entry;
mod frameworks;
mod guard;
mod ndarray;
mod numpy;
mod packing;
mod replay;
mod shape_names;
mod table;

use std::sync::atomic::{AtomicI64, Ordering};

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Works without the GIL: shared state is one mutex, under which no Python code runs, and atomics.
#[pymodule(gil_used = false)]
fn _einrs(module: &Bound<'_, PyModule>) -> PyResult<()> {
    refuse_second_interpreter()?;
    entry::add_operations(module)?;
    module.add_function(wrap_pyfunction!(table::cache_info, module)?)?;
    module.add_function(wrap_pyfunction!(table::cache_clear, module)?)?;
    diagnose::add(module)?;
    frameworks::add(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}

/// The table and the types are those of one interpreter: another one has other types.
fn refuse_second_interpreter() -> PyResult<()> {
    static FIRST: AtomicI64 = AtomicI64::new(-1);
    // SAFETY: a module is initialised attached to its interpreter.
    let id = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match FIRST.compare_exchange(-1, id, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != id => {
            Err(PyImportError::new_err("einrs can be loaded by one interpreter of a process only"))
        }
        _ => Ok(()),
    }
}
