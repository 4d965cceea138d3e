"""Lamport's algorithm, for any number of nodes: exclusion and order.

The steps are those of `src/message/permission/lamport.rs`. A step is one input of one node, with
all that the node sends for it.

The channels keep order. What a node sends has a later time than all that it sent before: that is
part of the invariant. So the first message of a channel is the one with the smallest time, and a
channel is a set here: `sent(i, j, kind, t)` says that a message with time t is on its way from i to
j. None is lost.

How many confirmations a node is owed is left out. It decides what is refused, not who enters.
Clocks are integers: the limit of 64 bits is left out, at which a node refuses to ask.
"""

from inductive import *

IDLE, WAITING, INSIDE = 0, 1, 2
REQUEST, CONFIRM, RELEASE = 0, 1, 2
Kind = Sort("kind", [REQUEST, CONFIRM, RELEASE])

NONE = 0  # No request: time is later.

lamport = Proof(
    variables={
        "phase": [Node, Number],
        "clock": [Node, Number],
        # The time of the request of k in the queue of node i, or none. Its own is among them.
        "queue": [Node, Node, Number],
        "heard": [Node, Node, Number],
        "sent": [Node, Node, Kind, Number, Truth],
    },
    # The number of a node, which decides between equal times.
    statics={"number": [Node, Number]},
    constants=lambda domains: {"number": lambda i: i},
)


@lamport.axiom
def numbers_differ(s, i: Node, j: Node):
    return Implies(s.number(i) == s.number(j), i == j)


def asked(s, i):
    return s.queue(i, i)


@lamport.initial
def all_are_idle(s, i: Node, j: Node):
    return And(s.phase(i) == IDLE, s.clock(i) == 0, s.queue(i, j) == NONE, s.heard(i, j) == 0)


@lamport.initial
def nothing_is_in_flight(s, i: Node, j: Node, kind: Kind, t: Number):
    return Not(s.sent(i, j, kind, t))


# The steps.


def broadcast(s, i, kind, time):
    """Node i sends to all others."""
    return lambda x, y, k, t: Or(s.sent(x, y, k, t), And(x == i, y != i, k == kind, t == time))


@lamport.step
def request(s, i: Node):
    now = s.clock(i) + 1
    return s.phase(i) == IDLE, s.but(
        phase=put(s.phase, i, WAITING),
        clock=put(s.clock, i, now),
        queue=put(s.queue, i, i, now),
        sent=broadcast(s, i, REQUEST, now),
    )


@lamport.step
def release(s, i: Node):
    now = s.clock(i) + 1
    return s.phase(i) == INSIDE, s.but(
        phase=put(s.phase, i, IDLE),
        clock=put(s.clock, i, now),
        queue=put(s.queue, i, i, NONE),
        sent=broadcast(s, i, RELEASE, now),
    )


def is_first(s, j):
    """Nobody can come before j: nobody has asked before, and nobody will."""

    def comes_after(i):
        has_asked = And(s.queue(j, i) != NONE, is_before(s, s.queue(j, i), i, asked(s, j), j))
        may_ask = is_before(s, s.heard(j, i), i, asked(s, j), j)
        return Or(i == j, And(Not(has_asked), Not(may_ask)))

    return s.every(Node, comes_after)


def enter_if_first(s, j):
    enters = And(s.phase(j) == WAITING, is_first(s, j))
    return s.but(phase=put(s.phase, j, If(enters, INSIDE, s.phase(j))))


def is_next(s, i, j, kind, time):
    """The message is the first of its channel."""
    is_first = lambda k, t: Implies(s.sent(i, j, k, t), time <= t)
    return And(s.sent(i, j, kind, time), s.world.forall([Kind, Number], is_first))


def hear(s, j, i, kind, time):
    """Node j has taken the message of i."""
    return s.but(
        sent=put(s.sent, i, j, kind, time, False),
        heard=put(s.heard, j, i, time),
        clock=put(s.clock, j, later(s.clock(j), time)),
    )


def note(s, j, i, t):
    """Node j puts the request of i into its queue, and confirms it."""
    after = hear(s, j, i, REQUEST, t)
    now = after.clock(j) + 1
    return after.but(
        clock=put(after.clock, j, now),
        queue=put(s.queue, j, i, t),
        sent=put(after.sent, j, i, CONFIRM, now, True),
    )


@lamport.step
def receive_a_request(s, j: Node, i: Node, t: Number):
    return is_next(s, i, j, REQUEST, t), enter_if_first(note(s, j, i, t), j)


@lamport.step
def receive_a_confirmation(s, j: Node, i: Node, t: Number):
    return is_next(s, i, j, CONFIRM, t), enter_if_first(hear(s, j, i, CONFIRM, t), j)


@lamport.step
def receive_a_release(s, j: Node, i: Node, t: Number):
    after = hear(s, j, i, RELEASE, t).but(queue=put(s.queue, j, i, NONE))
    return is_next(s, i, j, RELEASE, t), enter_if_first(after, j)


# The invariant.


@lamport.invariant
def a_message_is_later_than_all_before_it(s, i: Node, j: Node, kind: Kind, t: Number):
    said = And(i != j, s.heard(j, i) < t, t <= s.clock(i))
    return Implies(s.sent(i, j, kind, t), said)


