"""House bots for Bomberman."""

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from botdrome.games.bomberman import (
    CRATE,
    DIRECTIONS,
    FREE,
    PLACE_BOMB,
    WAIT,
    WALL,
    WORDS,
    Action,
    Bomb,
    Place,
    Rows,
    blasts,
    closing_groups,
    closing_plan,
    flames,
    neighbours,
    with_tiles,
)
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View


def random(view: View, chance: Chance) -> Raw:
    """Choose any legal action: draw actions until one is legal."""
    user = view["users"][view["you"]]
    action = chance.below(6)
    while not _is_legal(view, user, action):
        action = chance.below(6)
    return {"action": WORDS[action]}


def _is_legal(view: View, user: View, action: int) -> bool:
    if action == WAIT:
        return True
    row, column = user["at"]
    if action == PLACE_BOMB:
        return user["bombsLeft"] > 0 and not _has_bomb(view, row, column)
    down, right = DIRECTIONS[action]
    row, column = row + down, column + right
    if not (0 <= row < view["height"] and 0 <= column < view["width"]):
        return False
    return view["tiles"][row][column] == FREE and not _has_bomb(view, row, column)


def _has_bomb(view: View, row: int, column: int) -> bool:
    for bomb in view["bombs"]:
        at = bomb["at"]
        if at[0] == row and at[1] == column:
            return True
    return False


# The scene: a view of Bomberman, prepared for bots that look ahead.
#
# Sets of tiles are integers with one bit per tile, row by row from the lowest bit.

Tiles = int


class Scene(Struct, frozen=True):
    height: int
    width: int
    round: int
    fuse: int
    pierces: bool
    rows: Rows
    left_edge: Tiles
    lying: list[Bomb]
    doomed: set[Place]
    """The places that each of these bombs would burn by itself on the current map."""
    upgrades: list[Place]
    closing_at: int | None
    closing: list[Place]
    own: Bomb
    """The bomb that the bot could place now, on its own place."""
    can_place: bool
    rivals: list[Place]
    threats: list[Bomb]
    """The bombs that the rivals could place now."""

    def tile(self, place: Place) -> Tiles:
        return 1 << place[0] * self.width + place[1]

    def tiles(self, places: Iterable[Place]) -> Tiles:
        return sum(map(self.tile, set(places)))

    def can_enter(self, rows: Rows, lying: Iterable[Bomb]) -> Tiles:
        free = "".join(rows)[::-1].replace(FREE, "1").replace(CRATE, "0").replace(WALL, "0")
        return int(free, 2) & ~self.tiles(bomb.at for bomb in lying)

    def with_neighbours(self, tiles: Tiles) -> Tiles:
        """Return the tiles and their neighbours. The result may hold bits off the map."""
        right_edge = self.left_edge << self.width - 1
        beside = (tiles & ~self.left_edge) >> 1 | (tiles & ~right_edge) << 1
        return tiles | beside | tiles >> self.width | tiles << self.width


def scene_of(view: View) -> Scene:
    rows = tuple(view["tiles"])
    now, own, closing = view["round"], view["users"][view["you"]], view["closing"]
    lying = [
        Bomb(_place(bomb["at"]), now + bomb["turnsLeft"] - 1, bomb["range"], bomb["seat"])
        for bomb in view["bombs"]
    ]
    mined = {bomb.at for bomb in lying}
    rivals = [user for user in view["users"] if user["alive"] and user["seat"] != own["seat"]]
    could_be = {
        user["seat"]: Bomb(_place(user["at"]), now + view["fuse"], user["range"], user["seat"])
        for user in (own, *rivals)
    }
    able = [
        user["seat"]
        for user in (own, *rivals)
        if user["bombsLeft"] and could_be[user["seat"]].at not in mined
    ]
    return Scene(
        height=view["height"],
        width=view["width"],
        round=now,
        fuse=view["fuse"],
        pierces=view["flamePierces"],
        rows=rows,
        left_edge=sum(1 << row * view["width"] for row in range(view["height"])),
        lying=lying,
        doomed={place for bomb in lying for place in flames(rows, bomb, view["flamePierces"])},
        upgrades=[_place(upgrade["at"]) for upgrade in view["upgrades"]],
        closing_at=closing["at"],
        closing=[_place(place) for place in closing["next"]],
        own=could_be[own["seat"]],
        can_place=own["seat"] in able,
        rivals=[could_be[user["seat"]].at for user in rivals],
        threats=[could_be[seat] for seat in able if seat != own["seat"]],
    )


def _place(pair: Iterable[int]) -> Place:
    row, column = pair
    return row, column


