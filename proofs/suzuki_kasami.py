"""Suzuki's and Kasami's algorithm, for any number of nodes: one token, exclusion, no refusal.

The steps are those of `src/message/token/suzuki_kasami.rs` on a complete topology. A step is one
input of one node, with all that the node sends for it.

The network is a bag of messages, which arrive in any order. None is lost, and none comes twice.
`requests(k, i, m)` says how many `REQUEST(k, m)` are on their way from k to i, `tokens(a, b)` how
many tokens from a to b. Nothing is assumed of how many there are.

What the token carries is there once, since that there is one token does not depend on it. Its queue
is a set here: a node that hands the token over may choose anybody from it. So what is proved holds
for every order of service. Numbers are integers: the limit of 64 bits is left out, at which a node
refuses to ask.
"""

from inductive import *

IDLE, WAITING, INSIDE = 0, 1, 2

suzuki_kasami = Proof(
    variables={
        "phase": [Node, Number],
        "heard": [Node, Node, Number],  # The highest number that node i has heard from k.
        "has_token": [Node, Truth],
        "requests": [Node, Node, Number, Number],
        "tokens": [Node, Node, Number],
        # What the token carries: the number of each node's last entry, and who waits for it.
        "served": [Node, Number],
        "queued": [Node, Truth],
    },
    # Where the token is at first.
    statics={"start": [Node]},
    constants=lambda domains: {"start": lambda: 0},
)


@suzuki_kasami.initial
def all_are_idle(s, i: Node, k: Node):
    return And(
        s.phase(i) == IDLE,
        s.heard(i, k) == 0,
        s.has_token(i) == (i == s.start()),
        s.tokens(i, k) == 0,
        s.served(i) == 0,
        Not(s.queued(i)),
    )


@suzuki_kasami.initial
def nothing_is_in_flight(s, i: Node, k: Node, m: Number):
    return s.requests(i, k, m) == 0


# The steps.


@suzuki_kasami.step
def request_beside_the_token(s, i: Node):
    return And(s.phase(i) == IDLE, s.has_token(i)), s.but(
        phase=put(s.phase, i, INSIDE), heard=more(s.heard, i, i)
    )


@suzuki_kasami.step
def request_from_all(s, i: Node):
    number = s.heard(i, i) + 1
    sent = lambda x, y, m: s.requests(x, y, m) + If(And(x == i, y != i, m == number), 1, 0)
    return And(s.phase(i) == IDLE, Not(s.has_token(i))), s.but(
        phase=put(s.phase, i, WAITING), heard=more(s.heard, i, i), requests=sent
    )


def longer_queue(s, i):
    """The queue, and all others whose requests i has heard and the token has not served."""
    return lambda k: Or(s.queued(k), And(k != i, s.heard(i, k) > s.served(k)))


def hand_over(s, i, to):
    """Node i sends the token to somebody in the queue."""
    queue = longer_queue(s, i)
    return queue(to), s.but(
        queued=queue, has_token=put(s.has_token, i, False), tokens=more(s.tokens, i, to)
    )


def rest(s, i):
    """The token stays: nobody is in the queue."""
    queue = longer_queue(s, i)
    return s.every(Node, lambda k: Not(queue(k))), s.but(queued=queue)


def leave(s, i):
    served = put(s.served, i, s.heard(i, i))
    return s.phase(i) == INSIDE, s.but(phase=put(s.phase, i, IDLE), served=served)


@suzuki_kasami.step
def release_and_hand_over(s, i: Node, to: Node):
    inside, after = leave(s, i)
    chosen, after = hand_over(after, i, to)
    return And(inside, chosen), after


@suzuki_kasami.step
def release_and_rest(s, i: Node):
    inside, after = leave(s, i)
    nobody, after = rest(after, i)
    return And(inside, nobody), after


def arrives(s, i, k, m):
    """The request of k with number m arrives at i."""
    return s.requests(k, i, m) > 0, s.but(requests=fewer(s.requests, k, i, m))


