//! CPython's calls to the native code: the builtins, their documentation, and the barrier that no
//! panic crosses.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use pyo3::ffi::{self, PyMethodDef, PyMethodDefPointer};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::call::{Call, Function, Object};
use crate::calling::vectorcall;
use crate::{frameworks, packing, replay, shape_names};

/// The raw arguments of a builtin: `args`, how many of them are positional, and the names of the
/// others.
type Arguments = (*const Object, usize, Object);

/// A function of `einrs._ops` by its name, imported when it is first needed.
struct Readable {
    name: &'static str,
    function: PyOnceLock<Py<PyAny>>,
}

impl Readable {
    const fn new(name: &'static str) -> Self {
        Self { name, function: PyOnceLock::new() }
    }
}

/// Two builtins on one C function compare equal and hash alike, so each has its own. What the
/// native code leaves alone goes to the function of the same name in `einrs._ops`.
macro_rules! entry_point {
    ($name:ident, $native:path, $what:expr) => {
        unsafe extern "C" fn $name(
            _module: Object,
            args: *const Object,
            positional: ffi::Py_ssize_t,
            kwnames: Object,
        ) -> Object {
            static READABLE: Readable = Readable::new(stringify!($name));
            // SAFETY: CPython calls a builtin attached, with its arguments alive.
            caught(|| unsafe {
                let arguments = (args, positional.cast_unsigned(), kwnames);
                let py = Python::assume_attached();
                $native(py, $what, arguments).unwrap_or_else(|| readably(&READABLE, arguments))
            })
        }
    };
}

/// # Safety
/// The arguments must be those of the running builtin.
#[inline(always)]
unsafe fn transform(
    py: Python<'_>,
    function: Function,
    (args, positional, kwnames): Arguments,
) -> Option<Object> {
    // SAFETY: the caller's contract.
    let call = unsafe { Call::read(function, args, positional, kwnames)? };
    replay::run(py, &call)
}

/// # Safety
/// The arguments must be those of the running builtin.
#[inline(always)]
unsafe fn layer(
    py: Python<'_>,
    function: Function,
    (args, positional, kwnames): Arguments,
) -> Option<Object> {
    if !kwnames.is_null() {
        return None;
    }
    // SAFETY: the caller's contract.
    let call = unsafe { Call::read_layer(function, args, positional)? };
    replay::run(py, &call)
}

/// # Safety
/// None is needed: the signature is that of the others.
unsafe fn panics(_py: Python<'_>, (): (), _arguments: Arguments) -> Option<Object> {
    panic!("a panic on purpose")
}

/// `run` with the positional arguments; none if there are others.
///
/// # Safety
/// The arguments must be those of the running builtin.
unsafe fn positional_only(
    py: Python<'_>,
    run: unsafe fn(Python<'_>, *const Object, usize) -> Option<Object>,
    (args, positional, kwnames): Arguments,
) -> Option<Object> {
    if !kwnames.is_null() {
        return None;
    }
    // SAFETY: the caller's contract.
    unsafe { run(py, args, positional) }
}

entry_point!(rearrange, transform, Function::Rearrange);
entry_point!(reduce, transform, Function::Reduce);
entry_point!(repeat, transform, Function::Repeat);
entry_point!(layer_rearrange, layer, Function::Rearrange);
entry_point!(layer_reduce, layer, Function::Reduce);
entry_point!(layer_repeat, layer, Function::Repeat);
entry_point!(einsum, positional_only, crate::einsum::run);
entry_point!(pack, positional_only, packing::pack);
entry_point!(unpack, positional_only, packing::unpack);
entry_point!(parse_shape, positional_only, shape_names::run);
entry_point!(asnumpy, positional_only, frameworks::asnumpy);
// What the tests call to see that a panic becomes an exception.
entry_point!(panic, panics, ());

struct Definition(PyMethodDef);

// SAFETY: the definitions are constant; CPython only reads them.
unsafe impl Sync for Definition {}

const fn definition(
    name: &'static CStr,
    function: ffi::PyCFunctionFastWithKeywords,
    doc: &'static CStr,
) -> Definition {
    Definition(PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: PyMethodDefPointer { PyCFunctionFastWithKeywords: function },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: doc.as_ptr(),
    })
}

