//! Owned seats need loads, stores and fences, and no read-modify-write: what the compiler makes of
//! `no-std-test` is read.
//!
//! The registers have no read-modify-write method, so the source cannot name one. This test shows
//! that none comes in otherwise: from the seats, from a dependency, or from the compiler. What is
//! read is the LLVM IR of the program after all its crates have become one module, in which every
//! atomic operation is an instruction of its own, whatever the target.
#![cfg(not(exclusion_loom))]

use std::path::Path;
use std::process::Command;

/// The atomic instructions of a module.
#[derive(Debug, Default)]
struct Atomics {
    loads: usize,
    stores: usize,
    fences: usize,
    read_modify_writes: Vec<String>,
}

impl Atomics {
    fn of(module: &str) -> Self {
        let mut atomics = Self::default();
        for line in module.lines().map(str::trim) {
            // Names of functions and texts may say anything.
            let operation = line.split_once(" = ").map_or(line, |(_, operation)| operation);
            let operation = operation.trim_start_matches("tail ");
            let mut words = operation.split_whitespace();
            match (words.next(), words.next()) {
                (Some("load"), Some("atomic")) => atomics.loads += 1,
                (Some("store"), Some("atomic")) => atomics.stores += 1,
                (Some("fence"), _) => atomics.fences += 1,
                (Some("atomicrmw" | "cmpxchg"), _) => {
                    atomics.read_modify_writes.push(line.to_owned());
                }
                // What a target without an instruction of its own calls instead.
                (Some("call"), _) if operation.contains("@__atomic_") => {
                    atomics.read_modify_writes.push(line.to_owned());
                }
                (Some("call"), _) if operation.contains("@__sync_") => {
                    atomics.read_modify_writes.push(line.to_owned());
                }
                _ => {}
            }
        }
        atomics
    }
}

/// Compiles `no-std-test` with these features, and returns its LLVM IR.
fn module(name: &str, features: &str) -> String {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_compare_and_swap");
    std::fs::create_dir_all(&directory).expect("a folder below target");
    let file = directory.join(format!("{name}.ll"));
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("no-std-test/Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["rustc", "--quiet", "--locked", "--release", "--lib", "--no-default-features"])
        .args(["--features", features, "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&directory)
        .args(["--", "--emit"])
        .arg(format!("llvm-ir={}", file.display()))
        .output()
        .expect("cargo can be run");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "it does not compile to LLVM IR:\n{complaints}");
    std::fs::read_to_string(file).expect("LLVM IR")
}

#[test]
fn owned_seats_need_loads_stores_and_fences_only() {
    let module = module("owned", "");
    for lock in ["bakery", "padded_bakery", "black_white_bakery", "peterson", "priority"] {
        assert!(module.contains(&format!("@visit_{lock}(")), "{lock} is not there");
    }
    for lock in ["tournament", "tournament_of_priority_nodes", "rw_bakery", "rw_bakery_of_two"] {
        assert!(module.contains(&format!("@visit_{lock}(")), "{lock} is not there");
    }
    let atomics = Atomics::of(&module);
    assert!(atomics.loads > 20 && atomics.stores > 20 && atomics.fences > 10, "{atomics:?}");
    assert!(atomics.read_modify_writes.is_empty(), "{atomics:#?}");
}

#[test]
fn a_swap_and_a_compare_and_swap_would_be_noticed() {
    let found = |features: &str| Atomics::of(&module(features, features)).read_modify_writes;
    let swap = found("swap");
    assert!(swap.iter().all(|line| line.contains("atomicrmw xchg")), "{swap:#?}");
    assert!(!swap.is_empty(), "Peterson's lock with a swap has none");
    let drop_in = found("drop-in");
    assert!(drop_in.iter().any(|line| line.contains("cmpxchg")), "{drop_in:#?}");
}

#[test]
fn what_is_an_atomic_instruction_is_known() {
    let module = "  %1 = load atomic i64, ptr %0 acquire, align 8\n  store atomic i64 1, ptr %0 \
                  monotonic, align 8\n  fence seq_cst\n  %2 = atomicrmw xchg ptr %0, i64 1 \
                  monotonic, align 8\n  %3 = cmpxchg weak ptr %0, i64 0, i64 1 acquire monotonic\n  \
                  %4 = tail call i32 @__atomic_fetch_add_4(ptr %0)\n  store i64 1, ptr %0\n  call \
                  void @_ZN7cmpxchgE()\n; cmpxchg in a comment\n";
    let atomics = Atomics::of(module);
    assert_eq!((atomics.loads, atomics.stores, atomics.fences), (1, 1, 1));
    assert_eq!(atomics.read_modify_writes.len(), 3);
}
