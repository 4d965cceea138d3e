"""Inductive invariants for any number of nodes: what the proofs of this folder are made of.

A proof is a transition system and an invariant, written once, as Python functions over states:

- A state is a set of functions, `s.phase(i)` or `s.held(i, j)`. A step takes a state and its
  parameters, and returns when it can happen and the state after it.
- A conjunct of the invariant takes a state and nodes. It is meant for all nodes.
- A claim looks like a conjunct. It follows from the invariant, and need not be inductive itself.

The same functions are read in three worlds. `And`, `Or` and the others take terms of the solver as
well as plain values of Python.

| world | nodes | values | used to |
|---|---|---|---|
| `AnyNumber` | any number: an uninterpreted sort | symbolic | prove: the solver says unsat |
| `Few` | two, three, ... | symbolic | refute a flaw, and see that each step can happen: sat |
| `Ground` | two, three, ... | known | compare with the code's steps, without a solver |

Quantifiers over nodes are expanded in `Few` and `Ground`. So a counterexample of `Few` is one, and
no matter of how far a solver's search for models goes.
"""

import inspect
import itertools
import time

try:
    import z3
except ImportError:  # `Ground` needs none.
    z3 = None


class Sort:
    """What a function takes or returns. One with known values is a number, of these."""

    def __init__(self, name, values=None):
        self.name = name
        self.values = values


# Nodes are compared by `==` only. Where they are ordered, a proof has a function for it.
Node = Sort("node")
# Integers: times, tickets, and names of states.
Number = Sort("number")
Truth = Sort("truth")


def is_term(value):
    return not isinstance(value, (bool, int))


def And(*parts):
    terms = []
    for part in parts:
        if is_term(part):
            terms.append(part)
        elif not part:
            return False
    return z3.And(*terms) if terms else True


def Or(*parts):
    terms = []
    for part in parts:
        if is_term(part):
            terms.append(part)
        elif part:
            return True
    return z3.Or(*terms) if terms else False


def Not(part):
    return z3.Not(part) if is_term(part) else not part


def Implies(condition, then):
    return Or(Not(condition), then)


def If(condition, then, otherwise):
    if is_term(condition):
        return z3.If(condition, then, otherwise)
    return then if condition else otherwise


def one_of(value, *candidates):
    return Or(*(value == candidate for candidate in candidates))


ANY = object()


def put(function, *key_and_value):
    """The function, but for one key. `ANY` stands for every value of a parameter."""
    *key, value = key_and_value

    def changed(*args):
        here = And(*(arg == part for arg, part in zip(args, key) if part is not ANY))
        return If(here, value, function(*args))

    return changed


def more(count, *key):
    """One more of this key."""
    return put(count, *key, count(*key) + 1)


def fewer(count, *key):
    """One fewer."""
    return put(count, *key, count(*key) - 1)


def later(one, other):
    return If(one < other, other, one)


class State:
    """A state: its world, and a function for each variable and each constant."""

    def __init__(self, world, functions):
        self.world = world
        self.functions = functions

    def __getattr__(self, name):
        try:
            return self.functions[name]
        except KeyError:
            raise AttributeError(name) from None

    def but(self, **changed):
        """The same state with other functions for these variables."""
        unknown = changed.keys() - self.functions.keys()
        assert not unknown, f"there is no variable {unknown}"
        return State(self.world, {**self.functions, **changed})

    def every(self, sort, body):
        return self.world.forall([sort], body)

    def some(self, sort, body):
        return Not(self.world.forall([sort], lambda it: Not(body(it))))


class AnyNumber:
    """Any number of nodes."""

    domains = {}

    def __init__(self):
        self.sorts = {}
        self.assumed = []

    def known(self, sort):
        """The values of a sort, if they are known."""
        return self.domains.get(sort, sort.values)

    def sort(self, sort):
        if sort is Truth:
            return z3.BoolSort()
        if sort is Number or self.known(sort):
            return z3.IntSort()
        return self.sorts.setdefault(sort, z3.DeclareSort(sort.name))

    def constant(self, sort, name):
        constant = z3.FreshConst(self.sort(sort), name)
        if self.known(sort):
            self.assumed.append(one_of(constant, *self.known(sort)))
        return constant

    def function(self, name, sorts):
        return z3.Function(name, *(self.sort(sort) for sort in sorts))

    def forall(self, sorts, body, triggers=lambda *args: []):
        """
        For all of these sorts. Those with known values are expanded. For the others the solver
        instantiates by the triggers, or by its own choice.
        """
        bound = [None if self.known(it) else z3.FreshConst(self.sort(it), it.name) for it in sorts]
        choices = [self.known(sort) or [variable] for sort, variable in zip(sorts, bound)]
        formula = And(*(body(*args) for args in itertools.product(*choices)))
        variables = [variable for variable in bound if variable is not None]
        if not variables or not is_term(formula):
            return formula
        patterns = [z3.MultiPattern(*terms) for terms in triggers(*bound)]
        return z3.ForAll(variables, formula, patterns=patterns)

    def statics(self, proof):
        return {name: self.function(name, sorts) for name, sorts in proof.statics.items()}


