"""Ricart's and Agrawala's algorithm, for any number of nodes: exclusion, order, no refusal.

The steps are those of `src/message/permission/ricart_agrawala.rs`. A step is one input of one node,
with all that the node sends for it.

The network is a bag of messages, which arrive in any order. None is lost, and none comes twice.
`requests(i, j, t)` says how many `REQUEST(t)` are on their way from i to j, `confirms(i, j, t)` how
many `CONFIRM(t)`. Clocks are integers: the limit of 64 bits is left out, at which a node refuses to
ask.
"""

from inductive import *

IDLE, WAITING, INSIDE = 0, 1, 2

ricart_agrawala = Proof(
    variables={
        "phase": [Node, Number],
        "clock": [Node, Number],
        "asked": [Node, Number],
        "missing": [Node, Node, Truth],  # Node i lacks the confirmation of j.
        "held_back": [Node, Node, Truth],  # Node i has not confirmed j yet.
        "requests": [Node, Node, Number, Number],
        "confirms": [Node, Node, Number, Number],
    },
    # The number of a node, which decides between equal times.
    statics={"number": [Node, Number]},
    constants=lambda domains: {"number": lambda i: i},
)


@ricart_agrawala.axiom
def numbers_differ(s, i: Node, j: Node):
    return Implies(s.number(i) == s.number(j), i == j)


@ricart_agrawala.initial
def all_are_idle(s, i: Node, j: Node):
    return And(
        s.phase(i) == IDLE,
        s.asked(i) == 0,
        s.clock(i) >= 0,
        Not(s.missing(i, j)),
        Not(s.held_back(i, j)),
    )


@ricart_agrawala.initial
def nothing_is_in_flight(s, i: Node, j: Node, t: Number):
    return And(s.requests(i, j, t) == 0, s.confirms(i, j, t) == 0)


# The steps.


@ricart_agrawala.step
def request(s, i: Node):
    now = s.clock(i) + 1
    sent = lambda x, y, t: s.requests(x, y, t) + If(And(x == i, y != i, t == now), 1, 0)
    return s.phase(i) == IDLE, s.but(
        phase=put(s.phase, i, WAITING),
        clock=put(s.clock, i, now),
        asked=put(s.asked, i, now),
        missing=lambda x, y: If(x == i, y != i, s.missing(x, y)),
        requests=sent,
    )


@ricart_agrawala.step
def hold_back(s, j: Node, i: Node, t: Number):
    """Node j receives the request of i, and goes before it."""
    first = is_before(s, s.asked(j), j, t, i)
    goes_before = Or(s.phase(j) == INSIDE, And(s.phase(j) == WAITING, first))
    return And(s.requests(i, j, t) > 0, goes_before), s.but(
        requests=fewer(s.requests, i, j, t),
        clock=put(s.clock, j, later(s.clock(j), t)),
        held_back=put(s.held_back, j, i, True),
    )


@ricart_agrawala.step
def confirm(s, j: Node, i: Node, t: Number):
    """Node j receives the request of i, and does not go before it."""
    now = later(s.clock(j), t)
    first = is_before(s, s.asked(j), j, t, i)
    gives_way = Or(s.phase(j) == IDLE, And(s.phase(j) == WAITING, Not(first)))
    return And(s.requests(i, j, t) > 0, gives_way), s.but(
        requests=fewer(s.requests, i, j, t),
        clock=put(s.clock, j, now),
        confirms=more(s.confirms, j, i, now),
    )


def take(s, i, j, t):
    """Node i receives the confirmation of j."""
    return s.but(
        confirms=fewer(s.confirms, j, i, t),
        clock=put(s.clock, i, later(s.clock(i), t)),
        missing=put(s.missing, i, j, False),
    )


def is_last(s, i, j):
    """Node i lacks no confirmation but that of j."""
    return s.every(Node, lambda k: Or(k == j, Not(s.missing(i, k))))


@ricart_agrawala.step
def wait_for_more(s, i: Node, j: Node, t: Number):
    return And(s.confirms(j, i, t) > 0, Not(is_last(s, i, j))), take(s, i, j, t)