# Predictions for Bomberman: the tiles that burn in each round, and the tiles on which a user
# survives.

ALL: Tiles = -1


def burned_by(scene: Scene, bomb: Bomb) -> list[Place]:
    """Return the tiles that this bomb alone would burn on the current map."""
    return flames(scene.rows, bomb, scene.pierces)


def forecast(scene: Scene, placed: Iterable[Bomb]) -> Iterator[tuple[Tiles, Tiles]]:
    """Yield, for each round until the last bomb explodes, the tiles that can be entered and the
    tiles that are deadly.

    Assume that no bombs are placed except `placed`, which are placed now.
    """
    rows, lying = scene.rows, [*scene.lying, *placed]
    for now in range(scene.round, scene.round + scene.fuse + 1):
        can_enter = scene.can_enter(rows, lying)
        blown = blasts(rows, lying, now, scene.pierces)
        deadly = {place for _, places in blown for place in places}
        rows = with_tiles(
            rows, [(row, column) for row, column in deadly if rows[row][column] == CRATE], FREE
        )
        gone = [bomb for bomb, _ in blown]
        lying = [bomb for bomb in lying if bomb not in gone]
        if now == scene.closing_at:
            deadly.update(scene.closing)
            rows = with_tiles(rows, scene.closing, WALL)
        yield can_enter, scene.tiles(deadly)


def refuges(
    scene: Scene, placed: Iterable[Bomb], crowd: Tiles, spreading: bool, horizon: int | None = None
) -> Tiles:
    """Return the tiles on which a user survives after this round's moves, without the tiles of a
    crowd, which may spread.

    With a horizon, the user needs to survive only that many rounds.
    """
    rounds = []
    for can_enter, deadly in islice(forecast(scene, placed), horizon):
        crowd |= scene.with_neighbours(crowd) & can_enter if spreading else 0
        rounds.append((can_enter & ~crowd, deadly))
    living = can_enter_next = ALL
    for can_enter, deadly in reversed(rounds):
        living = (living | scene.with_neighbours(living & can_enter_next)) & ~deadly
        can_enter_next = can_enter
    return living


def distances(scene: Scene, start: Place) -> dict[Place, int]:
    """Return the places that can be reached on the current map, with their distances in steps,
    nearest first.
    """
    beside = neighbours(scene.height, scene.width)
    can_enter = scene.can_enter(scene.rows, scene.lying)
    found, reached = [start], {start: 0}
    for place in found:  # the loop body appends to this list
        for after in beside[place]:
            if after is not None and after not in reached and scene.tile(after) & can_enter:
                reached[after] = reached[place] + 1
                found.append(after)
    return reached


# Traps in Bomberman: bombs from which users cannot escape.

Ways = tuple[Tiles, Tiles]
"""The tiles that can be entered, and the tiles on which a user survives after this round's moves.
"""

CLOSE = 8
"""The distance in tiles up to which a rival is a danger or a target."""
MOST = 2
"""The number of rivals that are watched, nearest first."""
REACH = 5
"""The largest distance of a trap in steps, and of its rivals in tiles."""
GRIP = (1.0, 0.4, 0.15, 0.0, 0.0, 0.0)
"""The value of a bomb that leaves a rival 0, 1, 2, ... safe steps. With 0 the rival is trapped."""


def ways_out(scene: Scene, bomb: Bomb) -> Ways:
    """Return the ways out if this bomb is placed now and nobody else acts."""
    stands = scene.tile(bomb.at)
    return scene.can_enter(scene.rows, [*scene.lying, bomb]), refuges(scene, [bomb], stands, False)


def steps_left(scene: Scene, place: Place, ways: Ways) -> int:
    """Return the number of steps that save a user on this place, including staying."""
    can_enter, safe = ways
    tile = scene.tile(place)
    return ((tile | scene.with_neighbours(tile) & can_enter) & safe).bit_count()


def gets_away(scene: Scene, placed: list[Bomb]) -> bool:
    """Return True if a user on the first of these bombs survives any moves of the rivals."""
    return bool(scene.tile(placed[0].at) & refuges(scene, placed, scene.tiles(scene.rivals), True))


def dangers(scene: Scene) -> Tiles:
    """Return the tiles where a bomb in the next round could trap the bot."""
    found = 0
    for bomb in sorted(scene.threats, key=lambda bomb: tiles_between(bomb.at, scene.own.at))[:MOST]:
        if tiles_between(bomb.at, scene.own.at) <= CLOSE:
            for place in _next_places(scene, bomb.at, scene.own.at):
                can_enter, safe = ways_out(scene, replace(bomb, at=place))
                found |= ~(safe | scene.with_neighbours(safe & can_enter))
    return found


