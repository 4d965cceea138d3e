"""Peterson's lock at each node of a tree, for any number of seats and any binary tree: exclusion.

The steps are those of `src/lock/raw/peterson.rs` and `src/lock/raw/tournament.rs`. A step reads or
writes one register. Registers are atomic. A contender may withdraw wherever it waits.

Each seat has a way of nodes to the root, and comes to each of them from one of two sides. The one
thing that makes this a tree: two seats that come to a node from the same side have come through the
same node below it. So one that has won all nodes below has that side for itself, and Peterson's
lock never has more than two contenders. That it has at most one winner is Peterson's own invariant,
and so the argument goes up the tree.
"""

import itertools

from inductive import *

OUTSIDE = 0
RAISE = 1  # About to raise its flag at the node where it plays.
PEEK = 2  # About to look at the other's flag.
GIVE_WAY = 3  # About to give way.
AWAIT_FLAG = 4  # About to look at the other's flag again.
AWAIT_TURN = 5  # About to look at the turn.
INSIDE = 6
STEP_BACK = 7  # About to lower its flag at the node where it played, and has not won.
LOWER = 8  # About to lower its flag at a node that it has won.

Seat = Sort("seat")

tournament = Proof(
    variables={
        "at": [Seat, Number],
        "node": [Seat, Node],  # Where it plays; the first node of its way while it is outside.
        "flag": [Node, Truth, Truth],  # By the side.
        "turn": [Node, Truth],  # The side that gave way last.
    },
    statics={
        "on_way": [Seat, Node, Truth],
        "side": [Seat, Node, Truth],
        "below": [Node, Node, Truth],  # The first node is further from the root than the second.
        "first": [Seat, Node],
        "root": [Node],
        "child": [Node, Truth, Node],  # The node on that side, if there is one.
    },
    constants=lambda domains: heap(len(domains[Seat])),
)
tournament.domains = lambda seats: {Seat: range(seats), Node: range(1, seats)}


def heap(seats):
    """The tree of the code: the root is 1, the children of v are 2v and 2v + 1, the seats last."""

    def way(position):
        while position > 1:
            yield position // 2, position % 2 == 1
            position //= 2

    return {
        "on_way": lambda p, v: v in dict(way(seats + p)),
        "side": lambda p, v: dict(way(seats + p)).get(v, False),
        "below": lambda v, w: w in dict(way(v)),
        "first": lambda p: (seats + p) // 2,
        "root": lambda: 1,
        "child": lambda v, side: 2 * v + side if 2 * v + side < seats else v,
    }


# The tree.


@tournament.axiom
def below_is_an_order(s, u: Node, v: Node, w: Node):
    return And(Not(s.below(v, v)), Implies(And(s.below(u, v), s.below(v, w)), s.below(u, w)))


@tournament.axiom
def a_way_is_a_line(s, p: Seat, v: Node, w: Node):
    both = And(s.on_way(p, v), s.on_way(p, w))
    return Implies(both, Or(v == w, s.below(v, w), s.below(w, v)))


@tournament.axiom
def a_way_leads_from_its_first_node_to_the_root(s, p: Seat, v: Node):
    return And(
        s.on_way(p, s.first(p)),
        s.on_way(p, s.root()),
        Implies(s.on_way(p, v), Not(s.below(v, s.first(p)))),
        Implies(s.on_way(p, v), Not(s.below(s.root(), v))),
    )


@tournament.axiom
@instantiated_by(lambda s, p, q, v: [[s.side(p, v), s.side(q, v)]])
def who_comes_from_one_side_has_come_through_one_node(s, p: Seat, q: Seat, v: Node):
    child = s.child(v, s.side(p, v))
    meet = And(p != q, s.on_way(p, v), s.on_way(q, v), s.side(p, v) == s.side(q, v))
    return Implies(meet, And(s.on_way(p, child), s.on_way(q, child), s.below(child, v)))


def is_next(s, p, v, w):
    """On its way the seat comes from v to w, with none between."""
    between = lambda u: And(s.on_way(p, u), s.below(v, u), s.below(u, w))
    here = And(s.on_way(p, v), s.on_way(p, w), s.below(v, w))
    return And(here, s.every(Node, lambda u: Not(between(u))))


@tournament.initial
def all_are_outside(s, p: Seat, v: Node):
    return And(
        s.at(p) == OUTSIDE, s.node(p) == s.first(p), Not(s.flag(v, False)), Not(s.flag(v, True))
    )


# The steps.


def own_side(s, p):
    return s.side(p, s.node(p))


def other_is_up(s, p):
    return s.flag(s.node(p), Not(own_side(s, p)))


def other_gave_way(s, p):
    return s.turn(s.node(p)) != own_side(s, p)


