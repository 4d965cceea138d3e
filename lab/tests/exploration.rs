//! Every algorithm explored exhaustively, as far as a test may take: `lab check --all` goes further.

use exclusion::check::{Check, Timers};
use exclusion::protocol::{Channels, Protocol};
use lab::broken::{BROKEN, BrokenVisitor, FAIR, visit};
use lab::exploration::{
    EXPLORABLE, Explorable, Explored, Explorer, ModelVisitor, Scope, all, with_check,
};

struct Explore;

impl ModelVisitor for Explore {
    type Output = Explored;

    fn visit<M>(self, name: &'static str, model: M) -> Explored
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        let explorer = Explorer { threads: 2, most_states: 5_000_000, progress: &|_, _| () };
        explorer.explore(name, model)
    }
}

fn explore(name: &str, scope: Scope) -> Explored {
    with_check(name, scope, Explore).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn assert_holds(explored: &Explored) {
    if let Some(finding) = explored.refuted().next() {
        let how = finding.counterexample.as_deref().unwrap_or("it never happens");
        panic!("{}: '{}' does not hold:\n{how}", explored.algorithm, finding.property);
    }
    assert_eq!(explored.verdict, "holds", "{}", explored.algorithm);
}

#[test]
fn two_nodes_that_want_in_twice() {
    for name in EXPLORABLE {
        assert_holds(&explore(name, Scope::new(2, 2)));
    }
}

#[test]
fn three_nodes_that_want_in_once() {
    for name in EXPLORABLE {
        assert_holds(&explore(name, Scope::new(3, 1)));
    }
}

#[test]
fn three_nodes_that_want_in_twice_where_that_is_soon_explored() {
    for name in
        ["central_coordinator", "raymond", "naimi_trehel", "naimi_trehel_queue", "token_ring"]
    {
        assert_holds(&explore(name, Scope::new(3, 2)));
    }
    for name in
        ["singhal_heuristic", "singhal_dynamic", "maekawa_circle", "banta_efficient", "banta_k"]
    {
        assert_holds(&explore(name, Scope::new(3, 2)));
    }
}

fn refuted(explored: &Explored) -> Vec<&'static str> {
    explored.refuted().map(|finding| finding.property).collect()
}

#[test]
fn lamport_without_order_lets_two_in() {
    let scope = Scope { channels: Some(Channels::AnyOrder), ..Scope::new(2, 2) };
    let explored = explore("lamport", scope);
    assert_eq!(explored.verdict, "refuted");
    assert!(refuted(&explored).contains(&"mutual exclusion"));
    let finding = explored.refuted().find(|finding| finding.property == "mutual exclusion");
    let trace = finding.unwrap().counterexample.as_deref().unwrap();
    assert!(trace.ends_with("enters\n"), "{trace}");
}

#[test]
fn with_timers_at_any_moment_strict_has_a_dead_end_and_hardened_does_not() {
    let late = |nodes, requests| Scope { timers: Timers::AnyTime, ..Scope::new(nodes, requests) };
    assert_eq!(refuted(&explore("banta_efficient", late(3, 1))), ["no dead end"]);
    assert_holds(&explore("banta_efficient_hardened", late(3, 1)));
    assert_holds(&explore("banta_k_hardened", late(3, 1)));
}

#[test]
fn an_exploration_that_is_cut_short_does_not_say_that_it_holds() {
    let scope = Scope::new(3, 1);
    struct Cut;
    impl ModelVisitor for Cut {
        type Output = Explored;
        fn visit<M>(self, name: &'static str, model: M) -> Explored
        where
            M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
        {
            let explorer = Explorer { threads: 1, most_states: 100, progress: &|_, _| () };
            explorer.explore(name, model)
        }
    }
    let explored = with_check("ricart_agrawala", scope, Cut).unwrap();
    assert_eq!(explored.verdict, "unfinished");
}

impl BrokenVisitor for Explore {
    type Output = Explored;

    fn visit<P>(self, check: Check<P>) -> Explored
    where
        P: Protocol<Message: Send + Sync> + Send + Sync + 'static,
    {
        ModelVisitor::visit(self, "broken", check)
    }
}

#[test]
fn every_broken_variant_is_refuted_as_expected() {
    for broken in BROKEN {
        let explored = visit(broken.name, Explore).expect("it is listed");
        assert_eq!(explored.verdict, "refuted", "{}: {}", broken.name, broken.why);
        for violated in broken.violates {
            assert!(refuted(&explored).contains(violated), "{}: '{violated}' holds", broken.name);
        }
    }
    for fair in FAIR {
        assert_holds(&visit(fair, Explore).expect("it is listed"));
    }
}

#[test]
fn the_documentation_has_every_exploration_and_its_states() {
    let page = include_str!("../../docs/explored.md");
    for (name, scope) in all() {
        let row =
            format!("| `{name}` | {} | {}", scope.nodes, scope.requests + scope.more_of_first);
        assert!(page.contains(&row), "'{row}' is missing");
    }
    for broken in BROKEN {
        assert!(
            page.contains(&format!("| `{}` | {} |", broken.name, broken.why)),
            "{}",
            broken.name
        );
    }
    for name in EXPLORABLE {
        let Explored { nodes, requests, channels, states, .. } = explore(name, Scope::new(2, 2));
        let row = format!("| `{name}` | {nodes} | {requests} | {channels} | {states} |");
        assert!(page.contains(&row), "'{row}' is not in the table");
    }
}
