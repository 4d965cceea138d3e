//! What Banta's thesis goes through before its first algorithm.

use super::Story;

/// What the thesis goes through before its first algorithm. Not in the registry, but among the
/// [variants](crate::explore::broken::BROKEN) that the checker refutes. Each has a run of its own
/// in [`drafts`](crate::explore::drafts).
pub const DRAFTS: &[Story] = &[
    Story {
        algorithm: "banta_first_draft",
        title: "Banta, first draft",
        source: "Banta 1993, chapter 3",
        how: "A node asks all others, and the node that has the token sends it; a node that does \
            not have it ignores the request, and a node that has it can serve only one of several.",
        cost: "An entry takes n messages, nearly all of them requests, and that is where the next \
            draft saves.",
        guarantee: "One node at a time is inside, but it deadlocks: a request that comes second, \
            or while the token is on its way, is lost.",
    },
    Story {
        algorithm: "banta_basic",
        title: "Banta, basic",
        source: "Banta 1993, chapter 3",
        how: "The token carries a queue, and a node asks only the last on it, where the token is \
            sure to come; that node keeps the requests, puts them behind the queue when it has had \
            its turn, and tells all that are not on the queue which is the last now.",
        cost: "An entry takes one request, one hop of the token, and a share of the news, the \
            smaller the more nodes are on the queue.",
        guarantee: "One node at a time is inside, but it deadlocks: a request that comes after the \
            token has left is kept where the token need not come again, which is why chapter 4 \
            passes it on.",
    },
];