def grips(scene: Scene, places: Iterable[Place]) -> dict[Place, float]:
    """Return how well a bomb on each place in the next round would restrict the rivals."""
    watched = sorted(scene.rivals, key=lambda rival: tiles_between(rival, scene.own.at))[:MOST]
    close = [rival for rival in watched if tiles_between(rival, scene.own.at) <= CLOSE]
    return (
        {place: _grip(scene, replace(scene.own, at=place), close) for place in places}
        if close
        else {}
    )


def _grip(scene: Scene, bomb: Bomb, rivals: list[Place]) -> float:
    if bomb.at in [lying.at for lying in scene.lying] or not gets_away(scene, [bomb]):
        return 0.0
    ways = ways_out(scene, bomb)
    grip = 0.0
    for rival in rivals:
        after = _next_places(scene, rival, bomb.at)
        grip += sum(GRIP[steps_left(scene, place, ways)] for place in after) / len(after)
    return grip


def _next_places(scene: Scene, place: Place, taken: Place) -> list[Place]:
    """Return the places of a user after one step, including its current place."""
    can_enter = scene.can_enter(scene.rows, scene.lying) & ~scene.tile(taken)
    beside = neighbours(scene.height, scene.width)[place]
    return [
        place,
        *(after for after in beside if after is not None and scene.tile(after) & can_enter),
    ]


def trap(scene: Scene, reached: dict[Place, int]) -> Place | None:
    """Return the nearest place where a bomb would trap a rival that does not move."""
    for place, steps in reached.items():
        if steps > REACH:
            break
        bomb = replace(scene.own, at=place)
        held = {*burned_by(scene, bomb), *scene.doomed}
        near = [
            rival
            for rival in scene.rivals
            if tiles_between(rival, place) <= REACH and rival in held
        ]
        if near and _holds(scene, bomb, near) and gets_away(scene, [bomb]):
            return place
    return None


def _holds(scene: Scene, bomb: Bomb, rivals: list[Place]) -> bool:
    ways = ways_out(scene, bomb)
    return any(steps_left(scene, rival, ways) == 0 for rival in rivals)