@ricart_agrawala.step
def enter(s, i: Node, j: Node, t: Number):
    after = take(s, i, j, t)
    return And(s.confirms(j, i, t) > 0, is_last(s, i, j)), after.but(phase=put(s.phase, i, INSIDE))


@ricart_agrawala.step
def release(s, i: Node):
    sent = lambda x, y, t: (
        s.confirms(x, y, t) + If(And(x == i, s.held_back(i, y), t == s.clock(i)), 1, 0)
    )
    return s.phase(i) == INSIDE, s.but(
        phase=put(s.phase, i, IDLE),
        asked=put(s.asked, i, 0),
        held_back=put(s.held_back, i, ANY, False),
        confirms=sent,
    )


# The invariant.


@ricart_agrawala.invariant
def no_message_is_there_twice(s, i: Node, j: Node, t: Number):
    return And(
        0 <= s.requests(i, j, t),
        s.requests(i, j, t) <= 1,
        0 <= s.confirms(i, j, t),
        s.confirms(i, j, t) <= 1,
    )


@ricart_agrawala.invariant
def a_request_in_flight_is_the_senders_own(s, i: Node, j: Node, t: Number):
    """It is not answered yet, neither at once nor later."""
    return Implies(
        s.requests(i, j, t) > 0,
        And(t == s.asked(i), s.missing(i, j), Not(s.held_back(j, i))),
    )


@ricart_agrawala.invariant
def a_confirmation_in_flight_is_awaited(s, i: Node, j: Node, t: Number):
    return Implies(s.confirms(j, i, t) > 0, And(s.missing(i, j), Not(s.held_back(j, i))))


@ricart_agrawala.invariant
def a_request_is_not_there_beside_its_confirmation(s, i: Node, j: Node, t: Number, u: Number):
    return Not(And(s.requests(i, j, t) > 0, s.confirms(j, i, u) > 0))


@ricart_agrawala.invariant
def a_request_has_one_confirmation(s, i: Node, j: Node, t: Number, u: Number):
    return Implies(And(s.confirms(j, i, t) > 0, s.confirms(j, i, u) > 0), t == u)


@ricart_agrawala.invariant
def a_node_that_is_held_back_waits(s, i: Node, j: Node):
    """The other's clock has seen its time."""
    return Implies(
        s.held_back(j, i),
        And(s.missing(i, j), s.phase(j) != IDLE, s.clock(j) >= s.asked(i)),
    )


@ricart_agrawala.invariant
def a_node_that_lacks_a_confirmation_waits(s, i: Node, j: Node):
    return Implies(s.missing(i, j), And(i != j, s.phase(i) == WAITING))


@ricart_agrawala.invariant
def a_node_asks_by_its_clock(s, i: Node):
    return And(
        s.clock(i) >= 0,
        one_of(s.phase(i), IDLE, WAITING, INSIDE),
        Implies(s.phase(i) != IDLE, And(0 < s.asked(i), s.asked(i) <= s.clock(i))),
    )


@ricart_agrawala.invariant
def a_node_that_has_a_confirmation_goes_first(s, i: Node, j: Node):
    """The other's clock has seen its time, so that whatever the other asks for later is younger."""
    has_it = And(i != j, s.phase(i) != IDLE, Not(s.missing(i, j)))
    return Implies(has_it, goes_first(s, i, j))


@ricart_agrawala.invariant
def a_node_whose_confirmation_is_on_its_way_goes_first(s, i: Node, j: Node, t: Number):
    return Implies(s.confirms(j, i, t) > 0, And(goes_first(s, i, j), t >= s.asked(i)))


def goes_first(s, i, j):
    older = is_before(s, s.asked(i), i, s.asked(j), j)
    return And(s.clock(j) >= s.asked(i), Implies(s.phase(j) != IDLE, older))


# What follows.


@ricart_agrawala.claim
def mutual_exclusion(s, i: Node, j: Node):
    return Implies(And(s.phase(i) == INSIDE, s.phase(j) == INSIDE), i == j)