/// The text of a documentation file as a C string.
macro_rules! documentation {
    ($file:literal) => {
        match CStr::from_bytes_with_nul(concat!(include_str!($file), "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("the documentation contains a NUL"),
        }
    };
}

static DEFINITIONS: [Definition; 12] = [
    definition(c"rearrange", rearrange, documentation!("docs/rearrange.txt")),
    definition(c"reduce", reduce, documentation!("docs/reduce.txt")),
    definition(c"repeat", repeat, documentation!("docs/repeat.txt")),
    definition(c"einsum", einsum, documentation!("docs/einsum.txt")),
    definition(c"pack", pack, documentation!("docs/pack.txt")),
    definition(c"unpack", unpack, documentation!("docs/unpack.txt")),
    definition(c"parse_shape", parse_shape, documentation!("docs/parse_shape.txt")),
    definition(c"asnumpy", asnumpy, documentation!("docs/asnumpy.txt")),
    definition(c"layer_rearrange", layer_rearrange, documentation!("docs/layer_rearrange.txt")),
    definition(c"layer_reduce", layer_reduce, documentation!("docs/layer_reduce.txt")),
    definition(c"layer_repeat", layer_repeat, documentation!("docs/layer_repeat.txt")),
    definition(c"_panic", panic, c"_panic()\n--\n\nPanics, for the tests."),
];

/// The layers' entry points are private: they live in the extension.
const PRIVATE: &str = "layer_";

/// Adds the builtins. Public ones say `einrs` is their module, so that they pickle by their public
/// name.
pub(crate) fn add_operations(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let (public, private) = (PyString::intern(py, "einrs"), PyString::intern(py, "einrs._einrs"));
    for Definition(definition) in &DEFINITIONS {
        // SAFETY: each definition has a name.
        let name = unsafe { CStr::from_ptr(definition.ml_name) }.to_string_lossy();
        let home = if name.starts_with(PRIVATE) { &private } else { &public };
        let method = (&raw const *definition).cast_mut();
        // SAFETY: the definition is static, and `home` is alive; the result is ours.
        let function = unsafe {
            let builtin = ffi::PyCFunction_NewEx(method, null_mut(), home.as_ptr());
            Bound::from_owned_ptr_or_err(py, builtin)?
        };
        module.add(&*name, function)?;
    }
    Ok(())
}

fn caught(run: impl FnOnce() -> Object) -> Object {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(payload) => report(&*payload),
    }
}

#[cold]
fn report(payload: &(dyn std::any::Any + Send)) -> Object {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = format!(
        "einrs has a bug: {}. Please report it with the pattern and the shape: {}/issues",
        text.unwrap_or("a panic without a message"),
        env!("CARGO_PKG_REPOSITORY"),
    );
    // SAFETY: CPython calls a builtin attached.
    let py = unsafe { Python::assume_attached() };
    pyo3::exceptions::PyRuntimeError::new_err(message).restore(py);
    null_mut()
}

/// Calls the function of the same name in `einrs._ops`, which accepts all that einops accepts,
/// replays readably and words every error.
///
/// # Safety
/// The arguments must be those of the running builtin, and we must be attached.
#[cold]
unsafe fn readably(readable: &Readable, (args, positional, kwnames): Arguments) -> Object {
    // SAFETY: the caller's contract. Without the guard of `Python::attach` no destructor of ours
    // needs the GIL if the call never comes back.
    let py = unsafe { Python::assume_attached() };
    let target = match readable.function.get(py) {
        Some(target) => Ok(target.bind(py).clone()),
        // Not inside the cell: the import may run code that comes back here.
        None => import_readable(py, readable.name).inspect(|target| {
            let _ = readable.function.set(py, target.clone().unbind());
        }),
    };
    match target {
        // SAFETY: the arguments are alive, and a `str` tuple names the last ones.
        Ok(target) => unsafe { vectorcall(target.as_ptr(), args, positional, kwnames) },
        Err(error) => {
            error.restore(py);
            null_mut()
        }
    }
}

fn import_readable<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    PyModule::import(py, "einrs._ops")?.getattr(name)
}
