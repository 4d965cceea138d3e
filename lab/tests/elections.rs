//! Elections explored exhaustively, as far as a test may take.

use exclusion::message::check::Timers;
use lab::explore::exploration::{Explorable, Explored, Explorer, ModelVisitor, Shown};
use lab::explore::scope::{Scope, with_check};

struct Explore;

impl ModelVisitor for Explore {
    type Output = Explored;

    fn visit<M>(self, name: &'static str, model: M) -> Explored
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        let explorer = Explorer { threads: 2, most_states: 20_000_000, progress: &|_, _| () };
        explorer.explore(name, model)
    }
}

fn explore(name: &str, scope: &Scope) -> Explored {
    with_check(name, scope, Explore).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
#[ignore = "scratch"]
fn scratch() {
    let args: Vec<String> =
        std::env::var("SCRATCH").unwrap().split(' ').map(str::to_owned).collect();
    let calls: Vec<u8> = args[1].split(',').map(|it| it.parse().unwrap()).collect();
    let scope = Scope::of(calls).with_faults(args[2].parse().unwrap(), args[3].parse().unwrap());
    let scope =
        Scope { timers: if args.len() > 4 { Timers::AnyTime } else { Timers::InTime }, ..scope };
    let explored = explore(&args[0], &scope);
    println!("{} {:.1} s", explored.markdown(), explored.seconds);
    for finding in explored.refuted() {
        println!(
            "{}:\n{}",
            finding.property,
            finding.counterexample.as_ref().map_or(String::new(), Shown::to_string)
        );
    }
}
