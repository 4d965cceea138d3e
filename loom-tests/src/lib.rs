//! The models that loom explores, and how they are run and counted.
//!
//! A model is an ordinary function over the shipped types. [`hold`] runs it to the end of its search
//! and prints how many executions that took; [`refuted`] runs it with one edge weakened and wants
//! loom to find an execution that goes wrong.

pub mod models;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// How much of a model loom explores.
#[derive(Clone, Copy)]
pub enum Search {
    /// Every execution.
    Exhaustive,
    /// Every execution in which threads are preempted at most so often in all. Not exhaustive.
    Preemptions(usize),
}

fn explore(search: Search, model: fn(), executions: &Arc<AtomicUsize>) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 100_000;
    builder.preemption_bound = match search {
        Search::Exhaustive => None,
        Search::Preemptions(most) => Some(most),
    };
    let executions = Arc::clone(executions);
    builder.check(move || {
        executions.fetch_add(1, Relaxed);
        model();
    });
}

/// Runs `model`, which must hold in every execution searched.
pub fn hold(name: &str, search: Search, model: fn()) {
    let executions = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    explore(search, model, &executions);
    let searched = match search {
        Search::Exhaustive => "exhaustive".to_owned(),
        Search::Preemptions(most) => format!("at most {most} preemptions"),
    };
    report(name, "holds", &searched, &executions, start);
}

/// Runs `model` with the edge weakened, which loom must refute.
pub fn refuted(edge: &'static str, search: Search, model: fn()) {
    let executions = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let outcome = exclusion::edge::weaken(edge, || {
        quietly(|| catch_unwind(AssertUnwindSafe(|| explore(search, model, &executions))))
    });
    let Err(panic) = outcome else {
        panic!("{edge} can be weakened without loom noticing in {} executions", executions.load(Relaxed));
    };
    let found = panic.downcast_ref::<String>().map(String::as_str);
    let found = found.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    // A model that outgrows loom refutes nothing.
    assert!(!found.contains("exceeded maximum number of"), "{edge}: {found}");
    report(edge, "refuted", found.lines().next().unwrap_or_default(), &executions, start);
}

/// Straight to stderr, past the test harness, which would keep it from who runs the tests.
fn report(name: &str, verdict: &str, how: &str, executions: &AtomicUsize, start: Instant) {
    let executions = executions.load(Relaxed);
    let seconds = start.elapsed().as_secs_f64();
    let line = format!("{verdict:8} {name:44} {executions:9} executions {seconds:7.2} s  {how}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("stderr is writable");
}

/// Without the panic messages of executions that are meant to fail.
fn quietly<R>(run: impl FnOnce() -> R) -> R {
    use std::cell::Cell;
    use std::sync::Once;
    thread_local!(static QUIET: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    QUIET.set(true);
    let result = run();
    QUIET.set(false);
    result
}
