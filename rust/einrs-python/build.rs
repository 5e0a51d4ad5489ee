//! Tells the linker of macOS that Python's symbols are found when the module is loaded.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
