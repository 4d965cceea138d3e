//! The fences and read-modify-writes that the edges name are instructions of the program that
//! ships.
//!
//! Loom explores what the source says. A compiler may leave out what it takes for idle:
//! `fetch_or(0)` whose result is unused is no instruction at all on x86-64. So the library is
//! compiled to assembly once more, with a symbol around each operation (`machine_code.rs` of
//! `leased` and of `pooled`), and what stands there is counted. On x86-64 all of it is read. For
//! AArch64 the library is compiled too, where its standard library is installed, and each edge must
//! be the instruction that `docs/verification.md` says.
#![cfg(not(exclusion_loom))]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many instructions of a kind there must be.
#[derive(Clone, Copy, Debug)]
enum Count {
    Exactly(usize),
    /// Where the compiler may have reason to write a path down twice.
    AtLeast(usize),
}
use Count::{AtLeast, Exactly};

impl Count {
    fn allows(self, found: usize) -> bool {
        match self {
            Exactly(count) => found == count,
            AtLeast(count) => found >= count,
        }
    }
}

/// What a symbol must contain: numbers of full fences and of read-modify-writes, and the edges that
/// promise them.
struct Row {
    symbol: &'static str,
    fences: Count,
    writes: Count,
    edges: &'static [&'static str],
}

const fn row(
    symbol: &'static str,
    fences: Count,
    writes: Count,
    edges: &'static [&'static str],
) -> Row {
    Row { symbol, fences, writes, edges }
}

const NONE: Count = Exactly(0);
const ONE: Count = Exactly(1);
const TWO: Count = Exactly(2);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("asm_bakery_acquire", TWO, NONE, &["bakery::DOORWAY", "bakery::TURN"]),
    row("asm_bakery_release", NONE, NONE, &[]),
    row("asm_rw_bakery_read", TWO, NONE, &["bakery::DOORWAY", "bakery::TURN"]),
    row("asm_rw_bakery_read_of_two", TWO, NONE, &["bakery::DOORWAY", "bakery::TURN"]),
    row("asm_rw_bakery_write", TWO, NONE, &["bakery::DOORWAY", "bakery::TURN"]),
    row("asm_rw_bakery_release", NONE, NONE, &[]),
    row("asm_black_white_acquire", TWO, NONE, &["black_white::DOORWAY", "black_white::TURN"]),
    row("asm_black_white_release", NONE, NONE, &[]),
    row("asm_peterson_acquire", TWO, NONE, &["peterson::RAISE", "peterson::GIVE_WAY"]),
    row("asm_peterson_release", NONE, NONE, &[]),
    row("asm_peterson_swap_acquire", NONE, ONE, &["peterson_swap::TAKE", "peterson_swap::GIVE"]),
    row("asm_peterson_swap_release", NONE, NONE, &[]),
    row("asm_priority_acquire", ONE, NONE, &["priority::RAISE"]),
    row("asm_priority_release", NONE, NONE, &[]),

    // The uncontended lock and unlock. A release has a path with a seat and one without.
    row("asm_leased_acquire", NONE, ONE, &["leased::FIND_NOBODY"]),
    row("asm_leased_release", NONE, AtLeast(1), &["leased::LEAVE", "leased::LEAVE_HEARS"]),
    row("asm_leased_leave", NONE, ONE, &["leased::LEAVE", "leased::LEAVE_HEARS"]),
    row("asm_leased_pass", NONE, AtLeast(1), &["leased::PASS", "leased::FIND_NOBODY"]),
    row("asm_leased_take_seat", NONE, AtLeast(1), &["leased::TAKE_SEAT", "leased::FIND_NOBODY"]),
    row("asm_leased_step_in", NONE, AtLeast(1), &["leased::STEP_IN"]),
    row(
        "asm_leased_serve_hall",
        NONE,
        AtLeast(2),
        &["leased::TAKE_SEAT", "leased::LEAVE", "leased::LEAVE_HEARS"],
    ),

    row("asm_parking_meet", ONE, ONE, &["parking::TELL", "parking::SLEEP"]),
    row("asm_parking_wake", ONE, NONE, &["parking::WAKE"]),
    row("asm_parking_wake_fenced", NONE, NONE, &[]),

    // The uncontended lock and unlock of one word. What a release inlines leaves seat and line.
    row("asm_pooled_acquire", NONE, ONE, &["pooled::FIND_NOBODY"]),
    row("asm_pooled_release", NONE, AtLeast(1), &["pooled::LEAVE"]),
    row("asm_pooled_pass", NONE, AtLeast(1), &["pooled::PASS", "pooled::FIND_NOBODY"]),
    row("asm_pooled_join", NONE, AtLeast(2), &["pooled::BRING", "pooled::FIND_NOBODY"]),
    row("asm_pooled_step_in", AtLeast(1), AtLeast(2), &["pooled::STEP_IN", "waiting::SLEEP"]),
    row("asm_pooled_call", ONE, AtLeast(1), &["pooled::CALL"]),
    row("asm_pooled_leave_line", NONE, AtLeast(1), &["pooled::LAST_LEAVES", "pooled::LEAVE"]),

    row("asm_condition_enter", NONE, AtLeast(1), &["condition::ENTER"]),
    row("asm_condition_notify", AtLeast(1), AtLeast(3), &["condition::CLAIM"]),
    row("asm_condition_admit", AtLeast(1), AtLeast(1), &["condition::HAND_OVER"]),
    row("asm_condition_await", NONE, ONE, &["condition::AWAIT"]),

    row("asm_gate_try_enter", NONE, AtLeast(1), &["gate::ENTER"]),
    row("asm_gate_step_in", NONE, AtLeast(3), &["gate::STEP_IN", "gate::ANNOUNCE"]),
    row("asm_gate_upgrade", NONE, AtLeast(1), &["gate::UPGRADE"]),
    row("asm_gate_leave", NONE, ONE, &["gate::LEAVE"]),

    row("asm_pool_take", NONE, AtLeast(1), &["pool::TAKE", "pool::GIVE"]),
    row("asm_pool_give", NONE, AtLeast(1), &["pool::TAKE", "pool::GIVE"]),

    row("asm_slot_sit", NONE, ONE, &["slot::TAKE_SEAT"]),
    row("asm_slot_sit_and_post", NONE, ONE, &["slot::TAKE_SEAT"]),
    row("asm_slot_leave", NONE, ONE, &["slot::LEAVE_SEAT"]),
    row("asm_slot_take", NONE, ONE, &[]),
    row("asm_slot_finish", NONE, AtLeast(1), &["slot::FINISH"]),

    row("asm_waiting_wait", AtLeast(1), AtLeast(1), &["waiting::SLEEP"]),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Instruction {
    /// Orders everything before it against everything after it, and is for nothing else.
    FullFence,
    /// Reads and writes a word in one go; on x86-64 a full fence too.
    ReadModifyWrite,
}