class Few(AnyNumber):
    """A fixed number of nodes: 0, 1, ... What does not change is known, and has the axioms."""

    def __init__(self, domains):
        super().__init__()
        self.domains = domains

    def forall(self, sorts, body, triggers=None):
        return super().forall(sorts, body)

    def statics(self, proof):
        tables = proof.constants_of(self.domains)
        return {name: self.tabulated(tables[name], sorts) for name, sorts in proof.statics.items()}

    def tabulated(self, function, sorts):
        """The function for a node that may be a term."""

        def term(*args):
            if not any(is_term(arg) for arg in args):
                return function(*args)
            result = False if sorts[-1] is Truth else 0
            domains = {**self.domains, Truth: [False, True]}
            for values in itertools.product(*(domains[sort] for sort in sorts[:-1])):
                here = And(*(arg == value for arg, value in zip(args, values)))
                result = If(here, function(*values), result)
            return result

        return term


class Ground:
    """Known nodes and numbers."""

    def __init__(self, domains, numbers):
        self.domains = {**domains, Number: numbers}

    def forall(self, sorts, body, triggers=None):
        choices = (self.domains.get(sort, sort.values) for sort in sorts)
        return all(body(*args) for args in itertools.product(*choices))


class Table(dict):
    """A function by its values. Where it has none, it is 0 or false.

    What the code does not keep is named in `forgotten`, and is not compared.
    """

    def __init__(self, values=(), forgotten=()):
        super().__init__(values)
        self.forgotten = set(forgotten)

    def __call__(self, *args):
        return self.get(args, 0)


