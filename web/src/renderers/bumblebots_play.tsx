/** Playing Bumblebots: orders for drones are collected, shown on the board, and sent together. */
import { useEffect, useState } from 'preact/hooks';
import {
  type BumblebotsView, type Direction, type Hex, DIRECTIONS, DIRECTION_WORDS, beside, centreOf, dronesOf, openWays, outlineOf, same,
} from './bumblebots_view';
import { PadButton, useKeys } from './controls';
import type { BoardProps } from './renderer';

type Order = Direction | 'stay';

/** The orders of one tick. */
interface Draft {
  turn: number;
  given: Readonly<Record<string, Order>>;
  sent: boolean;
  chosen: string | null;
  /** Why the last order was not taken. */
  fault: string | null;
}

export interface Orders {
  draft: Draft;
  ways: Map<string, Set<Direction>>;
  choose(drone: string): void;
  /** For the chosen drone, which the next one without an order then follows. */
  give(order: Order): void;
  /** A click on a hex: one's drone there is chosen, or the chosen drone goes there. */
  touch(hex: Hex): void;
  send(): void;
}

// Places on the keyboard, so that they lie like the hexes whatever letters are on them.
const KEYS: Record<string, Order> = {
  KeyW: 'UL', KeyE: 'UR', KeyA: 'L', KeyD: 'R', KeyZ: 'DL', KeyX: 'DR', KeyS: 'stay', Period: 'stay',
  Numpad7: 'UL', Numpad9: 'UR', Numpad4: 'L', Numpad6: 'R', Numpad1: 'DL', Numpad3: 'DR', Numpad5: 'stay',
};

/** null: the user does not play on this board, or not now. */
export function useOrders({ view, legal, move }: BoardProps<BumblebotsView>): Orders | null {
  const [kept, setDraft] = useState<Draft | null>(null);
  const me = move && view.you !== null && view.toMove.includes(view.you) ? view.you : null;
  const drones = me === null ? [] : dronesOf(view, me);
  const draft = kept?.turn === view.turnNumber ? kept : { turn: view.turnNumber, given: {}, sent: false, chosen: drones[0]?.[0] ?? null, fault: null };
  const ways = me === null ? new Map<string, Set<Direction>>() : openWays(view, me, legal);

  const send = (given: Draft['given']) => {
    move?.({ orders: Object.fromEntries(Object.entries(given).filter(([, order]) => order !== 'stay')) });
    setDraft({ ...draft, given, sent: true, fault: null });
  };
  const give = (order: Order) => {
    const drone = draft.chosen;
    if (drone === null) return;
    if (order !== 'stay' && !ways.get(drone)?.has(order)) return setDraft({ ...draft, fault: `${drone} cannot go ${DIRECTION_WORDS[order]}.` });
    const given = { ...draft.given, [drone]: order };
    const next = drones.find(([name]) => !(name in given))?.[0];
    if (next === undefined || draft.sent) send(given);
    else setDraft({ ...draft, given, chosen: next, fault: null });
  };
  const touch = (hex: Hex) => {
    const mine = drones.find(([, at]) => same(at, hex))?.[0];
    const at = drones.find(([name]) => name === draft.chosen)?.[1];
    if (mine !== undefined) return mine === draft.chosen ? give('stay') : setDraft({ ...draft, chosen: mine });
    const way = at && DIRECTIONS.find((direction) => same(beside(at, direction), hex));
    return way && give(way);
  };
  const orders: Orders = { draft, ways, choose: (drone) => setDraft({ ...draft, chosen: drone }), give, touch, send: () => send(draft.given) };

  // A player without drones has nothing to decide, so the others should not wait for it.
  const idle = me !== null && drones.length === 0;
  useEffect(() => void (idle && move?.({ orders: {} })), [idle, view.turnNumber]);
  useKeys(me !== null, (event) => press(event, orders));
  return me === null ? null : orders;
}

function press(event: KeyboardEvent, orders: Orders): boolean {
  const order = KEYS[event.code];
  if (order) orders.give(order);
  else if (event.key === 'Enter') orders.send();
  else return false;
  return true;
}

/** On the board: the chosen drone, and where it may go. */
export function Reach({ view, orders }: { view: BumblebotsView; orders: Orders }) {
  const drone = dronesOf(view, view.you!).find(([name]) => name === orders.draft.chosen);
  if (!drone) return null;
  const [name, at] = drone;
  return (
    <g>
      <path class="bees-reach" d={outlineOf([...(orders.ways.get(name) ?? [])].map((way) => beside(at, way)), 8.4)} />
      <path class="bees-chosen" d={outlineOf([at], 8.8)} />
    </g>
  );
}