/// What a line of assembly is, in AT&T's syntax. `lock or` of nothing to the own stack is how LLVM
/// likes to fence.
fn instruction(line: &str) -> Option<Instruction> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let locked = first == "lock";
    let name = if locked { words.next()? } else { first };
    let operands: String = words.collect();
    if name == "mfence" || locked && name.starts_with("or") && is_idle_on_stack(&operands) {
        Some(Instruction::FullFence)
    } else if locked || name.starts_with("xchg") && operands.contains('(') {
        Some(Instruction::ReadModifyWrite)
    } else {
        None
    }
}

fn is_idle_on_stack(operands: &str) -> bool {
    operands.starts_with("$0,") && operands.ends_with("(%rsp)")
}

/// A function of the assembly, or another name for one.
#[derive(Default, Debug)]
struct Function {
    /// What is counted of it, in order.
    instructions: Vec<Instruction>,
    /// How many instructions it has in all.
    length: usize,
    /// The function to which it jumps, if it does.
    jumps_to: Option<String>,
    /// The instructions that touch memory, by name.
    names: BTreeSet<String>,
}

/// How the table of edges names an instruction, if it touches memory. On x86-64 a load may be a
/// part of another instruction, which then counts as one. Suffixes that tell the size are left out.
fn name(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let second = words.next().unwrap_or_default();
    let without_size = |name: &str| name.trim_end_matches(['q', 'l']).to_owned();
    match first {
        "lock" => Some(format!("lock {}", without_size(second))),
        "dmb" => Some(format!("dmb {second}")),
        _ if line.contains("(%") && first.starts_with("xchg") => Some("xchg".to_owned()),
        _ if line.contains("(%") => Some("mov".to_owned()),
        _ if line.contains('[') => Some(first.to_owned()),
        _ => None,
    }
}

