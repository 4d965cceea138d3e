//! The algorithms in which a node asks permission, of all others or of a quorum.

use super::Story;

/// What quorums guarantee, however they are arranged.
const GRANTED_BY_AGE: &str = "One node at a time is inside, nothing deadlocks and nobody starves, \
    for the oldest request gets every arbiter; service is nearly by (time, node), and channels may \
    deliver in any order.";

/// What a triangle costs, whatever the scheme.
const TRIANGLE: &str = "An entry takes 3(K-1) messages alone and at most 6(K-1) on average, where \
    K is t, about √(2n), and the next node enters at most 2T after one leaves.";

/// Up to the first that has a token, in the order of the registry.
pub(super) const STORIES: &[Story] = &[
    Story {
        algorithm: "central_coordinator",
        title: "Central coordinator",
        source: "folklore",
        how: "A node that wants in asks the coordinator, which queues requests as they arrive, \
            grants entry to one node at a time, and grants the next when that node says that it \
            has left.",
        cost: "An entry takes 3 messages, or none if it is the coordinator's own, and the next \
            node enters at most 2T after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for requests are served in \
            the order in which they reach the coordinator; channels may deliver in any order.",
    },
    Story {
        algorithm: "lamport",
        title: "Lamport",
        source: "1978",
        how: "A node sends its request, with its logical time, to all others, which confirm it at \
            once; everybody keeps all requests in order, and a node enters when its own is first \
            and it has heard something later from everybody.",
        cost: "An entry always takes 3(n-1) messages, and the next node enters T after one leaves.",
        guarantee: "One node at a time is inside and requests are served in the order of (time, \
            node), so nobody starves, provided that every channel delivers first in, first out.",
    },
    Story {
        algorithm: "ricart_agrawala",
        title: "Ricart and Agrawala",
        source: "1981",
        how: "A node sends its request, with its logical time, to all others and enters when all \
            have confirmed it; a node that is inside, or has an older request of its own, holds \
            its confirmation back until it leaves.",
        cost: "An entry always takes 2(n-1) messages, and the next node enters T after one leaves.",
        guarantee: "One node at a time is inside and requests are served in the order of (time, \
            node), so nobody starves; channels may deliver in any order.",
    },
    Story {
        algorithm: "carvalho_roucairol",
        title: "Carvalho and Roucairol",
        source: "1983",
        how: "Between any two nodes there is one permission, which a confirmation hands over; a \
            node asks only those whose permission it lacks, and gives one away when asked, though \
            not while it is inside or has the older request.",
        cost: "An entry takes 0 to 2(n-1) messages, none for a node that enters again undisturbed, \
            and the next node enters T after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, but a node that still has its \
            permissions may enter before an older request; channels may deliver in any order.",
    },
    Story {
        algorithm: "singhal_dynamic",
        title: "Singhal, dynamic",
        source: "1989",
        how: "A node asks only those that may have entered since it did: at first all nodes before \
            it, later those that it has confirmed since; of any two nodes at least one always has \
            to ask the other.",
        cost: "An entry takes 0 to 2(n-1) messages, n-1 on average when nodes come at random, \
            nearly 2(n-1) when all want in; the next node enters T after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, but a node that need not ask \
            may enter before an older request; channels may deliver in any order.",
    },
    Story {
        algorithm: "maekawa",
        title: "Maekawa, grid",
        source: "1985, remedied",
        how: "A node asks its row and column of a grid, and any two such sets meet; an arbiter \
            confirms one request at a time and, when an older one comes, asks back the \
            confirmation, which a node that is not yet inside returns.",
        cost: "An entry takes 3(K-1) messages alone and at most 6(K-1) on average, where K is \
            about 2√n - 1, and the next node enters at most 2T after one leaves.",
        guarantee: GRANTED_BY_AGE,
    },
    Story {
        algorithm: "maekawa_circle",
        title: "Maekawa, circle",
        source: "1985, remedied",
        how: "Maekawa's remedied algorithm runs on a circle of three nodes: each asks itself and \
            the next, and of three such pairs any two share a node.",
        cost: "An entry takes 3(K-1) messages alone and at most 6(K-1) on average, where K is 2, \
            and the next node enters at most 2T after one leaves.",
        guarantee: GRANTED_BY_AGE,
    },
    Story {
        algorithm: "maekawa_triangle",
        title: "Maekawa, triangle",
        source: "1985, remedied; sets after Luk and Wong 1997",
        how: "Maekawa's remedied algorithm runs on a triangle of n = t(t+1)/2 nodes: a node asks a \
            column with a row, by two schemes in turn, so that two different sets share one node \
            and all nodes are asked equally often.",
        cost: TRIANGLE,
        guarantee: GRANTED_BY_AGE,
    },
    Story {
        algorithm: "maekawa_triangle_columns",
        title: "Maekawa, triangle by columns",
        source: "1985, remedied; sets after Luk and Wong 1997",
        how: "Maekawa's remedied algorithm runs on a triangle, by one scheme alone: a node asks \
            its column and the row just above that column, so the upper nodes are asked most.",
        cost: TRIANGLE,
        guarantee: GRANTED_BY_AGE,
    },
    Story {
        algorithm: "maekawa_triangle_rows",
        title: "Maekawa, triangle by rows",
        source: "1985, remedied; sets after Luk and Wong 1997",
        how: "Maekawa's remedied algorithm runs on a triangle, by the other scheme alone: a node \
            asks its row and the column just right of that row, so the lower nodes are asked most.",
        cost: TRIANGLE,
        guarantee: GRANTED_BY_AGE,
    },
    Story {
        algorithm: "maekawa_plane",
        title: "Maekawa, projective plane",
        source: "1985, remedied",
        how: "Maekawa's remedied algorithm runs on the lines of a finite projective plane of n = \
            q²+q+1 nodes, where q is a prime power: two different lines meet in one node, and all \
            nodes are asked equally often.",
        cost: "An entry takes 3(K-1) messages alone and at most 6(K-1) on average, where K is q+1, \
            about √n, and the next node enters at most 2T after one leaves.",
        guarantee: GRANTED_BY_AGE,
    },
    Story {
        algorithm: "majority",
        title: "Majority",
        source: "Thomas 1979, with Maekawa's arbiters",
        how: "A node asks all nodes and enters as soon as more than half of them, itself included, \
            have confirmed, whichever they are; an arbiter confirms one request at a time and, \
            when an older one comes, asks back the confirmation.",
        cost: "An entry takes 3(n-1) messages alone and at most 6(n-1) on average, for all are \
            asked and told, and the next node enters at most 2T after one leaves.",
        guarantee: "One node at a time is inside, for any two majorities share an arbiter; nothing \
            deadlocks and nobody starves, for the oldest request gets every arbiter; service is \
            nearly by (time, node), and channels may deliver in any order.",
    },
    Story {
        algorithm: "weighted_majority",
        title: "Weighted majority",
        source: "Gifford 1979, with Maekawa's arbiters",
        how: "Nodes weigh 1, 2, 3 and so on, and a node that has asked all enters as soon as those \
            that have confirmed, itself included, have more than half of the weight; the rest is \
            as with the simple majority.",
        cost: "An entry takes 3(n-1) messages alone and at most 6(n-1) on average, but heavy nodes \
            need fewer confirmations; the next node enters at most 2T after one leaves.",
        guarantee: "One node at a time is inside, for any two majorities share an arbiter; nothing \
            deadlocks and nobody starves, for the oldest request gets every arbiter; service is \
            nearly by (time, node), and channels may deliver in any order.",
    },
    Story {
        algorithm: "majority_fixed",
        title: "Majority, fixed sets",
        source: "Maekawa 1985, remedied, with majorities of successors",
        how: "Maekawa's remedied algorithm runs on majorities: a node asks itself and the nodes \
            that follow it in number, the first after the last, until they are more than half of \
            all, so any two sets meet.",
        cost: "An entry takes 3(K-1) messages alone and at most 6(K-1) on average, where K is n/2 \
            rounded down, plus 1, and the next node enters at most 2T after one leaves.",
        guarantee: GRANTED_BY_AGE,
    },
    Story {
        algorithm: "weighted_majority_fixed",
        title: "Weighted majority, fixed sets",
        source: "Maekawa 1985, remedied, with weighted majorities of successors",
        how: "Maekawa's remedied algorithm runs on nodes that weigh 1, 2, 3 and so on: a node asks \
            itself and those that follow it, the first after the last, until they have more than \
            half of the weight, so any two sets meet.",
        cost: "An entry takes 3(K-1) messages alone, where K differs by node, and at most 6(K-1) \
            on average for the largest K; the next node enters at most 2T after one leaves.",
        guarantee: GRANTED_BY_AGE,
    },
    Story {
        algorithm: "raymond_k",
        title: "Raymond, k entries",
        source: "1989",
        how: "As in Ricart's and Agrawala's algorithm a node asks all others, but it enters with \
            n-k confirmations, for then at most k-1 others can be inside; it counts what each node \
            owes it, since the rest may come late.",
        cost: "An entry takes 2n-k-1 to 2(n-1) messages, and the next node enters T after one \
            leaves.",
        guarantee: "At most k nodes are inside, here n/3 rounded up, and requests are served by \
            (time, node) as far as k allows, so nobody starves; channels may deliver in any order.",
    },
];
