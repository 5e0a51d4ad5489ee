//! Tells the linker of macOS that Python's symbols are found when the module is loaded, and the
//! compiler whether this Python has a GIL.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    pyo3_build_config::add_extension_module_link_args();
}