/** On the board: the orders that were given. */
export function Arrows({ view, orders }: { view: BumblebotsView; orders: Orders }) {
  return <g>{dronesOf(view, view.you!).map(([name, from]) => <Arrow key={name} from={from} order={orders.draft.given[name]} />)}</g>;
}

function Arrow({ from, order }: { from: Hex; order: Order | undefined }) {
  if (order === undefined) return null;
  const start = centreOf(from);
  if (order === 'stay') return <circle class="bees-arrow" cx={start.x} cy={start.y} r="9" />;
  const end = centreOf(beside(from, order));
  const angle = (Math.atan2(end.y - start.y, end.x - start.x) * 180) / Math.PI;
  return <path class="bees-arrow" transform={`translate(${start.x} ${start.y}) rotate(${angle})`} d="M8.5 0H16M13 -3.2L16.4 0L13 3.2" />;
}

/** The drones to choose from, the six ways, and what is sent. */
export function OrderPad({ view, orders }: { view: BumblebotsView; orders: Orders }) {
  const { draft, ways } = orders;
  const drones = dronesOf(view, view.you!).map(([name]) => name);
  const current = draft.chosen === null ? undefined : draft.given[draft.chosen];
  const open = draft.chosen === null ? undefined : ways.get(draft.chosen);
  return (
    <div class="bees-pad">
      <DroneChoice drones={drones} orders={orders} />
      <div class="hex-pad" role="group" aria-label={draft.chosen ? `Order for ${draft.chosen}` : 'Order'}>
        {DIRECTIONS.map((way) => (
          <PadButton
            key={way} area={way} label={DIRECTION_WORDS[way]} keys={keysFor(way)} disabled={!open?.has(way)}
            pressed={current === way} press={() => orders.give(way)}
          >
            <span aria-hidden="true">{SIGNS[way]}</span>
          </PadButton>
        ))}
        <PadButton area="stay" label="stay" keys={keysFor('stay')} disabled={!open} pressed={current === 'stay'} press={() => orders.give('stay')}>
          <span aria-hidden="true">●</span>
        </PadButton>
      </div>
      <div class="bees-send">
        <button type="button" class="main" disabled={draft.sent} onClick={orders.send}>Send the orders</button>
        <span role="status">{statusOf(drones, draft)}</span>
      </div>
    </div>
  );
}

const SIGNS: Record<Direction, string> = { UL: '↖', UR: '↗', L: '←', R: '→', DL: '↙', DR: '↘' };

function keysFor(order: Order): string {
  return Object.keys(KEYS).filter((code) => code.startsWith('Key') && KEYS[code] === order).map((code) => code.slice(3)).join();
}

function statusOf(drones: readonly string[], { given, sent, fault }: Draft): string {
  if (fault) return fault;
  if (drones.length === 0) return 'You have no drones now.';
  const count = drones.filter((drone) => drone in given).length;
  return sent ? 'Sent. You can still change an order.' : `${count} of ${drones.length} have an order.`;
}

/** A group of radio buttons: Tab enters it, the arrow keys choose, and Enter sends as everywhere. */
function DroneChoice({ drones, orders }: { drones: readonly string[]; orders: Orders }) {
  const { chosen, given } = orders.draft;
  const choose = (event: KeyboardEvent & { currentTarget: HTMLElement }, step: number) => {
    const next = (drones.indexOf(chosen ?? '') + step + drones.length) % drones.length;
    orders.choose(drones[next]!);
    (event.currentTarget.children[next] as HTMLElement).focus();
  };
  const walk = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (event.key === 'Enter') orders.send();
    else if (step) choose(event, step);
    else return;
    event.preventDefault();
  };
  return (
    <div class="bees-drones" role="radiogroup" aria-label="Your drones" onKeyDown={walk}>
      {drones.map((drone) => {
        const order = given[drone];
        const words = order === undefined ? 'no order' : order === 'stay' ? 'stay' : DIRECTION_WORDS[order];
        return (
          <button
            key={drone} type="button" role="radio" aria-checked={drone === chosen} tabIndex={drone === chosen ? 0 : -1}
            onClick={() => orders.choose(drone)}
          >
            {drone} <small>{words}</small>
          </button>
        );
      })}
    </div>
  );
}
