"""Plans who asks which version what and when, and which of the answers go wrong how."""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from making.records import Query, draw, seeded_random


@dataclass(frozen=True)
class Call:
    """One question to one version.

    Attributes
    ----------
    key : str
        What its draws depend on, and its id.
    week : int
        Weeks since the first day.
    drawn_as : str
        Calls with the same value get the same answer before faults: an assistant without chance in it.
    is_production : bool
        A customer asked, not a tester; the query brings no reference answer and no source.
    conversation_id, turn_index : str, int or None
        Of a turn of a conversation.
    set_answer : tuple or None
        Recorded fault and text of an answer that is written by hand; it has no part in the planned faults.
    """

    key: str
    version: str
    query: Query
    sample_index: int
    week: int
    asked_at: datetime
    drawn_as: str
    is_production: bool = False
    conversation_id: str | None = None
    turn_index: int | None = None
    set_answer: tuple[str, str] | None = None


def choose_production(queries: Sequence[Query], rules: Mapping[str, Any]) -> set[str]:
    """Return ids of the queries that customers ask and testers do not: the test set brings no answers to them."""
    parents = {query.parent_query_id for query in queries if query.parent_query_id}
    empty = {entry[0] for entry in rules["empty_answers"]}
    free = [
        query.query_id
        for query in queries
        if query.parent_query_id is None
        and not query.round_name
        and query.query_id not in parents | empty
        and query.sample_count == 1
        and query.language == "en"
        and query.query_type in rules["production"]["query_types"]
    ]
    free.sort(key=lambda query_id: _digest(f"{rules['random_seed']}|production|{query_id}"))
    return set(free[: int(rules["production"]["count_queries"])])


def plan_tests(queries: Sequence[Query], rules: Mapping[str, Any]) -> list[Call]:
    """Return the calls of testers: every query, version and sample."""
    calls: list[Call] = []
    for version in rules["versions"]:
        for query in queries:
            if query.asked_of and version not in query.asked_of:
                continue
            for sample_index in range(query.sample_count):
                key = f"{version}|{query.query_id}|{sample_index}"
                generator = seeded_random(int(rules["random_seed"]), "log", key)
                week = generator.randint(*_weeks(rules, version))
                asked_at = _moment(rules, week, generator)
                if day := rules["risk_session"] if query.tests_risks else query.asked_on:
                    asked_at = datetime.combine(day, asked_at.time(), UTC)
                # who asks changes nothing but what retrieval makes of it
                asked_as = query.root_query_id if query.variant_type == "counterfactual" else query.query_id
                drawn_as = f"{version}|{asked_as}|{sample_index}"
                calls.append(Call(key, version, query, sample_index, week, asked_at, drawn_as))
    return calls


def plan_production(queries: Sequence[Query], rules: Mapping[str, Any]) -> list[Call]:
    """Return the calls of customers: some questions are asked often, and some of them in a conversation."""
    settings = rules["production"]
    pool = sorted(queries, key=lambda query: _digest(f"{rules['random_seed']}|often|{query.query_id}"))
    weights = {place: (place + 1) ** -float(settings["exponent"]) for place in range(len(pool))}
    calls: list[Call] = []
    for week in range(int(settings["count_weeks"])):
        generator = seeded_random(int(rules["random_seed"]), "production", str(week))
        version = str([entry["version"] for entry in settings["versions"] if entry["from_week"] <= week][-1])
        while sum(call.week == week for call in calls) < int(settings["per_week"]):
            turns = [pool[draw(generator, weights)]]
            asked_at = _moment(rules, week, generator)
            conversation_id = None
            if generator.random() < float(settings["conversation_share"]):
                others = [query for query in pool if query.topic == turns[0].topic and query != turns[0]]
                turns += generator.sample(others, min(len(others), generator.choice([1, 2])))
                conversation_id = "talk_" + _digest(f"{week}|{len(calls)}")[:10]
            for turn, query in enumerate(turns):
                call = Call(
                    key=f"production|{week}|{len(calls)}",
                    version=version,
                    query=query,
                    sample_index=0,
                    week=week,
                    asked_at=asked_at + timedelta(minutes=2 * turn),
                    drawn_as=f"{version}|{query.query_id}|0",
                    is_production=True,
                    conversation_id=conversation_id,
                    turn_index=None if conversation_id is None else turn,
                )
                calls.append(call)
    return calls