@tournament.step
def begin(s, p: Seat):
    return s.at(p) == OUTSIDE, s.but(at=put(s.at, p, RAISE))


@tournament.step
def raise_the_flag(s, p: Seat):
    flag = put(s.flag, s.node(p), own_side(s, p), True)
    return s.at(p) == RAISE, s.but(at=put(s.at, p, PEEK), flag=flag)


@tournament.step
def peek(s, p: Seat):
    return And(s.at(p) == PEEK, other_is_up(s, p)), s.but(at=put(s.at, p, GIVE_WAY))


@tournament.step
def give_way(s, p: Seat):
    turn = put(s.turn, s.node(p), own_side(s, p))
    return s.at(p) == GIVE_WAY, s.but(at=put(s.at, p, AWAIT_FLAG), turn=turn)


@tournament.step
def see_the_flag_up(s, p: Seat):
    return And(s.at(p) == AWAIT_FLAG, other_is_up(s, p)), s.but(at=put(s.at, p, AWAIT_TURN))


@tournament.step
def see_no_turn(s, p: Seat):
    return And(s.at(p) == AWAIT_TURN, Not(other_gave_way(s, p))), s.but(at=put(s.at, p, AWAIT_FLAG))


def wins(s, p):
    """The contender need not wait, or no longer."""
    return Or(
        And(one_of(s.at(p), PEEK, AWAIT_FLAG), Not(other_is_up(s, p))),
        And(s.at(p) == AWAIT_TURN, other_gave_way(s, p)),
    )


@tournament.step
def win_a_node(s, p: Seat, above: Node):
    return And(wins(s, p), is_next(s, p, s.node(p), above)), s.but(
        at=put(s.at, p, RAISE), node=put(s.node, p, above)
    )


@tournament.step
def win_the_root(s, p: Seat):
    return And(wins(s, p), s.node(p) == s.root()), s.but(at=put(s.at, p, INSIDE))


@tournament.step
def leave(s, p: Seat):
    return s.at(p) == INSIDE, s.but(at=put(s.at, p, LOWER))


@tournament.step
def withdraw(s, p: Seat):
    return one_of(s.at(p), AWAIT_FLAG, AWAIT_TURN), s.but(at=put(s.at, p, STEP_BACK))


def lower(s, p):
    return s.but(flag=put(s.flag, s.node(p), own_side(s, p), False))


@tournament.step
def lower_a_flag(s, p: Seat, below: Node):
    """From the root down: the flag at the node below comes next."""
    return And(one_of(s.at(p), STEP_BACK, LOWER), is_next(s, p, below, s.node(p))), lower(s, p).but(
        at=put(s.at, p, LOWER), node=put(s.node, p, below)
    )


@tournament.step
def lower_the_last_flag(s, p: Seat):
    return And(one_of(s.at(p), STEP_BACK, LOWER), s.node(p) == s.first(p)), lower(s, p).but(
        at=put(s.at, p, OUTSIDE)
    )


# The invariant.


def has_won(s, p, v):
    """All nodes of its way below the one where it plays; that one too when it is inside."""
    below = s.below(v, s.node(p))
    return And(s.on_way(p, v), Or(below, And(v == s.node(p), one_of(s.at(p), INSIDE, LOWER))))


@tournament.invariant
def a_contender_plays_on_its_way(s, p: Seat):
    return And(
        OUTSIDE <= s.at(p),
        s.at(p) <= LOWER,
        s.on_way(p, s.node(p)),
        Implies(s.at(p) == OUTSIDE, s.node(p) == s.first(p)),
        Implies(s.at(p) == INSIDE, s.node(p) == s.root()),
    )


@tournament.invariant
def a_node_has_one_winner(s, p: Seat, q: Seat, v: Node):
    return Implies(And(has_won(s, p, v), has_won(s, q, v)), p == q)


@tournament.invariant
def a_winner_has_its_flag_up(s, p: Seat, v: Node):
    return Implies(has_won(s, p, v), s.flag(v, s.side(p, v)))


@tournament.invariant
def a_contender_that_plays_has_its_flag_up(s, p: Seat):
    plays = one_of(s.at(p), PEEK, GIVE_WAY, AWAIT_FLAG, AWAIT_TURN, STEP_BACK)
    return Implies(plays, s.flag(s.node(p), own_side(s, p)))


@tournament.invariant
def beside_a_winner_the_other_gave_way_last(s, p: Seat, q: Seat):
    """Contender p has won the node at which q waits."""
    waits = one_of(s.at(q), AWAIT_FLAG, AWAIT_TURN)
    met = And(p != q, has_won(s, p, s.node(q)))
    return Implies(And(waits, met), Not(other_gave_way(s, q)))


# What follows.


