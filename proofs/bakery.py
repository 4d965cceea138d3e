"""Lamport's bakery, for any number of seats: exclusion, and first come, first served.

The steps are those of `src/lock/raw/bakery.rs`. A seat has one word: 0 idle, 1 choosing, from 2 on
its ticket. A step reads or writes one word.

Registers are *regular*, which is weaker than atomic: a read that overlaps a write returns the old
word or the new one. A seat is "about to write" from when the write may begin to when it is over, so
that a read in between may return either. Atomic registers only ever return the old one, so their
steps are among these.

Seats are read in any order, and a seat that looks may begin again at any time. A seat that waits
may withdraw. Tickets are integers. A register has a limit: a seat that would need a higher ticket
steps back, which any seat may do here.
"""

from inductive import *

OUTSIDE = 0  # The word is idle.
CHOOSE = 1  # About to write that it is choosing.
SCAN = 2  # Choosing: reads the others' words, for the highest ticket.
DRAW = 3  # About to write its ticket.
LOOK = 4  # Has a ticket: looks whether anybody is ahead.
INSIDE = 5
LEAVE = 6  # About to write that it is idle.

IDLE, CHOOSING, FIRST = 0, 1, 2

bakery = Proof(
    variables={
        "at": [Node, Number],
        "word": [Node, Number],
        # The highest word that a seat has read since it began to choose.
        "highest": [Node, Number],
        # Seat p has read the word of q in its doorway; has looked at q and need not wait for it.
        "read": [Node, Node, Truth],
        "passed": [Node, Node, Truth],
        # Ghost: q had drawn when p began, and has neither entered nor withdrawn since.
        "ahead": [Node, Node, Truth],
    },
    # The number of a seat, which decides between equal tickets.
    statics={"number": [Node, Number]},
    constants=lambda domains: {"number": lambda p: p},
)


@bakery.axiom
def numbers_differ(s, p: Node, q: Node):
    return Implies(s.number(p) == s.number(q), p == q)


def ticket(s, p):
    """The ticket that a seat is about to write, or has written."""
    return s.highest(p) + 1


def is_before(s, one, p, other, q):
    """Ticket `one` of seat p goes before ticket `other` of seat q."""
    return Or(one < other, And(one == other, s.number(p) < s.number(q)))


def may_read(s, q, word):
    """What a read of q's word may return: what is there, or what is just being written."""
    return Or(
        word == s.word(q),
        And(s.at(q) == CHOOSE, word == CHOOSING),
        And(s.at(q) == DRAW, word == ticket(s, q)),
        And(s.at(q) == LEAVE, word == IDLE),
    )


@bakery.initial
def all_are_outside(s, p: Node, q: Node):
    return And(s.at(p) == OUTSIDE, s.word(p) == IDLE, Not(s.ahead(p, q)))


# The steps.


@bakery.step
def begin(s, p: Node):
    drawn = lambda x, y: If(x == p, s.at(y) == LOOK, s.ahead(x, y))
    return s.at(p) == OUTSIDE, s.but(at=put(s.at, p, CHOOSE), ahead=drawn)


@bakery.step
def announce(s, p: Node):
    return s.at(p) == CHOOSE, s.but(
        at=put(s.at, p, SCAN),
        word=put(s.word, p, CHOOSING),
        highest=put(s.highest, p, FIRST - 1),
        read=put(s.read, p, ANY, False),
    )


@bakery.step
def scan(s, p: Node, q: Node, word: Number):
    highest = If(word > s.highest(p), word, s.highest(p))
    return And(s.at(p) == SCAN, p != q, may_read(s, q, word)), s.but(
        highest=put(s.highest, p, highest), read=put(s.read, p, q, True)
    )


@bakery.step
def decide(s, p: Node):
    all_read = s.every(Node, lambda q: Or(q == p, s.read(p, q)))
    return And(s.at(p) == SCAN, all_read), s.but(at=put(s.at, p, DRAW))


@bakery.step
def draw(s, p: Node):
    return s.at(p) == DRAW, s.but(
        at=put(s.at, p, LOOK),
        word=put(s.word, p, ticket(s, p)),
        passed=put(s.passed, p, ANY, False),
    )


@bakery.step
def step_back_at_the_limit(s, p: Node):
    return s.at(p) == DRAW, s.but(at=put(s.at, p, LEAVE))


@bakery.step
def look(s, p: Node, q: Node, word: Number):
    """It need not wait for q. If it must, nothing changes."""
    behind = is_before(s, ticket(s, p), p, word, q)
    need_not_wait = And(word != CHOOSING, Or(word == IDLE, behind))
    return And(s.at(p) == LOOK, p != q, may_read(s, q, word), need_not_wait), s.but(
        passed=put(s.passed, p, q, True)
    )