def plan_set_pieces(queries: Sequence[Query], rules: Mapping[str, Any]) -> list[Call]:
    """Return the calls of customers whose answers are written by hand; the turns of one piece are a conversation."""
    by_id = {query.query_id: query for query in queries}
    calls: list[Call] = []
    for number, piece in enumerate(rules["set_pieces"]):
        week, version = int(piece["week"]), str(piece["version"])
        asked_at = _moment(rules, week, seeded_random(int(rules["random_seed"]), "set_piece", str(number)))
        is_conversation = len(piece["turns"]) > 1
        for turn, (query_id, answer) in enumerate(piece["turns"]):
            key = f"set_piece|{number}|{turn}"
            call = Call(
                key=key,
                version=version,
                query=by_id[query_id],
                sample_index=0,
                week=week,
                asked_at=asked_at + timedelta(minutes=2 * turn),
                drawn_as=key,
                is_production=True,
                conversation_id=f"talk_{_digest(f'set_piece|{number}')[:10]}" if is_conversation else None,
                turn_index=turn if is_conversation else None,
                set_answer=(str(piece["recorded_fault"]), str(answer)),
            )
            calls.append(call)
    return calls


def plan_faults(calls: Iterable[Call], rules: Mapping[str, Any]) -> dict[str, Mapping[str, float]]:
    """Return the keys of the calls whose answer gets a fault, each with the weights of the kinds of fault.

    The calls of a version are laid in a row by topic and query type, each as long as its fault rate; those that cover a
    whole number plus a seeded start are taken. So each topic, and each cell within it, gets its planned number of
    faults within one. Calls of customers are laid by week. Each round of testers has a row of its own.
    """
    rows: dict[tuple[bool, str, str], list[Call]] = {}
    for call in calls:
        if not call.query.tests_risks:
            rows.setdefault((call.is_production, call.version, call.query.round_name), []).append(call)
    planned: dict[str, Mapping[str, float]] = {}
    for (is_production, version, round_name), row in rows.items():
        name = f"production {version}" if is_production else f"{version} {round_name}".strip()
        reached = seeded_random(int(rules["random_seed"]), "plan", name).random()
        for call in sorted(row, key=lambda call: _place(call, rules)):
            rate, weights = _fault_of(call, rules)
            before, reached = reached, reached + rate
            if int(reached) > int(before):
                planned[call.key] = weights
    return planned


def draw_fault_order(weights: Mapping[str, float], generator: random.Random) -> list[str]:
    """Return the faults to try, first choice first, drawn without replacement by their weights."""
    left = dict(weights)
    order: list[str] = []
    while left:
        fault = str(draw(generator, left))
        order.append(fault)
        del left[fault]
    return order


def choose_leaks(calls: Sequence[Call], rules: Mapping[str, Any]) -> dict[str, str]:
    """Return the sentence about another customer that an answer gives away, by the key of its call."""
    leaks: dict[str, str] = {}
    for entry in rules["leaks"]:
        found = [
            call for call in calls if call.is_production and call.week == entry["week"] and not call.conversation_id
        ]
        leaks[min(found, key=lambda call: call.asked_at).key] = str(entry["sentence"])
    return leaks


def _fault_of(call: Call, rules: Mapping[str, Any]) -> tuple[float, Mapping[str, float]]:
    """Return the probability, in [0, 1], that the answer gets a fault, and the weights of the kinds of fault."""
    query, rates = call.query, rules["fault_rates"]
    own = {"version": call.version, "topic": query.topic, "query_type": query.query_type, "round": query.round_name}
    weights = rules["fault_weights"].get(query.query_type, {})
    if query.expected_behaviour == "refuse":
        weights = {"answered_instead_of_refusing": 1.0}
    if any((each["version"], each["query_id"]) == (call.version, query.root_query_id) for each in rules["declined"]):
        return 1.0, {"wrong_refusal": 1.0}
    drift = rules["production"]["drift"]
    if call.is_production and call.week >= drift["from_week"]:
        return float(drift["rate"]), weights if query.expected_behaviour == "refuse" else rates["grave_faults"]
    for cell in rates["cells"]:
        if all(own[name] == value for name, value in cell["where"].items()):
            return float(cell["rate"]), weights if query.expected_behaviour == "refuse" else rates["grave_faults"]
    rate = float(rates["version"][call.version]) * float(rates["query_type_factor"][query.query_type])
    return min(1.0, rate), weights


def _place(call: Call, rules: Mapping[str, Any]) -> tuple[int, str, str, str]:
    digest = _digest(f"{rules['random_seed']}|plan|{call.key}")
    return call.week if call.is_production else 0, call.query.topic, call.query.query_type, digest


def _weeks(rules: Mapping[str, Any], version: str) -> tuple[int, int]:
    settings = rules["versions"][version]
    return settings["first_week"], settings["last_week"]


def _moment(rules: Mapping[str, Any], week: int, generator: random.Random) -> datetime:
    """Return a moment in a week, by day more often than by night and less often at weekends."""
    weekday = draw(generator, {0: 5, 1: 5, 2: 5, 3: 5, 4: 5, 5: 3, 6: 2})
    hour = draw(generator, {hour: 1 if hour < 7 or hour > 21 else 8 for hour in range(24)})
    first_day: date = rules["first_day"]
    day = first_day + timedelta(weeks=week, days=weekday)
    return datetime.combine(day, time(hour, generator.randrange(60), generator.randrange(60)), UTC)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
