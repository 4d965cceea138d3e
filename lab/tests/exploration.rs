//! Every algorithm explored exhaustively, as far as a test may take: `lab check --all` goes
//! further.

use exclusion::message::check::{Check, Users};
use exclusion::message::{CentralCoordinator, Channels, NodeId, Raymond, RicartAgrawala, Trace};
use lab::draw::diagram::{Diagram, Unit};
use lab::draw::violation::Verdict;
use lab::explore::broken::{BROKEN, with_broken, with_mended};
use lab::explore::exploration::{Explorable, Explored, Explorer, ModelVisitor, Shown, in_words};
use lab::explore::scope::{Scope, with_check};
use lab::explore::scopes::{all, soon};

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
    with_check(name, &scope, Explore).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn assert_holds(explored: &Explored) {
    if let Some(finding) = explored.refuted().next() {
        let how = finding.counterexample.as_ref().map(Shown::to_string);
        let how = how.as_deref().unwrap_or("it never happens");
        panic!("{}: '{}' does not hold:\n{how}", explored.algorithm, finding.property);
    }
    assert_eq!(explored.verdict, "holds", "{}", explored.algorithm);
}

/// A row of a table in the documentation, without its depth: that is not the same each time.
fn row(columns: &[&str]) -> String {
    columns.iter().map(|column| format!("| {column} ")).collect()
}

#[test]
fn what_is_soon_explored_holds_and_is_in_the_documentation() {
    let page = include_str!("../../docs/explored.md");
    let soon = soon();
    assert!(soon.len() >= 120, "only {} are", soon.len());
    for (name, scope) in soon {
        let explored = explore(name, scope);
        assert_holds(&explored);
        let markdown = explored.markdown();
        let columns: Vec<_> = markdown.trim_matches(['|', ' ']).split(" | ").collect();
        let [what @ .., _depth, claims, verdict] = &columns[..] else { panic!("{markdown}") };
        let (head, tail) = (row(what), row(&[claims, verdict]));
        let is_it = |line: &&str| line.starts_with(&head) && line.contains(&tail);
        assert!(page.lines().any(|line| is_it(&line)), "'{markdown}' is not in the table");
    }
}

/// Names what a model claims.
struct Claims;

impl ModelVisitor for Claims {
    type Output = Vec<&'static str>;

    fn visit<M>(self, _: &'static str, model: M) -> Self::Output
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        model.properties().into_iter().map(|property| property.name).collect()
    }
}

