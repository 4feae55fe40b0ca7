/** Bomberman in words: positions and important events. Pure. */
import { type Bomb, type BombermanView, type Place, type User, ACTIONS, CRATE, WALL, burnPlan, flames, openActions, placesOf, same, tileAt, upgradeInWords } from './bomberman_view';
import { nameOf, type Cross, type Mark, type Seat } from './renderer';

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

/** The users that died between two positions. The view does not say where, but it was where they stood or one step from there. */
export function fallen(view: BombermanView, before: BombermanView): Cross[] {
  return view.users.filter(({ seat, alive }) => !alive && before.users[seat]?.at).map(({ seat }) => {
    const near = around(before.users[seat]!.at!);
    const place = near.find((one) => has(view.explosions, one)) ?? near.find((one) => isWalled(view, before, one)) ?? near[0]!;
    return { seat, place };
  });
}

function deathInWords({ seat }: User, view: BombermanView, before: BombermanView, seats: readonly Seat[]): string {
  const name = nameOf(seats, seat);
  const near = around(before.users[seat]!.at!);
  const burst = before.bombs.filter((bomb) => has(view.explosions, bomb.at) && !view.bombs.some(({ at }) => same(at, bomb.at)));
  const deadly = burst.filter((bomb) => flames(before.tiles, bomb, view.flamePierces).some((place) => has(near, place)));
  const killers = deadly.filter((bomb) => bomb.seat !== seat && view.users[bomb.seat]!.kills > (before.users[bomb.seat]?.kills ?? 0));
  const cause = killers.length ? killers : deadly.filter((bomb) => bomb.seat === seat);
  if (cause.length) return `${name} dies in ${cause.map((bomb) => blastInWords(bomb, seat, before, seats)).join(' and ')}`;
  if (near.some((place) => isWalled(view, before, place))) return `${name} dies under a closing wall`;
  return near.some((place) => has(view.explosions, place)) ? `${name} dies in a blast` : `${name} is out`;
}

function blastInWords(bomb: Bomb, victim: number, { round, fuse }: BombermanView, seats: readonly Seat[]): string {
  const whose = bomb.seat === victim ? 'its own' : `${nameOf(seats, bomb.seat)}'s`;
  return `${whose} blast, bomb of round ${round + bomb.turnsLeft - fuse}`;
}

/** Whether a wall has just closed a tile. */
function isWalled(view: BombermanView, before: BombermanView, place: Place): boolean {
  return tileAt(view.tiles, place) === WALL && tileAt(before.tiles, place) !== WALL;
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