@suzuki_kasami.step
def receive_an_old_request(s, i: Node, k: Node, m: Number):
    """It was overtaken: its sender has asked again, and been heard."""
    there, after = arrives(s, i, k, m)
    return And(there, m <= s.heard(i, k)), after


def hear(s, i, k, m):
    there, after = arrives(s, i, k, m)
    return And(there, m > s.heard(i, k)), after.but(heard=put(s.heard, i, k, m))


def rests_at(s, i):
    return And(s.has_token(i), s.phase(i) == IDLE)


@suzuki_kasami.step
def receive_a_request(s, i: Node, k: Node, m: Number):
    is_new, after = hear(s, i, k, m)
    return And(is_new, Not(rests_at(s, i))), after


@suzuki_kasami.step
def receive_a_request_beside_the_token(s, i: Node, k: Node, m: Number, to: Node):
    is_new, after = hear(s, i, k, m)
    chosen, after = hand_over(after, i, to)
    return And(is_new, rests_at(s, i), chosen), after


@suzuki_kasami.step
def receive_a_request_in_vain(s, i: Node, k: Node, m: Number):
    """The token rests here, and stays: it has served the request meanwhile."""
    is_new, after = hear(s, i, k, m)
    nobody, after = rest(after, i)
    return And(is_new, rests_at(s, i), nobody), after


@suzuki_kasami.step
def receive_the_token(s, i: Node, a: Node):
    """The node waits for it: see the claims."""
    return And(s.tokens(a, i) > 0, s.phase(i) == WAITING), s.but(
        tokens=fewer(s.tokens, a, i),
        has_token=put(s.has_token, i, True),
        queued=put(s.queued, i, False),
        phase=put(s.phase, i, INSIDE),
    )


# The invariant.


@suzuki_kasami.invariant
def no_two_nodes_have_the_token(s, i: Node, k: Node):
    return Implies(And(s.has_token(i), s.has_token(k)), i == k)


@suzuki_kasami.invariant
def a_token_in_flight_is_at_no_node(s, a: Node, b: Node, i: Node):
    return And(s.tokens(a, b) >= 0, Implies(s.tokens(a, b) > 0, Not(s.has_token(i))))


@suzuki_kasami.invariant
def a_token_in_flight_is_alone(s, a: Node, b: Node, c: Node, d: Node):
    both = And(s.tokens(a, b) > 0, s.tokens(c, d) > 0)
    return Implies(both, And(a == c, b == d, s.tokens(a, b) == 1))


@suzuki_kasami.invariant
def the_token_is_not_lost(s):
    held = s.some(Node, lambda i: s.has_token(i))
    return Or(held, s.some(Node, lambda a: s.some(Node, lambda b: s.tokens(a, b) > 0)))


@suzuki_kasami.invariant
def a_user_that_is_inside_has_the_token(s, i: Node):
    return And(
        one_of(s.phase(i), IDLE, WAITING, INSIDE),
        Implies(s.phase(i) == INSIDE, s.has_token(i)),
        Implies(s.phase(i) == WAITING, Not(s.has_token(i))),
    )


@suzuki_kasami.invariant
def the_token_lacks_the_request_at_hand(s, i: Node):
    """It has served all requests of a node but the one for which its user waits or is inside."""
    return s.heard(i, i) == s.served(i) + If(s.phase(i) == IDLE, 0, 1)


@suzuki_kasami.invariant
def nobody_has_heard_more_than_was_said(s, i: Node, k: Node):
    return And(0 <= s.heard(i, k), s.heard(i, k) <= s.heard(k, k))


@suzuki_kasami.invariant
def no_request_in_flight_says_more(s, i: Node, k: Node, m: Number):
    asked = And(i != k, 1 <= m, m <= s.heard(k, k))
    return And(s.requests(k, i, m) >= 0, Implies(s.requests(k, i, m) > 0, asked))


@suzuki_kasami.invariant
def a_node_in_the_queue_waits(s, i: Node):
    return Implies(s.queued(i), s.phase(i) == WAITING)