def tiles_between(one: Place, other: Place) -> int:
    """Return the distance, ignoring walls."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


# The sapper: a house bot for Bomberman that looks ahead until the last bomb has exploded.

SAPPER_UPGRADE, SAPPER_RIVAL = 4, 2
"""Their values, in crates."""
FAR = 1000
SAPPER_SOON = 10
"""The number of rounds before walls close in from which the bot goes to the middle of the map."""


def sapper(view: View, chance: Chance) -> Raw:
    """Stay alive if possible; bomb crates and rivals if it can escape; take upgrades."""
    scene = scene_of(view)
    steps, feared = _safe_steps(scene)
    if (
        scene.can_place
        and _sapper_gain(scene, scene.own.at)
        and _can_get_away(scene, [scene.own, *feared])
    ):
        return {"action": WORDS[PLACE_BOMB]}
    way = distances(scene, _sapper_goal(scene))
    nearest = min(way.get(place, FAR) for place in steps.values())
    best = [action for action, place in steps.items() if way.get(place, FAR) == nearest]
    if WAIT in steps and scene.tiles(steps[action] for action in best) & scene.with_neighbours(
        scene.tiles(scene.rivals)
    ):
        best.append(WAIT)  # two bots that want the same tile would block each other forever
    return {"action": WORDS[chance.choice(best)]}


def _safe_steps(scene: Scene) -> tuple[dict[Action, Place], list[Bomb]]:
    """Return the steps that the bot survives, and the bombs of rivals that it assumes: the worst
    actions first, then fewer.
    """
    steps = dict(steps_of(scene))
    crowd, threats = scene.tiles(scene.rivals), scene.threats
    for feared, blocked, spreading in (
        (threats, crowd, True),
        (threats, crowd, False),
        ([], crowd, False),
        ([], 0, False),
    ):
        safe = refuges(scene, feared, blocked, spreading)
        sure = safe if scene.tile(scene.own.at) & safe else safe & ~scene.with_neighbours(blocked)
        survived = {action: place for action, place in steps.items() if scene.tile(place) & sure}
        if survived:
            return survived, feared
    return steps, []


def steps_of(scene: Scene) -> Iterator[tuple[Action, Place]]:
    yield WAIT, scene.own.at
    taken = {*scene.rivals, *(bomb.at for bomb in scene.lying)}
    for action, place in enumerate(neighbours(scene.height, scene.width)[scene.own.at]):
        if place is not None and scene.rows[place[0]][place[1]] == FREE and place not in taken:
            yield action, place


def _can_get_away(scene: Scene, placed: list[Bomb]) -> bool:
    """Return True if a user on the first of these bombs can escape."""
    return bool(scene.tile(placed[0].at) & refuges(scene, placed, scene.tiles(scene.rivals), True))


def _sapper_goal(scene: Scene) -> Place:
    """Return the place with the best value for its distance; if walls close soon, one where they
    close last.
    """
    reached = distances(scene, scene.own.at)
    if scene.closing_at is not None and scene.closing_at - scene.round <= SAPPER_SOON:
        innermost = closing_groups(scene.height, scene.width)[-1]
        for place in filter(innermost.__contains__, reached):
            return place
    worth = {
        place: SAPPER_UPGRADE if place in scene.upgrades else _sapper_gain(scene, place)
        for place in reached
    }
    for place in sorted(reached, key=lambda place: -worth[place] / (reached[place] + 2)):
        if place in scene.upgrades or _can_get_away(scene, [replace(scene.own, at=place)]):
            return place
    return scene.own.at


def _sapper_gain(scene: Scene, place: Place) -> int:
    """Return the value of a bomb on this place."""
    burned = burned_by(scene, replace(scene.own, at=place))
    crates = sum(
        scene.rows[row][column] == CRATE
        for row, column in burned
        if (row, column) not in scene.doomed
    )
    return crates + SAPPER_RIVAL * len(set(scene.rivals).intersection(burned))


# The bombardier: a house bot for Bomberman that sets traps, avoids the traps of others, and is
# first in the middle.

BOMBARDIER_UPGRADE, BOMBARDIER_RIVAL = 6, 2
"""Their values, in crates."""
DANGER, BOMBARDIER_GRIP = 6.0, 3.0
"""The loss for a place where it could be trapped, and the gain for one where it could trap a rival,
in steps.
"""
BOMBARDIER_SOON = 30
"""The number of rounds before walls close in from which the bot goes to the middle of the map."""
NARROW = 25
"""The number of remaining tiles from which a place in the middle is worth a risk."""


def bombardier(view: View, chance: Chance) -> Raw:
    """Stay alive if possible; trap rivals, open crates, take upgrades; hold the middle when walls
    close in.
    """
    scene = scene_of(view)
    steps, feared = safe_steps(scene)
    if scene.can_place and _is_worth_a_bomb(scene, view) and may_place(scene, view, feared):
        return {"action": WORDS[PLACE_BOMB]}
    way = distances(scene, _bombardier_goal(scene))
    shunned, sought = dangers(scene), grips(scene, steps.values())
    worth = {
        action: BOMBARDIER_GRIP * sought.get(place, 0.0)
        - DANGER * bool(scene.tile(place) & shunned)
        - way.get(place, FAR)
        for action, place in steps.items()
    }
    best = max(worth.values())
    return {"action": WORDS[chance.choice([action for action in steps if worth[action] == best])]}


def safe_steps(scene: Scene, daring: bool = False) -> tuple[dict[Action, Place], list[Bomb]]:
    """Return the steps that the bot survives, and the bombs of rivals that it assumes.

    Assume the worst actions of the rivals first, then fewer and fewer, until a step survives. The
    danger of the bot's own bomb has priority over bombs that others may place. A daring bot does
    not assume bombs.
    """
    steps = dict(steps_of(scene))
    crowd, threats = scene.tiles(scene.rivals), scene.threats
    cautious = not _is_narrow(scene) or any(bomb.seat == scene.own.seat for bomb in scene.lying)
    none: list[Bomb] = []
    assumed = (
        (threats, crowd, cautious),
        (none, crowd, True),
        (none, crowd, False),
        (none, 0, False),
    )
    for feared, blocked, spreading in assumed[daring:]:
        safe = refuges(scene, feared, blocked, spreading)
        sure = safe if scene.tile(scene.own.at) & safe else safe & ~scene.with_neighbours(blocked)
        survived = {action: place for action, place in steps.items() if scene.tile(place) & sure}
        if survived:
            return survived, feared
    return _longest(scene, steps), []


def _longest(scene: Scene, steps: dict[Action, Place]) -> dict[Action, Place]:
    """Return the steps with the longest survival if none is safe.

    One more round often wins the game.
    """
    for horizon in range(scene.fuse, 0, -1):
        safe = refuges(scene, [], scene.tiles(scene.rivals), False, horizon)
        if survived := {
            action: place for action, place in steps.items() if scene.tile(place) & safe
        }:
            return survived
    return steps


def _is_narrow(scene: Scene) -> bool:
    return (
        scene.closing_at is not None
        and sum(len(row) - row.count(WALL) for row in scene.rows) <= NARROW
    )


def may_place(scene: Scene, view: View, feared: list[Bomb]) -> bool:
    """Return True if the bot escapes its own bomb and the walls.

    Only the next walls are predicted.
    """
    plan = closing_plan(scene.height, scene.width, view["closing"]["from"], view["rounds"])
    closings = [end for end, _ in plan if end is not None and 0 <= end - scene.round <= scene.fuse]
    return len(closings) < 2 and gets_away(scene, [scene.own, *feared])


def _is_worth_a_bomb(scene: Scene, view: View) -> bool:
    """Return True for a trapped rival or for crates; with a spare bomb, also for a rival with one
    safe step or in the flames.
    """
    ways = ways_out(scene, scene.own)
    left = min(steps_left(scene, rival, ways) for rival in scene.rivals)
    burned = burned_by(scene, scene.own)
    if left == 0 or any(
        scene.rows[row][column] == CRATE
        for row, column in burned
        if (row, column) not in scene.doomed
    ):
        return True
    has_spare = view["users"][view["you"]]["bombsLeft"] > 1
    return has_spare and (left == 1 or not set(scene.rivals).isdisjoint(burned))


def _bombardier_goal(scene: Scene) -> Place:
    """Return the place where walls close in last, if they close soon; else a trap; else the best
    value for its distance.
    """
    reached = distances(scene, scene.own.at)
    if scene.closing_at is not None and scene.closing_at - scene.round <= BOMBARDIER_SOON:
        return innermost(scene, reached)
    prey = trap(scene, reached) if scene.can_place else None
    if prey is not None:
        return prey
    worth = {
        place: BOMBARDIER_UPGRADE if place in scene.upgrades else _bombardier_gain(scene, place)
        for place in reached
    }
    for place in sorted(reached, key=lambda place: -worth[place] / (reached[place] + 2)):
        if place in scene.upgrades or gets_away(scene, [replace(scene.own, at=place)]):
            return place
    return scene.own.at


def innermost(scene: Scene, reached: dict[Place, int]) -> Place:
    rank = {
        place: number
        for number, group in enumerate(closing_groups(scene.height, scene.width))
        for place in group
    }
    return max(reached, key=rank.__getitem__)  # sorted by distance, so the nearest wins a tie


def _bombardier_gain(scene: Scene, place: Place) -> int:
    """Return the value of a bomb on this place."""
    burned = burned_by(scene, replace(scene.own, at=place))
    crates = sum(
        scene.rows[row][column] == CRATE
        for row, column in burned
        if (row, column) not in scene.doomed
    )
    return crates + BOMBARDIER_RIVAL * len(set(scene.rivals).intersection(burned))


# The warden: a house bot for Bomberman that plays like the bombardier, then takes the middle of
# the map and holds it.

EARLY = 120
"""The number of rounds before walls close in from which the bot goes to the middle of the map."""
DARE = 4
"""One time in so many the bot takes a risk where caution would keep it away from the middle."""


def warden(view: View, chance: Chance) -> Raw:
    """Be first in the middle, where walls close in last; leave it only when it burns, and at the
    last moment.
    """
    scene = scene_of(view)
    if scene.closing_at is None or scene.closing_at - scene.round > EARLY:
        return bombardier(view, chance)
    middle = innermost(scene, distances(scene, scene.own.at))
    if middle in scene.rivals or middle not in closing_groups(scene.height, scene.width)[-1]:
        return bombardier(view, chance)
    steps, feared = safe_steps(scene)
    if scene.can_place and _traps_a_rival(scene) and may_place(scene, view, feared):
        return {"action": WORDS[PLACE_BOMB]}
    way = distances(scene, middle)
    best = _nearest(steps, way)
    if scene.own.at in best.values() and scene.own.at != middle and chance.below(DARE) == 0:
        best = _nearest(safe_steps(scene, daring=True)[0], way)
    return {"action": WORDS[chance.choice([*best])]}


def _nearest(steps: dict[Action, Place], way: dict[Place, int]) -> dict[Action, Place]:
    least = min(way.get(place, FAR) for place in steps.values())
    return {action: place for action, place in steps.items() if way.get(place, FAR) == least}


def _traps_a_rival(scene: Scene) -> bool:
    ways = ways_out(scene, scene.own)
    return any(steps_left(scene, rival, ways) == 0 for rival in scene.rivals)