@tournament.claim
def mutual_exclusion(s, p: Seat, q: Seat):
    return Implies(And(s.at(p) == INSIDE, s.at(q) == INSIDE), p == q)


@tournament.claim
def a_side_of_a_node_has_one_contender(s, p: Seat, q: Seat):
    """What the lock at a node requires of those that use it."""
    same = And(s.node(p) == s.node(q), own_side(s, p) == own_side(s, q))
    return Implies(same, p == q)


# What goes wrong.


@tournament.flaw(replaces=lower_a_flag, nodes=3)
def leaf_first(s, p: Seat, above: Node):
    """Flags are lowered from the leaf up: a neighbour may climb meanwhile."""
    return And(s.at(p) == LOWER, is_next(s, p, s.node(p), above)), lower(s, p).but(
        node=put(s.node, p, above)
    )


@tournament.flaw(replaces=give_way, nodes=2)
def takes_the_turn(s, p: Seat):
    """A contender says that the other gave way, in place of giving way itself."""
    turn = put(s.turn, s.node(p), Not(own_side(s, p)))
    return s.at(p) == GIVE_WAY, s.but(at=put(s.at, p, AWAIT_FLAG), turn=turn)


# The code's states and steps: of the model that the lab explores, and of the lock itself.


@tournament.reading
def tables(state):
    """The lab's contender does not remember whether it has won the node that it leaves first."""
    seats = range(len(state["seats"]))
    names = {
        "Outside": [OUTSIDE],
        "Raise": [RAISE],
        "Peek": [PEEK],
        "GiveWay": [GIVE_WAY],
        "AwaitFlag": [AWAIT_FLAG],
        "AwaitTurn": [AWAIT_TURN],
        "Inside": [INSIDE],
        "Lower": [LOWER, STEP_BACK],
    }
    root = lambda p: (len(seats) + p).bit_length() - 1
    levels = [place[1] if len(place) > 1 else None for place in state["seats"]]
    node = Table()
    for p, (name, *_) in enumerate(state["seats"]):
        level = {"Outside": 1, "Inside": root(p)}.get(name, levels[p])
        node[p,] = (len(seats) + p) >> level
    rest = {"node": node, **registers(state["registers"])}
    for at in itertools.product(*(names[name] for name, *_ in state["seats"])):
        yield {"at": Table({(p,): at[p] for p in seats}), **rest}


def registers(words):
    """Three of each node: two flags and the turn. There is no node 0."""
    nodes = range(1, len(words) // 3)
    return {
        "flag": Table(
            {(v, side): bool(words[3 * v + side]) for v in nodes for side in (False, True)}
        ),
        "turn": Table({(v,): bool(words[3 * v + 2]) for v in nodes}),
    }


@tournament.observing
def observed(words):
    return registers(words)


@tournament.explaining
def explanations(action, state):
    match action:
        case {"begin": p}:
            yield [(begin, p)]
        case {"step": p}:
            yield from single_steps(p, state)
        case {"leave": p}:
            yield [(leave, p)]
        case {"withdraw": p}:
            yield [(withdraw, p)]
        # The lock itself takes several steps at a time, and is inside afterwards or is not.
        case {"climb": [p, inside]}:
            yield from alone(p, state, [begin], until=INSIDE if inside else AWAIT_FLAG)
        case {"win and climb": [p, inside]}:
            yield from alone(p, state, [], until=INSIDE if inside else AWAIT_FLAG)
        case {"wait": p}:
            yield [(see_the_flag_up, p), (see_no_turn, p)]
        case {"withdraw to the leaf": p}:
            yield from alone(p, state, [withdraw], until=OUTSIDE)
        case {"leave to the leaf": p}:
            yield from alone(p, state, [leave], until=OUTSIDE)


def single_steps(p, state):
    """The steps of one contender that begins, leaves and withdraws by other actions."""
    for step in (raise_the_flag, peek, give_way, see_the_flag_up, see_no_turn):
        yield [(step, p)]
    yield from ([(win_a_node, p, above)] for above in state.world.domains[Node])
    yield [(win_the_root, p)]
    yield from ([(lower_a_flag, p, below)] for below in state.world.domains[Node])
    yield [(lower_the_last_flag, p)]


def alone(p, state, first, until):
    """What one contender does by itself: these steps, and then the only one that it can take."""
    steps = []
    following = [[(step, p)] for step in first]
    while not steps or following or state.at(p) != until:
        for [(step, *arguments)] in [following.pop(0)] if following else single_steps(p, state):
            guard, after = step(state, *arguments)
            if guard:
                break
        looked_in_vain = step is see_no_turn
        if not guard or looked_in_vain or after.at(p) in {INSIDE, OUTSIDE, AWAIT_FLAG} - {until}:
            return
        steps.append((step, *arguments))
        state = after
    yield steps
