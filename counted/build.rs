//! Has the sources of the locks compiled for counted registers, here and nowhere else.

fn main() {
    println!("cargo::rustc-cfg=exclusion_count");
    println!("cargo::rerun-if-changed=build.rs");
}
