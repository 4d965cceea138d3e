//! Elections explored exhaustively, as far as a test may take.

use lab::explore::broken::{BROKEN, with_broken, with_mended};
use lab::explore::exploration::{Explorable, Explored, Explorer, ModelVisitor, Shown};

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

#[test]
fn scratch() {
    let chosen = std::env::var("SCRATCH").unwrap_or_default();
    for broken in BROKEN.iter().filter(|it| it.name.starts_with(chosen.as_str())) {
        let e = with_broken(broken.name, Explore).unwrap();
        println!(
            "{} {:?} {:.1}",
            broken.markdown(&e),
            e.refuted().map(|f| f.property).collect::<Vec<_>>(),
            e.seconds
        );
        if let Some(how) = broken.counterexample(&e) {
            println!("{how}");
        }
        let m = with_mended(broken.name, Explore).unwrap();
        println!("  mended {} {:.1}", m.markdown(), m.seconds);
        for finding in m.refuted() {
            println!(
                "{}:\n{}",
                finding.property,
                finding.counterexample.as_ref().map_or(String::new(), Shown::to_string)
            );
        }
    }
}