/// The functions of the assembly by their symbols.
fn functions(assembly: &str) -> BTreeMap<String, Function> {
    let mut functions = BTreeMap::<String, Function>::new();
    let mut name = None;
    // Some versions of LLVM write the prefix on a line of its own.
    let assembly = assembly.replace("\tlock\n", "\tlock");
    for line in assembly.lines() {
        if line.starts_with(".Lfunc_end") {
            name = None;
        } else if let Some(label) = line.strip_suffix(':').filter(|label| !label.starts_with('.')) {
            name = Some(label.trim_matches('"').to_owned());
        } else if let Some((alias, target)) = line.split_once(" = ") {
            let jumps_to = Some(target.trim_matches('"').to_owned());
            let alias = alias.trim_start_matches("\t.set").trim().trim_matches('"').to_owned();
            functions.insert(alias, Function { length: 1, jumps_to, ..Function::default() });
        } else if let Some(name) = &name
            && !line.trim().starts_with(['.', '#', '/'])
        {
            let function = functions.entry(name.clone()).or_default();
            function.length += 1;
            function.instructions.extend(instruction(line));
            function.names.extend(self::name(line));
            let jump = line.trim().strip_prefix("jmp").or(line.trim().strip_prefix("b\t"));
            let target = jump.map(|rest| rest.trim().trim_matches('"'));
            function.jumps_to = target.map(str::to_owned).or(function.jumps_to.take());
        }
    }
    functions
}

/// The instructions of a symbol; those of another if all it does is jump there, perhaps after it
/// has moved an argument.
fn body<'a>(functions: &'a BTreeMap<String, Function>, symbol: &str) -> &'a [Instruction] {
    &target_of(functions, symbol).instructions
}

fn target_of<'a>(functions: &'a BTreeMap<String, Function>, symbol: &str) -> &'a Function {
    let function = functions.get(symbol).unwrap_or_else(|| panic!("{symbol} is not there"));
    match &function.jumps_to {
        Some(target) if function.length <= 2 && !target.starts_with('.') => {
            target_of(functions, target)
        }
        _ => function,
    }
}

/// Compiles the library as it ships, with the symbols, and returns the assembly.
fn assembly(options: &[&str], flags: &[&str]) -> String {
    // What was asked for is a part of the name: two tests may compile at the same time.
    let folder = format!("machine_code{}", options.last().unwrap_or(&""));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&directory).expect("a folder below target");
    let file = directory.join("exclusion.s");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["rustc", "--quiet", "--locked", "--release", "--lib", "--package", "exclusion"])
        .args(["--no-default-features", "--features", "std", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&directory)
        .args(options)
        .args(["--", "--cfg", "exclusion_asm", "-C", "codegen-units=1"])
        .args(flags)
        .arg("--emit")
        .arg(format!("asm={}", file.display()))
        .output()
        .expect("cargo can be run");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the library does not compile to assembly:\n{complaints}");
    std::fs::read_to_string(file).expect("assembly")
}

#[test]
fn each_fence_and_each_read_modify_write_is_an_instruction() {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("skipped: only the instructions of x86-64 are known here");
        return;
    }
    let functions = functions(&assembly(&[], &[]));
    are_as_documented(&functions, "x86-64");
    for Row { symbol, fences, writes, edges } in ROWS {
        let body = body(&functions, symbol);
        let count = |kind| body.iter().filter(|found| **found == kind).count();
        for (kind, expected) in
            [(Instruction::FullFence, fences), (Instruction::ReadModifyWrite, writes)]
        {
            let found = count(kind);
            assert!(
                expected.allows(found),
                "{symbol}, with {edges:?}: {found} of {kind:?}, not {expected:?}"
            );
        }
    }

    // Before a thread falls asleep beside its seat, it announces itself, and then fences.
    for symbol in ["asm_pooled_step_in", "asm_waiting_wait"] {
        let body = body(&functions, symbol);
        let mut fences = 0;
        for (before, fence) in body.iter().zip(&body[1..]) {
            if *fence == Instruction::FullFence {
                assert_eq!(*before, Instruction::ReadModifyWrite, "{symbol}: {body:?}");
                fences += 1;
            }
        }
        assert!(fences > 0 && body[0] != Instruction::FullFence, "{symbol}: {body:?}");
    }

    // Wherever a waiter falls asleep in a lot: it counts itself, meets the leavers, and fences,
    // before the queue is touched.
    let parks: Vec<_> = functions.iter().filter(|(name, _)| name.contains("3Lot4park")).collect();
    assert!(!parks.is_empty(), "nobody ever sleeps");
    for (name, park) in parks {
        use Instruction::{FullFence, ReadModifyWrite};
        let first = &park.instructions[..3.min(park.instructions.len())];
        assert_eq!(first, [ReadModifyWrite, ReadModifyWrite, FullFence], "{name}");
    }
}