@ricart_agrawala.claim
def a_user_that_is_inside_asked_before_all_that_wait(s, i: Node, j: Node):
    return Implies(
        And(s.phase(i) == INSIDE, s.phase(j) == WAITING),
        is_before(s, s.asked(i), i, s.asked(j), j),
    )


@ricart_agrawala.claim
def no_request_is_refused(s, i: Node, j: Node, t: Number):
    """Node j refuses what it can tell to be wrong."""
    older = And(s.phase(j) != IDLE, is_before(s, t, i, s.asked(j), j))
    refused = Or(s.held_back(j, i), t == 0, And(older, Not(s.missing(j, i))))
    return Implies(s.requests(i, j, t) > 0, Not(refused))


@ricart_agrawala.claim
def no_confirmation_is_refused(s, i: Node, j: Node, t: Number):
    return Implies(s.confirms(j, i, t) > 0, And(s.missing(i, j), t >= s.asked(i)))


# What goes wrong.


@ricart_agrawala.flaw(replaces=confirm, nodes=2)
def ties(s, j: Node, i: Node, t: Number):
    """Requests of the same time confirm each other."""
    now = later(s.clock(j), t)
    gives_way = Or(s.phase(j) == IDLE, And(s.phase(j) == WAITING, t <= s.asked(j)))
    return And(s.requests(i, j, t) > 0, gives_way), s.but(
        requests=fewer(s.requests, i, j, t),
        clock=put(s.clock, j, now),
        confirms=more(s.confirms, j, i, now),
    )


@ricart_agrawala.flaw(replaces=confirm, nodes=2)
def deaf(s, j: Node, i: Node, t: Number):
    """A node that confirms takes no note of the time: it may ask with an older one later."""
    guard, after = confirm(s, j, i, t)
    return guard, after.but(clock=s.clock)


@ricart_agrawala.flaw(replaces=confirm, nodes=2)
def youngest(s, j: Node, i: Node, t: Number):
    """The younger of two requests goes first."""
    now = later(s.clock(j), t)
    gives_way = Or(
        s.phase(j) == IDLE,
        And(s.phase(j) == WAITING, is_before(s, s.asked(j), j, t, i)),
    )
    return And(s.requests(i, j, t) > 0, gives_way), s.but(
        requests=fewer(s.requests, i, j, t),
        clock=put(s.clock, j, now),
        confirms=more(s.confirms, j, i, now),
    )


# The code's states and steps.


@ricart_agrawala.reading
def tables(state):
    nodes = state["nodes"]
    ids = range(len(nodes))
    of = lambda key: Table({(i,): nodes[i]["candidate"][key] for i in ids})
    sets = lambda key: Table({(i, j): True for i in ids for j in members(nodes[i][key])})
    phases = {"Idle": IDLE, "Waiting": WAITING, "Inside": INSIDE}
    return {
        "phase": Table({key: phases[phase] for key, phase in of("phase").items()}),
        "clock": of("clock"),
        "asked": of("asked"),
        "missing": sets("missing"),
        "held_back": sets("held_back"),
        "requests": in_flight(state, "Request"),
        "confirms": in_flight(state, "Confirm"),
    }


def members(node_set):
    """The nodes of a set, which is written as words of 64 bits."""
    bits = [(64 * index, word) for index, word in enumerate(node_set["words"])]
    return [first + bit for first, word in bits for bit in range(64) if word >> bit & 1]


def in_flight(state, kind):
    count = Table()
    for i, j, message in state["in_flight"]:
        if kind in message:
            count[i, j, message[kind]] = count(i, j, message[kind]) + 1
    return count


@ricart_agrawala.explaining
def explanations(action, state):
    match action:
        case {"request": i}:
            yield [(request, i)]
        case {"leave": i}:
            yield [(release, i)]
        case {"deliver": [i, j, {"Request": t}]}:
            yield [(hold_back, j, i, t)]
            yield [(confirm, j, i, t)]
        case {"deliver": [j, i, {"Confirm": t}]}:
            yield [(wait_for_more, i, j, t)]
            yield [(enter, i, j, t)]