@bakery.step
def look_again(s, p: Node):
    return s.at(p) == LOOK, s.but(passed=put(s.passed, p, ANY, False))


@bakery.step
def enter(s, p: Node):
    all_passed = s.every(Node, lambda q: Or(q == p, s.passed(p, q)))
    return And(s.at(p) == LOOK, all_passed), s.but(
        at=put(s.at, p, INSIDE), ahead=put(s.ahead, ANY, p, False)
    )


@bakery.step
def withdraw(s, p: Node):
    return s.at(p) == LOOK, s.but(at=put(s.at, p, LEAVE), ahead=put(s.ahead, ANY, p, False))


@bakery.step
def leave(s, p: Node):
    return s.at(p) == INSIDE, s.but(at=put(s.at, p, LEAVE))


@bakery.step
def leave_the_word(s, p: Node):
    return s.at(p) == LEAVE, s.but(at=put(s.at, p, OUTSIDE), word=put(s.word, p, IDLE))


# The invariant.


@bakery.invariant
def the_word_says_where_its_seat_is(s, p: Node):
    return And(
        Implies(one_of(s.at(p), OUTSIDE, CHOOSE), s.word(p) == IDLE),
        Implies(one_of(s.at(p), SCAN, DRAW), s.word(p) == CHOOSING),
        Implies(one_of(s.at(p), LOOK, INSIDE), s.word(p) == ticket(s, p)),
    )


@bakery.invariant
def a_ticket_is_at_least_the_first(s, p: Node):
    return Implies(one_of(s.at(p), SCAN, DRAW, LOOK, INSIDE), ticket(s, p) >= FIRST)


@bakery.invariant
def a_seat_that_draws_has_read_all_words(s, p: Node, q: Node):
    return Implies(And(s.at(p) == DRAW, p != q), s.read(p, q))


@bakery.invariant
def a_seat_that_is_inside_has_passed_all(s, p: Node, q: Node):
    return Implies(And(s.at(p) == INSIDE, p != q), s.passed(p, q))


@bakery.invariant
def a_seat_that_was_passed_stays_behind(s, p: Node, q: Node):
    """
    Seat p, which has a ticket, has passed q. Then q has a greater one, or will: if it still reads
    and has read p's word, it has seen p's ticket. If it has not, it will.
    """
    passed = And(p != q, one_of(s.at(p), LOOK, INSIDE), s.passed(p, q))
    return Implies(
        passed,
        And(
            Implies(And(s.at(q) == SCAN, s.read(q, p)), ticket(s, q) > ticket(s, p)),
            Implies(
                one_of(s.at(q), DRAW, LOOK, INSIDE),
                is_before(s, ticket(s, p), p, ticket(s, q), q),
            ),
        ),
    )


@bakery.invariant
def a_seat_that_came_later_draws_a_greater_ticket(s, p: Node, q: Node):
    """Seat q had drawn when p began, and still waits."""
    return Implies(
        s.ahead(p, q),
        And(
            p != q,
            s.at(q) == LOOK,
            Implies(And(s.at(p) == SCAN, s.read(p, q)), ticket(s, p) > ticket(s, q)),
            Implies(one_of(s.at(p), DRAW, LOOK, INSIDE), ticket(s, p) > ticket(s, q)),
        ),
    )


# What follows.


@bakery.claim
def mutual_exclusion(s, p: Node, q: Node):
    return Implies(And(s.at(p) == INSIDE, s.at(q) == INSIDE), p == q)


@bakery.claim
def first_come_first_served(s, p: Node, q: Node):
    return Not(And(s.at(p) == INSIDE, s.ahead(p, q)))


# What goes wrong.


@bakery.flaw(replaces=announce, nodes=2)
def hasty(s, p: Node):
    """Nobody says that it is choosing."""
    _, after = announce(s, p)
    return s.at(p) == CHOOSE, after.but(word=s.word)


@bakery.flaw(replaces=look, nodes=2)
def ties(s, p: Node, q: Node, word: Number):
    """Of equal tickets both go first."""
    guard = And(s.at(p) == LOOK, p != q, may_read(s, q, word), word != CHOOSING)
    return And(guard, Or(word == IDLE, ticket(s, p) <= word)), s.but(
        passed=put(s.passed, p, q, True)
    )