@suzuki_kasami.invariant
def the_token_is_on_its_way_to_a_node_in_the_queue(s, a: Node, b: Node):
    return Implies(s.tokens(a, b) > 0, And(a != b, s.queued(b)))


@suzuki_kasami.invariant
def nobody_is_queued_while_the_token_rests(s, i: Node, k: Node):
    return Implies(rests_at(s, i), Not(s.queued(k)))


# What follows.


@suzuki_kasami.claim
def mutual_exclusion(s, i: Node, k: Node):
    return Implies(And(s.phase(i) == INSIDE, s.phase(k) == INSIDE), i == k)


@suzuki_kasami.claim
def no_request_is_refused(s, i: Node, k: Node, m: Number):
    refused = Or(i == k, m == 0, And(s.has_token(i), m > s.served(k) + 1))
    return Implies(s.requests(k, i, m) > 0, Not(refused))


@suzuki_kasami.claim
def no_token_is_refused(s, a: Node, i: Node, k: Node):
    """It comes to a node that waits for it, has none, and has heard of nothing impossible."""
    can_come = And(
        Not(s.has_token(i)),
        s.queued(i),
        s.phase(i) == WAITING,
        s.heard(i, k) <= s.served(k) + 1,
        s.heard(i, i) == s.served(i) + 1,
    )
    return Implies(s.tokens(a, i) > 0, can_come)


# What goes wrong.


@suzuki_kasami.flaw(replaces=release_and_hand_over, nodes=2)
def kept(s, i: Node, to: Node):
    """A node that sends the token on keeps it too."""
    guard, after = release_and_hand_over(s, i, to)
    return guard, after.but(has_token=s.has_token)


@suzuki_kasami.flaw(replaces=receive_an_old_request, nodes=2)
def stale(s, i: Node, k: Node, m: Number):
    """A request that finds the token resting is served whatever its number."""
    there, after = arrives(s, i, k, m)
    return And(there, rests_at(s, i)), after.but(
        queued=put(s.queued, k, True),
        has_token=put(s.has_token, i, False),
        tokens=more(s.tokens, i, k),
    )


# The code's states and steps.


@suzuki_kasami.reading
def tables(state):
    nodes = state["nodes"]
    ids = range(len(nodes))
    requests, tokens = Table(), Table()
    contents = [node["token"] for node in nodes if node["token"]]
    for i, k, message in state["in_flight"]:
        match message:
            case {"Request": [_, number]}:
                requests[i, k, number] = requests(i, k, number) + 1
            case {"Token": content}:
                tokens[i, k] = tokens(i, k) + 1
                contents.append(content)
    [content] = contents
    phases = {"Idle": IDLE, "Waiting": WAITING, "Inside": INSIDE}
    return {
        "phase": Table({(i,): phases[nodes[i]["phase"]] for i in ids}),
        "heard": Table({(i, k): nodes[i]["heard"][k] for i in ids for k in ids}),
        "has_token": Table({(i,): nodes[i]["token"] is not None for i in ids}),
        "requests": requests,
        "tokens": tokens,
        "served": Table({(k,): content["served"][k] for k in ids}),
        "queued": Table({(k,): True for k in content["queue"]}),
    }


@suzuki_kasami.explaining
def explanations(action, state):
    match action:
        case {"request": i}:
            yield [(request_beside_the_token, i)]
            yield [(request_from_all, i)]
        case {"leave": i}:
            yield [(release_and_rest, i)]
            yield from ([(release_and_hand_over, i, to)] for to in state.world.domains[Node])
        case {"deliver": [k, i, {"Request": [_, m]}]}:
            yield [(receive_an_old_request, i, k, m)]
            yield [(receive_a_request, i, k, m)]
            yield [(receive_a_request_in_vain, i, k, m)]
            yield from (
                [(receive_a_request_beside_the_token, i, k, m, to)]
                for to in state.world.domains[Node]
            )
        case {"deliver": [a, i, {"Token": _}]}:
            yield [(receive_the_token, i, a)]