/// The sources of the lock half.
fn sources(folder: PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder of sources");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                sources(path)
            } else {
                vec![std::fs::read_to_string(path).expect("a source")]
            }
        })
        .collect()
}

/// Where loads and stores stand that are edges.
#[rustfmt::skip]
const PLAIN: &[(&str, &[&str])] = &[
    ("asm_bakery_release", &["bakery::LEAVE"]),
    ("asm_rw_bakery_release", &["bakery::LEAVE"]),
    ("asm_black_white_release", &["black_white::LEAVE"]),
    ("asm_peterson_acquire", &["peterson::SEE_DOWN"]),
    ("asm_peterson_release", &["peterson::LOWER"]),
    ("asm_peterson_swap_acquire", &["peterson_swap::SEE_DOWN", "peterson_swap::WITHDRAW"]),
    ("asm_peterson_swap_release", &["peterson_swap::LOWER"]),
    ("asm_priority_acquire", &["priority::SEE_DOWN"]),
    ("asm_priority_release", &["priority::LOWER"]),
    ("asm_pooled_pass", &["pooled::JOIN"]),
    ("asm_pooled_step_in", &["slot::SEE_DONE"]),
];

/// Where a contender waits, which is compiled apart from the rest.
const WAITS: [&str; 7] = [
    "bakery::LOOK",
    "black_white::LOOK",
    "peterson::AWAIT_DOWN",
    "peterson::AWAIT_TURN",
    "peterson_swap::AWAIT_DOWN",
    "peterson_swap::AWAIT_TURN",
    "priority::AWAIT_DOWN",
];

/// What the table of the documentation says that each edge becomes on that processor.
fn documented(processor: &str) -> BTreeMap<String, Vec<String>> {
    let page = include_str!("../docs/verification.md");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let heading = page.lines().find(|line| line.starts_with("| edge | ordering")).expect("a table");
    let column = cells(heading).iter().position(|cell| cell == processor).expect("a column");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(cells)
        .map(|row| {
            let names = row[column].split(", ").map(|name| name.trim_matches('`').to_owned());
            (row[0].trim_matches('`').to_owned(), names.collect())
        })
        .collect()
}

/// Each edge is one of the instructions that the table names, wherever it stands.
fn are_as_documented(functions: &BTreeMap<String, Function>, processor: &str) {
    let documented = documented(processor);
    let mut read = BTreeSet::new();
    let writes = ROWS.iter().map(|row| (row.symbol, row.edges));
    for (symbol, edges) in writes.chain(PLAIN.iter().copied()) {
        let names = &target_of(functions, symbol).names;
        for edge in edges {
            let wanted = &documented[*edge];
            let found = wanted.iter().any(|name| names.contains(name));
            assert!(found, "{edge} in {symbol}: none of {wanted:?} is among {names:?}");
            read.insert((*edge).to_owned());
        }
    }
    let mut waits = functions.iter().filter(|(name, _)| name.contains("Elsewhere"));
    for edge in WAITS {
        let wanted = &documented[edge];
        let found = waits.clone().any(|(_, wait)| wanted.iter().any(|it| wait.names.contains(it)));
        assert!(found, "{edge}: none of {wanted:?} where contenders wait");
        read.insert(edge.to_owned());
    }
    assert!(waits.next().is_some(), "nobody waits");
    // The others are loads and stores that are compiled into something larger.
    for (edge, names) in documented.iter().filter(|(edge, _)| !read.contains(*edge)) {
        let is_plain = ["mov", "ldar", "stlr"].contains(&&*names[0]) && names.len() == 1;
        assert!(is_plain, "{edge} is not read");
    }
}

