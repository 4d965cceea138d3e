//! A lock that survives its holder: `cargo run --example crash_inside`.
//!
//! Three nodes share an account. The node that has the lock dies while its user is inside. The
//! others go on without it, and the next user is told that the last one may not have finished. A
//! write of the old holder that was on its way comes late. The account refuses it.

use std::collections::VecDeque;
use std::error::Error;

use exclusion::message::registry::Algorithm;
use exclusion::message::{
    Fenced, FromRegistry, Input, Machine, NodeId, Notice, Outbox, Output, Protocol, Recovering,
    SuzukiKasami, step,
};

type Node = Recovering<FromRegistry<SuzukiKasami>>;
type Letter = (NodeId, NodeId, <Node as Machine>::Message);

/// Nodes, and the messages between them. A program sends these over a network.
struct World {
    nodes: Vec<Node>,
    in_flight: VecDeque<Letter>,
    dead: Option<NodeId>,
}

impl World {
    /// Gives a node an input, then delivers messages until none is in flight.
    fn give(
        &mut self,
        node: NodeId,
        input: Input<<Node as Machine>::Message>,
    ) -> Result<(), Box<dyn Error>> {
        self.step(node, input)?;
        while let Some((from, to, message)) = self.in_flight.pop_front() {
            if self.dead != Some(to) {
                self.step(to, Input::Receive { from, message })?;
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        node: NodeId,
        input: Input<<Node as Machine>::Message>,
    ) -> Result<(), Box<dyn Error>> {
        let mut out = Outbox::new();
        step(&mut self.nodes[node.index()], input, &mut out)?;
        for output in out.drain() {
            match output {
                Output::Send { to, message } => self.in_flight.push_back((node, to, message)),
                Output::Enter => println!("{node} is let in"),
                // Suzuki's and Kasami's algorithm sets no timers, and elects nobody.
                _ => {}
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let [first, second, third] = [NodeId(0), NodeId(1), NodeId(2)];
    let algorithm = Algorithm::named("suzuki_kasami")?;
    let nodes = Recovering::over(algorithm, SuzukiKasami::cluster(3)?)?;
    let mut world = World { nodes, in_flight: VecDeque::new(), dead: None };
    let mut account = Fenced::new(100);

    world.give(first, Input::Request)?;
    let old = world.nodes[0].admission().ok_or("the token was there")?.clone();
    *account.write(old.fence)? -= 30;
    println!("{first} takes 30 under fence {}, and dies inside", old.fence);

    // The second node waits for the token, which has died with its holder.
    world.dead = Some(first);
    world.give(second, Input::Request)?;
    for survivor in [second, third] {
        world.give(survivor, Input::Notice(Notice::Down(first)))?;
    }
    let new = world.nodes[1].admission().ok_or("the others go on")?.clone();
    println!("{second} has fence {}, and is told of {:?}", new.fence, new.perhaps_inside);
    assert!(new.fence > old.fence);
    assert!(new.perhaps_inside.contains(first), "it may have left the account half written");
    *account.write(new.fence)? -= 50;

    // What the first holder has sent before it died arrives now.
    let overtaken = account.write(old.fence).expect_err("it has been overtaken");
    println!("a late write of {first}: {overtaken}");
    assert_eq!(account.into_inner(), 20);
    Ok(())
}