class Proof:
    """A transition system, its invariant, and its claims."""

    def __init__(self, variables, statics, constants):
        #: Functions that steps change, and that they do not: the sorts that they take and return.
        self.variables, self.statics = variables, statics
        #: The functions that do not change, if it is known which nodes there are.
        self.constants_of = constants
        self.axioms, self.initials, self.steps = [], [], {}
        self.invariants, self.claims, self.flaws = [], [], []
        #: Which nodes there are, if it is known how many.
        self.domains = lambda nodes: {Node: range(nodes)}
        #: How the code's states, what can be seen of them, and its actions are to be understood.
        self.read, self.observe, self.explanations = None, None, None

    # What a proof's file says.

    def axiom(self, formula):
        """What is true of the constants."""
        self.axioms.append(formula)
        return formula

    def initial(self, formula):
        self.initials.append(formula)
        return formula

    def step(self, step):
        self.steps[step.__name__] = step
        return step

    def invariant(self, formula):
        self.invariants.append(formula)
        return formula

    def claim(self, formula):
        self.claims.append(formula)
        return formula

    def flaw(self, replaces, nodes=3):
        """A step that does it wrong, in place of another. The proof must fail."""

        def add(step):
            self.flaws.append((step, replaces, nodes))
            return step

        return add

    def reading(self, read):
        """From a state of the code to the tables of the variables."""
        self.read = read
        return read

    def observing(self, observe):
        """From what can be seen of the code to values of variables."""
        self.observe = observe
        return observe

    def explaining(self, explanations):
        """From an action and a state to lists of steps, of which one must be what the code does."""
        self.explanations = explanations
        return explanations

    # What becomes of it.

    def some_state(self, world):
        variables = {name: world.function(name, it) for name, it in self.variables.items()}
        state = State(world, {**variables, **world.statics(self)})
        for name, (*sorts, result) in self.variables.items():
            if world.known(result):
                in_range = lambda *args: one_of(variables[name](*args), *world.known(result))
                world.assumed.append(world.forall(sorts, in_range))
        return state

    def ground_state(self, nodes, tables):
        """A state by its tables. Quantifiers over numbers range over those that occur in it."""
        numbers = {0}.union(*map(self.numbers_in, tables.items()))
        world = Ground(self.domains(nodes), sorted(numbers))
        return State(world, {**tables, **self.constants_of(world.domains)})

    def numbers_in(self, named_table):
        name, table = named_table
        *places, result = self.variables[name]
        places = [index for index, sort in enumerate(places) if sort is Number]
        found = {key[index] for key in table for index in places}
        if result is Number:
            found |= {number for value in table.values() for number in (value, value + 1)}
        return found

    def assume_anything(self, world):
        """A solver, and a state of which only the constants are known."""
        state = self.some_state(world)
        solver = z3.Solver()
        # Steps of the solver, not seconds: a busy machine changes no result.
        solver.set("rlimit", 100_000_000)
        solver.add(*(for_all(axiom, state) for axiom in self.axioms), *world.assumed)
        return solver, state

    def assume_invariant(self, world, step):
        """A solver that knows that the invariant holds, and that the step happens."""
        solver, state = self.assume_anything(world)
        solver.add(*(for_all(it, state) for it in self.invariants))
        parameters = some_parameters(step, world)
        guard, after = step(state, *parameters)
        solver.add(guard, *world.assumed)
        return solver, state, parameters, after

    def assume_first(self, world):
        """A solver that knows that the state is an initial one."""
        solver, state = self.assume_anything(world)
        solver.add(*(for_all(it, state) for it in self.initials))
        return solver, state

    def holds_at_first(self, conjunct):
        solver, state = self.assume_first(AnyNumber())
        return refutes(solver, for_all(conjunct, state))

    def is_kept(self, step, conjunct):
        solver, _, _, after = self.assume_invariant(AnyNumber(), step)
        return refutes(solver, for_all(conjunct, after))

    def follows(self, claim):
        solver, state = self.assume_anything(AnyNumber())
        solver.add(*(for_all(it, state) for it in self.invariants))
        return refutes(solver, for_all(claim, state))

    def can_begin(self, nodes):
        """Whether so many nodes have an initial state."""
        solver, _ = self.assume_first(Few(self.domains(nodes)))
        return str(solver.check())

    def can_happen(self, step, nodes=3):
        """Whether some state of so many nodes has the invariant and allows the step."""
        solver, *_ = self.assume_invariant(Few(self.domains(nodes)), step)
        return str(solver.check())

    def counterexample(self, flaw):
        """The first conjunct that a flawed step breaks, and how: unsat if there is none."""
        step, _, nodes = flaw
        for conjunct in self.invariants:
            world = Few(self.domains(nodes))
            solver, state, arguments, after = self.assume_invariant(world, step)
            result = refutes(solver, for_all(conjunct, after))
            if result == "sat":
                model = solver.model()
                known = [model.eval(argument, model_completion=True) for argument in arguments]
                before, then = (self.in_model(model, it) for it in (state, after))
                return result, conjunct, (known, before, then)
            if result != "unsat":
                return result, conjunct, None
        return "unsat", None, None

    def in_model(self, model, state):
        """The values of a state's variables, by name and arguments. Of messages, at known times."""
        values, numbers = {}, set()
        domains = {**state.world.domains, Truth: [False, True], Number: numbers}
        by_arguments = sorted(self.variables.items(), key=lambda it: Number in it[1][:-1])
        for name, (*sorts, result) in by_arguments:
            for args in itertools.product(*(domains.get(sort, sort.values) for sort in sorts)):
                value = getattr(state, name)(*args)
                value = model.eval(value, model_completion=True) if is_term(value) else value
                values[name, args] = str(value)
                if result is Number and Number not in sorts:
                    numbers.add(int(values[name, args]))
        return values


def for_all(formula, state):
    triggers = getattr(formula, "triggers", lambda *args: [])
    return state.world.forall(
        sorts_of(formula),
        lambda *args: formula(state, *args),
        lambda *args: triggers(state, *args),
    )


def instantiated_by(triggers):
    """For a formula that would otherwise be instantiated for ever: the terms that must be there."""

    def add(formula):
        formula.triggers = triggers
        return formula

    return add


def some_parameters(step, world):
    return [world.constant(sort, name) for name, sort in parameters(step).items()]


def refutes(solver, goal):
    solver.add(Not(goal))
    return str(solver.check())


def parameters(function):
    """The parameters after the state, with their sorts."""
    described = list(inspect.signature(function).parameters.values())[1:]
    return {it.name: it.annotation for it in described}


def sorts_of(function):
    return list(parameters(function).values())


def words(function):
    return function.__name__.replace("_", " ")


def timed(ask):
    start = time.perf_counter()
    return ask(), time.perf_counter() - start


# Requests with times.


def is_before(s, one, i, other, j):
    """The request of i at time `one` is older than that of j at time `other`.

    Equal times are decided by the numbers of the nodes.
    """
    return Or(one < other, And(one == other, s.number(i) < s.number(j)))