@bakery.flaw(replaces=look, nodes=2)
def backwards(s, p: Node, q: Node, word: Number):
    """The higher ticket goes first."""
    guard = And(s.at(p) == LOOK, p != q, may_read(s, q, word), word != CHOOSING)
    return And(guard, Or(word == IDLE, is_before(s, word, q, ticket(s, p), p))), s.but(
        passed=put(s.passed, p, q, True)
    )


@bakery.flaw(replaces=look, nodes=2)
def safe_registers(s, p: Node, q: Node, word: Number):
    """A read that overlaps a write returns anything: for that, two words per seat are needed."""
    being_written = one_of(s.at(q), CHOOSE, DRAW, LEAVE)
    need_not_wait = And(word != CHOOSING, Or(word == IDLE, is_before(s, ticket(s, p), p, word, q)))
    may_be_read = Or(may_read(s, q, word), being_written)
    return And(s.at(p) == LOOK, p != q, may_be_read, need_not_wait), s.but(
        passed=put(s.passed, p, q, True)
    )


# The code's states and steps: of the model that the lab explores, and of the lock itself.


@bakery.reading
def tables(state):
    """A seat that the lab explores forgets what it has no use for any more."""
    seats = range(len(state["seats"]))
    others = lambda p: [q for q in seats if q != p]
    at, highest, read, passed, ahead = (Table() for _ in range(5))
    read.forgotten = {(p, q) for p in seats for q in seats}
    passed.forgotten = set(read.forgotten)
    highest.forgotten = {(p,) for p in seats}
    for p, place in enumerate(state["seats"]):
        match place:
            case ["Outside"]:
                at[p,] = OUTSIDE
            case ["Choose"]:
                at[p,] = CHOOSE
            case ["Scan", other, high]:
                at[p,], highest[p,] = SCAN, high
                read.update({(p, q): True for q in others(p) if q < other})
                read.forgotten -= {(p, q) for q in seats}
                highest.forgotten.discard((p,))
            case ["Draw", high]:
                at[p,], highest[p,] = DRAW, high
                read.update({(p, q): True for q in others(p)})
                highest.forgotten.discard((p,))
            case ["Look", other, own]:
                at[p,], highest[p,] = LOOK, own - 1
                passed.update({(p, q): True for q in others(p) if q < other})
                passed.forgotten -= {(p, q) for q in seats}
                highest.forgotten.discard((p,))
            case ["Inside"]:
                at[p,], highest[p,] = INSIDE, state["words"][p] - 1
                passed.update({(p, q): True for q in others(p)})
            case ["Leave"]:
                at[p,] = LEAVE
        ahead.update({(p, q): True for q in seats if state["ahead"][p] >> q & 1})
    word = Table({(p,): state["words"][p] for p in seats})
    return dict(at=at, word=word, highest=highest, read=read, passed=passed, ahead=ahead)


@bakery.observing
def observed(words):
    return {"word": {(p,): word for p, word in enumerate(words)}}


@bakery.explaining
def explanations(action, state):
    word = state.word
    match action:
        case {"begin": p}:
            yield [(begin, p)]
        case {"announce": p}:
            yield [(announce, p)]
        case {"begin again": p}:
            yield [(begin, p), (announce, p)]
        case {"scan": [p, q]}:
            # The lock reads its own word too, which tells it nothing. The last read is the one
            # after which the lab's seat is about to draw.
            scanned = [(scan, p, q, word(q))] if p != q else []
            yield scanned
            yield [*scanned, (decide, p)]
        case {"write the ticket": p}:
            yield [(draw, p)]
        case {"draw": p}:
            yield [(decide, p), (draw, p)]
        case {"find no ticket": p}:
            yield [(decide, p), (step_back_at_the_limit, p), (leave_the_word, p)]
        case {"look": [p, q]}:
            # It need not wait for q; that was the last one, so it is inside; it must wait.
            yield [(look, p, q, word(q)), (enter, p)]
            yield [(look, p, q, word(q))]
            yield []
        case {"look on": [p, q]}:
            yield [(look, p, q, word(q))]
            yield []
        case {"look again": p}:
            yield [(look_again, p)]
        case {"wait": _}:
            yield []
        case {"enter": p}:
            yield [(enter, p)]
        case {"withdraw": p}:
            yield [(withdraw, p)]
        case {"withdraw and idle": p}:
            yield [(withdraw, p), (leave_the_word, p)]
        case {"leave": p}:
            yield [(leave, p)]
        case {"idle": p}:
            yield [(leave_the_word, p)]
        case {"leave and idle": p}:
            yield [(leave, p), (leave_the_word, p)]