#[test]
fn where_messages_are_quick_a_bound_on_bypassing_is_claimed() {
    let quick = all().into_iter().filter(|(_, scope)| scope.users == Users::Unhurried);
    for (name, scope) in quick {
        let claims = with_check(name, &scope, Claims).expect("it can be explored");
        assert!(claims.contains(&"bypass"), "{name}, {:?}", scope.requests);
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
    let trace = finding.unwrap().counterexample.as_ref().unwrap().to_string();
    assert!(trace.ends_with("enters\n"), "{trace}");
}

#[test]
fn with_timers_at_any_moment_strict_deadlocks_and_hardened_does_not() {
    let late = || Scope::new(3, 1).late();
    assert_eq!(refuted(&explore("banta_efficient", late())), ["no deadlock"]);
    assert_holds(&explore("banta_efficient_hardened", late()));
    assert_holds(&explore("banta_k_hardened", late()));
}

#[test]
fn as_many_may_be_inside_as_is_said() {
    let at = |entries| explore("raymond_k", Scope { entries, ..Scope::new(3, 1) });
    let [one, two, usual] = [Some(1), Some(2), None].map(at);
    assert_eq!((one.entries_at_a_time, two.entries_at_a_time), (1, 2));
    assert_eq!((one.label(), two.label()), ("raymond_k".into(), "raymond_k, k = 2".into()));
    assert!(one.states < two.states, "with k = 2 more can happen");
    assert_eq!(usual.states, two.states);
    [one, two].iter().for_each(assert_holds);
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
    let explored = with_check("ricart_agrawala", &scope, Cut).unwrap();
    assert_eq!(explored.verdict, "unfinished");
}

#[test]
fn every_broken_variant_is_refuted_in_what_it_violates() {
    for broken in BROKEN {
        let explored = with_broken(broken.name, Explore).expect("it is listed");
        assert_eq!(explored.verdict, "refuted", "{}: {}", broken.name, broken.why);
        let wrong = refuted(&explored);
        assert!(wrong.contains(&broken.violates), "{}: {wrong:?}", broken.name);
        if let Some(Shown::Trace(trace)) = broken.counterexample(&explored) {
            assert_ends_in_a_violation(trace, broken.violates, explored.nodes);
        }
    }
}

/// The picture of a counterexample names what went wrong, and shades it.
#[track_caller]
fn assert_ends_in_a_violation(trace: &Trace, violates: &'static str, nodes: usize) {
    let (unit, violated) = (Unit::Step, Some(violates));
    let picture = Diagram { title: "", unit, nodes, widest: 900, violated }.svg(trace);
    assert!(picture.contains("class=\"violation\""), "{violates} is not shaded:\n{trace}");
    let verdict = Verdict::of(violates, trace, nodes);
    assert!(!verdict.nodes.is_empty() && picture.contains(&verdict.text), "{violates}:\n{trace}");
    assert!(!verdict.text.contains("nobody"), "{}", verdict.text);
}

#[test]
fn every_broken_variant_holds_when_its_flaw_is_mended() {
    for broken in BROKEN {
        assert_holds(&with_mended(broken.name, Explore).expect("it is listed"));
    }
}

/// A node that asks can be passed by each other twice: with a request that was confirmed before,
/// and with one in flight.
#[test]
fn a_bound_on_bypassing_that_is_one_less_is_refuted() {
    let slow = |most| {
        let cluster = RicartAgrawala::cluster(2).expect("two are enough");
        let model = Check::new(cluster).requests(3).bypass(most);
        ModelVisitor::visit(Explore, "ricart_agrawala", model)
    };
    assert_holds(&slow(2));
    assert_eq!(refuted(&slow(1)), ["bypass"]);

    // Of three, one is inside, one asks, and one has asked before.
    let quick = |most| {
        let cluster = CentralCoordinator::cluster(3).expect("three are enough");
        let model = Check::new(cluster).requests(2).users(Users::Unhurried).bypass(most);
        ModelVisitor::visit(Explore, "central_coordinator", model)
    };
    assert_holds(&quick(1));
    assert_eq!(refuted(&quick(0)), ["bypass"]);
}

/// Where messages are slow, there is no bound: the token goes to and fro past a request that is in
/// flight.
#[test]
fn a_token_may_pass_a_request_that_is_slow() {
    let cluster = Raymond::cluster(3).expect("three are enough");
    let model = Check::new(cluster).requests_of(NodeId(1), 5).bypass(4);
    let explored = ModelVisitor::visit(Explore, "raymond", model.clone());
    assert_eq!(refuted(&explored), ["bypass"]);
    assert_holds(&ModelVisitor::visit(Explore, "raymond", model.users(Users::Unhurried)));
}

/// Every property is seen to fail somewhere.
#[test]
fn every_property_is_seen_to_fail() {
    let violated = |property| BROKEN.iter().any(|broken| broken.violates == property);
    for property in [
        "mutual exclusion",
        "expected inputs only",
        "no deadlock",
        "invariant",
        "bypass",
        "order",
        "one token",
        "first come, first served",
        "agreement",
        "one leader",
        "all can settle",
        "all can be served",
    ] {
        assert!(violated(property), "nothing violates '{property}'");
    }
}

#[test]
fn a_cost_that_is_a_message_too_low_is_refuted() {
    let at_most = |messages| {
        let cluster = RicartAgrawala::cluster(3).expect("three are enough");
        ModelVisitor::visit(Explore, "ricart_agrawala", Check::new(cluster).at_most(messages))
    };
    assert_holds(&at_most(4.0));
    assert_eq!(refuted(&at_most(3.9)), ["cost"]);
}

#[test]
fn the_documentation_has_every_exploration_and_every_broken_variant() {
    let page = include_str!("../../docs/explored.md");
    for (name, scope) in all() {
        let (nodes, requests) = (scope.requests.len(), in_words(&scope.requests));
        let row = format!("| `{name}` | {nodes} | {requests} |");
        assert!(page.contains(&row), "'{row}' is missing");
    }
    for broken in BROKEN {
        let row = format!("| `{}` | {} |", broken.name, broken.why);
        assert!(page.contains(&row), "'{row}' is missing");
    }
}
