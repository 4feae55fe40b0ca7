/** Bomberman in words: positions and important events. Pure. */
import { type BombermanView, type Place, type User, ACTIONS, CRATE, WALL, burnPlan, openActions, placesOf, same, tileAt, upgradeInWords } from './bomberman_view';
import { nameOf, type Mark, type Seat } from './renderer';

export function marks(view: BombermanView, before: BombermanView, seats: readonly Seat[]): Mark[] {
  const deaths = view.users.filter(({ seat, alive }) => !alive && before.users[seat]?.alive).map((user): Mark => ({
    kind: 'out', player: seats[user.seat]?.player ?? user.seat, words: deathInWords(user, view, before, seats),
  }));
  return [...bombMarks(view, before, seats), ...upgradeMarks(view, before, seats), ...deaths];
}

/** Bombs that burn crates: hundreds of others do nothing, and the list of moves tells when one is placed. */
function bombMarks(view: BombermanView, before: BombermanView, seats: readonly Seat[]): Mark[] {
  const gone = before.bombs.filter(({ at }) => !view.bombs.some((bomb) => same(bomb.at, at)) && has(view.explosions, at));
  const crates = placesOf(before.tiles, CRATE).filter((place) => has(view.explosions, place)).length;
  if (crates === 0) return [];
  const owners = [...new Set(gone.map(({ seat }) => seat))];
  const bombs = gone.length === 1 ? 'A bomb' : `${gone.length} bombs`;
  const words = `${bombs} of ${owners.map((seat) => nameOf(seats, seat)).join(' and ')} burn${gone.length === 1 ? 's' : ''} ${crates === 1 ? '1 crate' : `${crates} crates`}`;
  return [{ kind: 'bomb', words, ...(owners.length === 1 && { player: seats[owners[0]!]?.player ?? owners[0]! }) }];
}

function upgradeMarks(view: BombermanView, before: BombermanView, seats: readonly Seat[]): Mark[] {
  return view.users.filter(({ seat, upgrades }) => upgrades > (before.users[seat]?.upgrades ?? 0)).map(({ seat, range }): Mark => ({
    kind: 'capture',
    player: seats[seat]?.player ?? seat,
    words: `${nameOf(seats, seat)} takes an upgrade: ${upgradeInWords(range > before.users[seat]!.range ? 'EXPLOSION_RANGE' : 'ADDITIONAL_BOMB')}`,
  }));
}

/** The view does not say where a user died, but it was there or one step from there. */
function deathInWords({ seat }: User, view: BombermanView, before: BombermanView, seats: readonly Seat[]): string {
  const name = nameOf(seats, seat);
  const near = around(before.users[seat]!.at!);
  const killers = view.users.filter((user) => user.seat !== seat && user.kills > before.users[user.seat]!.kills);
  if (near.some((place) => has(view.explosions, place))) {
    return killers.length ? `${name} dies by a bomb of ${killers.map((user) => nameOf(seats, user.seat)).join(' and ')}` : `${name} dies by its own bomb`;
  }
  const walled = near.some((place) => tileAt(view.tiles, place) === WALL && tileAt(before.tiles, place) !== WALL);
  return walled ? `${name} dies under a wall` : `${name} is out`;
}

function around([row, column]: Place): Place[] {
  return [[row, column], [row - 1, column], [row + 1, column], [row, column - 1], [row, column + 1]];
}

function has(places: readonly Place[], place: Place): boolean {
  return places.some((other) => same(other, place));
}

export function describe(view: BombermanView, seats: readonly Seat[]): string {
  const places = (list: readonly Place[]) => list.map((place) => place.join(', ')).join('; ');
  const plan = burnPlan(view);
  return [
    `Round ${view.round} of ${view.rounds}, ${view.height} rows by ${view.width} columns. Places are row, column.`,
    ...view.users.map((user) => userInWords(user, view, seats)),
    ...plan.map(({ bomb, places: burned, turns }) => `A bomb of ${nameOf(seats, bomb.seat)} at ${bomb.at.join(', ')} goes off in ${turns} and burns ${places(burned)}.`),
    ...view.upgrades.map(({ at, type }) => `Upgrade at ${at.join(', ')}: ${upgradeInWords(type)}.`),
    `Crates left: ${placesOf(view.tiles, CRATE).length}.`,
    ...(view.explosions.length ? [`Burned in the last round: ${places(view.explosions)}.`] : []),
    ...(view.closing.at === null ? [] : [`Walls close at the end of round ${view.closing.at}: ${places(view.closing.next)}.`]),
    ...(view.toMove.length ? [] : ['The game is over.']),
  ].join(' ');
}

function userInWords(user: User, view: BombermanView, seats: readonly Seat[]): string {
  const you = view.you === user.seat;
  const name = nameOf(seats, user.seat) + (you ? ' (you)' : '');
  if (!user.at) return `${name} is out.`;
  const open = you ? `, can go ${[...openActions(view, user.seat)].filter((action) => action.startsWith('MOVE')).map((action) => ACTIONS[action]).join(', ') || 'nowhere'}` : '';
  return `${name} at ${user.at.join(', ')}, bombs left ${user.bombsLeft}, range ${user.range}${open}.`;
}