#[test]
fn each_edge_is_the_instruction_of_the_table_on_aarch64() {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let folder =
        Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = folder.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    if !folder.is_ok_and(|folder| Path::new(&folder).exists()) {
        eprintln!("skipped: to read it, `rustup target add {TARGET}`");
        return;
    }
    // With the read-modify-writes of Armv8.1. Without, they are calls of the compiler's library.
    let assembly = assembly(&["--target", TARGET], &["-C", "target-feature=+lse"]);
    are_as_documented(&functions(&assembly), "AArch64");
}

/// The edges that must be instructions: full fences, and the two halves of a read-modify-write.
#[test]
fn no_edge_that_must_be_an_instruction_is_left_out() {
    let mut needed = BTreeSet::new();
    for source in sources(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lock")) {
        let Some((_, block)) = source.split_once("edges! { \"") else { continue };
        let (block, rest) = block.split_once("\n}").expect("the end of the edges");
        let (file, edges) = block.split_once('"').expect("the name of the file");
        for (name, kind) in edges.lines().filter_map(|line| line.trim().split_once(" = ")) {
            let halves = [format!("{name}.with("), format!(".with({name})")];
            let is_fence = kind == "Fence;";
            let is_half = halves.iter().any(|half| rest.contains(half));
            // Here an access that carries an edge is a read-modify-write, if it is no load or
            // store.
            let has_words = ["leased", "parking", "pooled", "pool", "slot", "condition", "gate"]
                .contains(&file);
            let mut accesses =
                [".load(", ".store("].into_iter().flat_map(|name| rest.split(name).skip(1));
            let is_plain = accesses.any(|access| {
                let operands = access.lines().next().unwrap_or_default();
                let mut words = operands.split(|c: char| c != '_' && !c.is_alphanumeric());
                words.any(|word| word == name)
            });
            if is_fence || is_half || has_words && !is_plain {
                needed.insert(format!("{file}::{name}"));
            }
        }
    }
    let read: BTreeSet<_> =
        ROWS.iter().flat_map(|row| row.edges).map(|edge| (*edge).to_owned()).collect();
    assert_eq!(needed, read);
}

#[test]
fn what_is_no_fence_is_not_taken_for_one() {
    use Instruction::{FullFence, ReadModifyWrite};
    assert_eq!(instruction("\tlock\t\torl\t$0, -64(%rsp)"), Some(FullFence));
    assert_eq!(instruction("\tmfence"), Some(FullFence));
    assert_eq!(instruction("\tlock\t\torq\t%rax, 8(%rdi)"), Some(ReadModifyWrite));
    assert_eq!(instruction("\tlock\t\tcmpxchgq\t%rcx, 512(%rdi)"), Some(ReadModifyWrite));
    assert_eq!(instruction("\txchgq\t%rax, 16(%rdi)"), Some(ReadModifyWrite));
    assert_eq!(instruction("\txchgq\t%rax, %rcx"), None);
    assert_eq!(instruction("\torl\t$0, -64(%rsp)"), None);
    assert_eq!(instruction("\tlfence"), None);
    assert_eq!(name("\tlock\t\tcmpxchgq\t%rcx, 512(%rdi)").as_deref(), Some("lock cmpxchg"));
    assert_eq!(name("\tmovq\t$0, (%rdi)").as_deref(), Some("mov"));
    assert_eq!(name("\tmovq\t%rax, %rdi"), None);
    assert_eq!(name("\tldar\tx8, [x0]").as_deref(), Some("ldar"));
    assert_eq!(name("\tdmb\tish").as_deref(), Some("dmb ish"));
    let assembly = "name:\n\tlock\n\tincq\t(%rdi)\n\t#MEMBARRIER\n\tretq\n.Lfunc_end0:\n\tmfence\n\
                    other:\n\t.cfi_startproc\n\tjmp\tname\n.Lfunc_end1:\nalias = other\n";
    let functions = functions(assembly);
    assert_eq!(functions["name"].length, 2);
    assert_eq!(body(&functions, "name"), [ReadModifyWrite]);
    assert_eq!(body(&functions, "other"), [ReadModifyWrite]);
    assert_eq!(body(&functions, "alias"), [ReadModifyWrite]);
}