@lamport.invariant
def no_two_messages_of_a_channel_have_one_time(s, i: Node, j: Node, k: Kind, l: Kind, t: Number):
    return Implies(And(s.sent(i, j, k, t), s.sent(i, j, l, t)), k == l)


@lamport.invariant
def nobody_has_heard_more_than_was_said(s, i: Node, j: Node):
    return And(0 <= s.heard(j, i), s.heard(j, i) <= s.clock(i))


@lamport.invariant
def a_node_asks_by_its_clock(s, i: Node):
    return And(
        one_of(s.phase(i), IDLE, WAITING, INSIDE),
        0 <= s.clock(i),
        Implies(s.phase(i) != IDLE, And(0 < asked(s, i), asked(s, i) <= s.clock(i))),
    )


@lamport.invariant
def a_request_is_on_its_way_or_in_the_queue(s, i: Node, j: Node):
    """Once it is in the queue of j, j has heard that time."""
    queued = And(s.queue(j, i) == asked(s, i), s.heard(j, i) >= asked(s, i))
    return Implies(
        And(i != j, s.phase(i) != IDLE),
        Or(s.sent(i, j, REQUEST, asked(s, i)), queued),
    )


@lamport.invariant
def a_release_in_flight_is_older_than_the_request(s, i: Node, j: Node, t: Number):
    """So it comes before it, and does not take it out of the queue."""
    return Implies(And(s.sent(i, j, RELEASE, t), s.phase(i) != IDLE), t < asked(s, i))


@lamport.invariant
def no_request_in_flight_is_younger_than_the_one_at_hand(s, i: Node, j: Node, t: Number):
    return Implies(And(s.sent(i, j, REQUEST, t), s.phase(i) != IDLE), t <= asked(s, i))


@lamport.invariant
def a_user_that_is_inside_has_heard_all(s, i: Node, j: Node):
    """So whatever anybody asks for later is younger."""
    return Implies(
        And(i != j, s.phase(j) == INSIDE),
        And(
            Not(is_before(s, s.heard(j, i), i, asked(s, j), j)),
            Implies(s.phase(i) != IDLE, is_before(s, asked(s, j), j, asked(s, i), i)),
        ),
    )


# What follows.


@lamport.claim
def mutual_exclusion(s, i: Node, j: Node):
    return Implies(And(s.phase(i) == INSIDE, s.phase(j) == INSIDE), i == j)


@lamport.claim
def a_user_that_is_inside_asked_before_all_that_wait(s, i: Node, j: Node):
    return Implies(
        And(s.phase(i) == INSIDE, s.phase(j) == WAITING),
        is_before(s, asked(s, i), i, asked(s, j), j),
    )


@lamport.claim
def no_message_comes_too_late(s, i: Node, j: Node, kind: Kind, t: Number):
    """A node refuses what is not later than all that it has heard from there."""
    return Implies(s.sent(i, j, kind, t), s.heard(j, i) < t)


# What goes wrong.


@lamport.flaw(replaces=receive_a_confirmation, nodes=2)
def unordered(s, j: Node, i: Node, t: Number):
    """Channels do not keep order: a confirmation overtakes the older request before it."""
    after = hear(s, j, i, CONFIRM, t)
    return s.sent(i, j, CONFIRM, t), enter_if_first(after, j)


@lamport.flaw(replaces=receive_a_request, nodes=3)
def unheard(s, j: Node, i: Node, t: Number):
    """A node enters as soon as nobody in its queue is before it, without hearing from all."""
    after = note(s, j, i, t)
    older = lambda k: is_before(s, after.queue(j, k), k, asked(s, j), j)
    first = s.every(Node, lambda k: Or(k == j, after.queue(j, k) == NONE, Not(older(k))))
    enters = And(s.phase(j) == WAITING, first)
    return is_next(s, i, j, REQUEST, t), after.but(
        phase=put(s.phase, j, If(enters, INSIDE, s.phase(j)))
    )


# The code's states and steps.

KINDS = {"Request": REQUEST, "Confirm": CONFIRM, "Release": RELEASE}


@lamport.reading
def tables(state):
    nodes = state["nodes"]
    ids = range(len(nodes))
    phases = {"Idle": IDLE, "Waiting": WAITING, "Inside": INSIDE}
    sent = [(i, j, *message.items()) for i, j, message in state["in_flight"]]
    return {
        "phase": Table({(i,): phases[nodes[i]["phase"]] for i in ids}),
        "clock": Table({(i,): nodes[i]["clock"] for i in ids}),
        "queue": Table({(i, k): nodes[i]["requests"][k] or NONE for i in ids for k in ids}),
        "heard": Table({(i, k): nodes[i]["heard"][k] for i in ids for k in ids}),
        "sent": Table({(i, j, KINDS[kind], t): True for i, j, (kind, t) in sent}),
    }


@lamport.explaining
def explanations(action, state):
    match action:
        case {"request": i}:
            yield [(request, i)]
        case {"leave": i}:
            yield [(release, i)]
        case {"deliver": [i, j, {"Request": t}]}:
            yield [(receive_a_request, j, i, t)]
        case {"deliver": [i, j, {"Confirm": t}]}:
            yield [(receive_a_confirmation, j, i, t)]
        case {"deliver": [i, j, {"Release": t}]}:
            yield [(receive_a_release, j, i, t)]
