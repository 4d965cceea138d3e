//! The algorithms in which holding a token is the permission.

use super::Story;

/// From the first that has a token, in the order of the registry.
pub(super) const STORIES: &[Story] = &[
    Story {
        algorithm: "token_ring",
        title: "Token ring",
        source: "Le Lann 1977",
        how: "The token goes round a ring: a node that wants in waits until the token comes by and \
            passes it on when it leaves, and a node that does not want in passes it on after a \
            pause.",
        cost: "An entry takes 1 message when all always want in, but there is no bound when few \
            do, for the token never rests, even when nobody wants in.",
        guarantee: "One node at a time is inside and nobody starves, for the token serves the \
            nodes round the ring; channels may deliver in any order.",
    },
    Story {
        algorithm: "suzuki_kasami",
        title: "Suzuki and Kasami",
        source: "1985",
        how: "A node sends a numbered request to all others; the token carries a queue and the \
            number of each node's last entry, and a node that leaves queues all unserved requests \
            that it has heard of and sends the token to the first.",
        cost: "An entry takes n messages, or none if the token rests at the node, and the next \
            node enters T after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for the token's queue is \
            first in, first out; old requests are known by their numbers, so channels may deliver \
            in any order.",
    },
    Story {
        algorithm: "suzuki_kasami_ring",
        title: "Suzuki and Kasami, ring",
        source: "1985",
        how: "Suzuki's and Kasami's algorithm runs one way round a ring: each node relays a \
            request to the next, unless the token rests with it, and the token serves whoever \
            waits on its way to the first in its queue.",
        cost: "An entry takes 0 to 2n-2 messages, at most n-1 for the request and n-1 for the \
            token, which takes T for each hop.",
        guarantee: "One node at a time is inside and nobody starves, though a node on the token's \
            way may enter before the first in its queue; channels may deliver in any order.",
    },
    Story {
        algorithm: "suzuki_kasami_line",
        title: "Suzuki and Kasami, line",
        source: "1985",
        how: "Suzuki's and Kasami's algorithm runs on a line: each node relays a request away from \
            its sender, unless the token rests with it, and the token serves whoever waits on its \
            way to the first in its queue.",
        cost: "An entry takes 0 to 2n-2 messages, at most n-1 for the request and n-1 for the \
            token, which takes T for each hop.",
        guarantee: "One node at a time is inside and nobody starves, though a node on the token's \
            way may enter before the first in its queue; channels may deliver in any order.",
    },
    Story {
        algorithm: "suzuki_kasami_tree",
        title: "Suzuki and Kasami, tree",
        source: "1985",
        how: "Suzuki's and Kasami's algorithm runs on a binary tree: each node relays a request \
            along the edges, unless the token rests with it, and the token serves whoever waits on \
            its way to the first in its queue.",
        cost: "An entry takes 0 to n-1+D messages, at most n-1 for the request and D for the \
            token, which takes T for each hop.",
        guarantee: "One node at a time is inside and nobody starves, though a node on the token's \
            way may enter before the first in its queue; channels may deliver in any order.",
    },
    Story {
        algorithm: "suzuki_kasami_fifo",
        title: "Suzuki and Kasami, no overtaking",
        source: "1985, simplified",
        how: "Where channels keep order, the k-th request that comes from a node is its k-th, so \
            requests carry no number and whoever receives one counts; the token still carries its \
            queue and how many requests of each node it has served.",
        cost: "An entry takes n messages, or none if the token rests at the node, and the next \
            node enters T after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for the token's queue is \
            first in, first out, provided that every channel delivers first in, first out.",
    },
    Story {
        algorithm: "suzuki_kasami_fifo_ring",
        title: "Suzuki and Kasami, ring without overtaking",
        source: "1985, simplified",
        how: "Requests follow the token round a ring: one that meets it is noted on it and ends \
            there, and one that does not has the token before it all the way to its sender, so \
            neither numbers nor lists are needed, and the token serves all nodes that it passes.",
        cost: "An entry takes 0 to n messages, for request and token together go round once, and \
            each hop takes T.",
        guarantee: "One node at a time is inside and nobody starves, for the token goes round as \
            long as anybody waits, provided that every channel delivers first in, first out.",
    },
    Story {
        algorithm: "ricart_agrawala_token",
        title: "Ricart and Agrawala, token",
        source: "1983",
        how: "A node sends a numbered request to all others; the token carries only the number of \
            each node's last entry, and a node that leaves sends it to the next node that wants \
            in, beginning after its own number and going round.",
        cost: "An entry takes n messages, or none if the token rests at the node, and the next \
            node enters T after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for the token goes round by \
            number among those that want in; channels may deliver in any order.",
    },
    Story {
        algorithm: "singhal_heuristic",
        title: "Singhal, heuristic",
        source: "1989, remedied",
        how: "A node asks only those that probably want in, which are those that have asked it \
            since it last asked them, and at first all nodes before it; where the token comes to \
            rest, the node tells those that it would ask.",
        cost: "An entry takes 0 to n messages, about (n+1)/2 when nodes come at random, and 1 more \
            for each request that arrives already served, with T between two entries.",
        guarantee: "One node at a time is inside, served round by number over any channels; nobody \
            waits for ever as in the paper, for the token says who wants in but does not change \
            whom nodes ask.",
    },
    Story {
        algorithm: "raymond",
        title: "Raymond, tree",
        source: "1989",
        how: "Each node of a binary tree knows which neighbour leads to the token; it asks there \
            once for all who want in behind it, serves them and itself as they came, and the token \
            turns each edge that it passes.",
        cost: "An entry takes twice the way to the token, at most 2D messages, and about 4 when \
            all want in; the next node enters T to DT after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for each node serves those \
            that ask it first come, first served; channels may deliver in any order.",
    },
    Story {
        algorithm: "raymond_ternary",
        title: "Raymond, ternary tree",
        source: "1989",
        how: "Raymond's algorithm runs on a balanced tree in which each node has up to three \
            children, so that the longest way between two nodes is about 2 log n to the base 3.",
        cost: "An entry takes twice the way to the token, at most 2D messages, where D is smaller \
            than in a binary tree, and about 4 when all want in; the next node enters T to DT \
            after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for each node serves those \
            that ask it first come, first served; channels may deliver in any order.",
    },
    Story {
        algorithm: "raymond_4ary",
        title: "Raymond, 4-ary tree",
        source: "1989",
        how: "Raymond's algorithm runs on a balanced tree in which each node has up to four \
            children, so that the longest way between two nodes is about 2 log n to the base 4.",
        cost: "An entry takes twice the way to the token, at most 2D messages, where D is smaller \
            still, and about 4 when all want in; the next node enters T to DT after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for each node serves those \
            that ask it first come, first served; channels may deliver in any order.",
    },
    Story {
        algorithm: "raymond_star",
        title: "Raymond, star",
        source: "1989",
        how: "Raymond's algorithm runs on a star: all nodes ask the middle one, which asks the one \
            that has the token, so the middle becomes what a central coordinator is, except that \
            the token stays where it was used last.",
        cost: "An entry takes at most 4 messages, about 3 when all want in, and the next node \
            enters at most 2T after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for each node serves those \
            that ask it first come, first served; channels may deliver in any order.",
    },
    Story {
        algorithm: "raymond_line",
        title: "Raymond, line",
        source: "1989",
        how: "Raymond's algorithm runs on a line, the tree with the longest ways: a node asks the \
            neighbour towards the token once for all who want in behind it, and the token turns \
            each edge that it passes.",
        cost: "An entry takes twice the way to the token, at most 2(n-1) messages, and about 4 \
            when all want in; the next node enters T to (n-1)T after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for each node serves those \
            that ask it first come, first served; channels may deliver in any order.",
    },
    Story {
        algorithm: "naimi_trehel",
        title: "Naimi and Trehel",
        source: "1987",
        how: "A request is passed on from node to node until it reaches the last that wants in, \
            which will give the token to its sender; all nodes on the way ask that sender from \
            then on.",
        cost: "An entry takes 0 to n messages, O(log n) on average, and the next node enters T \
            after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for nodes are served in the \
            order in which their requests reach the last; channels may deliver in any order.",
    },
    Story {
        algorithm: "naimi_trehel_queue",
        title: "Naimi and Trehel, improved",
        source: "1987",
        how: "Requests are passed on as in the first version, but a node that waits keeps all that \
            reach it, and when it leaves puts them behind the queue that the token carries; a \
            node that hands the token over asks the queue's last from then on.",
        cost: "An entry takes 0 to n messages, O(log n) on average, fewer than in the first \
            version when many want in; the next node enters T after one leaves.",
        guarantee: "One node at a time is inside and nobody starves, for the token serves its \
            queue in order; channels may deliver in any order.",
    },
    Story {
        algorithm: "banta_simple",
        title: "Banta, simple",
        source: "Banta 1993, chapter 4",
        how: "The token carries a queue, and nodes ask the last on it, which keeps their requests, \
            and when it leaves, puts them behind the queue and tells all nodes that are not on it \
            which is the last now.",
        cost: "An entry takes up to n messages when few want in and 2 when many do, and 1 more \
            each time that a request is passed on.",
        guarantee: "One node at a time is inside, in the order of the token's queue, but a node \
            can starve, for its request may follow the token for ever; channels may deliver in any \
            order.",
    },
    Story {
        algorithm: "banta_fair",
        title: "Banta, starvation-free",
        source: "Banta 1993, section 4.6",
        how: "As in the simple algorithm nodes ask the last on the token's queue, but a node that \
            passes a numbered request on keeps a copy, and the token, which knows each node's last \
            entry, takes up unserved copies wherever it comes.",
        cost: "An entry takes up to n messages when few want in, 2 when many do and all messages \
            take equally long, and at most 2(n-1) on average.",
        guarantee: "One node at a time is inside, in the order of the token's queue, and nobody \
            starves, for the token can miss a request at ever fewer nodes; channels may deliver in \
            any order.",
    },
    Story {
        algorithm: "banta_efficient",
        title: "Banta, efficient",
        source: "Banta 1993, chapter 5",
        how: "In each cycle nodes ask one node on the token's queue; when that node leaves, it \
            queues their requests, tells those not queued that the queue's last is to be asked \
            now, and waits 2Tmax for late requests before the token goes on.",
        cost: "An entry takes (n-1)/m + 1 messages when m wait, and the next node enters T after \
            one leaves within a cycle, 3T from cycle to cycle.",
        guarantee: "One node at a time is inside, in the order of the token's queue, over any \
            channels; nobody starves if no message takes longer than Tmax, but if one does, its \
            sender may.",
    },
    Story {
        algorithm: "banta_efficient_hardened",
        title: "Banta, efficient, hardened",
        source: "Banta 1993, chapter 5, hardened",
        how: "The cycles are those of the efficient algorithm, but a request that comes too late, \
            to a node that the token has left, is passed on to the node that is to be asked now, \
            and nodes ignore old news of which that is.",
        cost: "An entry takes (n-1)/m + 1 messages when m wait, and 1 more each time that a late \
            request is passed on.",
        guarantee: "One node at a time is inside, in the order of the token's queue, over any \
            channels; nobody starves within Tmax, and a request that takes longer is passed on, \
            not left behind.",
    },
    Story {
        algorithm: "banta_k",
        title: "Banta, k entries",
        source: "Banta 1993, chapter 6",
        how: "The token goes in cycles as in the efficient algorithm, but moves on at once, with a \
            semaphore: the first k enter, each later node when one before it leaves, and the last \
            alone, when all others have left.",
        cost: "An entry takes (n-2)/m + 2 messages when m wait.",
        guarantee: "At most k nodes are inside, here n/3 rounded up, and only one when few want \
            in; channels may deliver in any order, and nobody starves if no message takes longer \
            than Tmax.",
    },
    Story {
        algorithm: "banta_k_hardened",
        title: "Banta, k entries, hardened",
        source: "Banta 1993, chapter 6, hardened",
        how: "The cycles and the semaphore are those of the algorithm for k entries, but a request \
            that comes too late, to a node that the token has left, is passed on to the node that \
            is to be asked now, and nodes ignore old news of which that is.",
        cost: "An entry takes (n-2)/m + 2 messages when m wait, and 1 more each time that a late \
            request is passed on.",
        guarantee: "At most k nodes are inside, here n/3 rounded up, and only one when few want \
            in; channels may deliver in any order, nobody starves within Tmax, and a request that \
            takes longer is passed on, not left behind.",
    },
];
