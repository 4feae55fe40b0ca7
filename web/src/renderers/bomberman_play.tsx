/** Playing Bomberman: one action a round, by keys, buttons, or a click on the board. */
import { useState } from 'preact/hooks';
import { type Action, type BombermanView, type Place, ACTIONS, STEPS, openActions, same } from './bomberman_view';
import { PadButton, useKeys } from './controls';
import type { BoardProps } from './renderer';

export interface Actions {
  open: Set<Action>;
  /** The action that was sent for this round. */
  sent: Action | null;
  act(action: Action): void;
  /** A click on a tile: one's own for a bomb, one beside it for a step. */
  touch(place: Place): void;
}

const KEYS: Record<string, Action> = {
  ArrowUp: 'MOVE_UP', ArrowDown: 'MOVE_DOWN', ArrowLeft: 'MOVE_LEFT', ArrowRight: 'MOVE_RIGHT',
  KeyW: 'MOVE_UP', KeyS: 'MOVE_DOWN', KeyA: 'MOVE_LEFT', KeyD: 'MOVE_RIGHT', Space: 'PLACE_BOMB', Period: 'WAIT', Escape: 'WAIT',
};
const PAD: [Action, string, string][] = [
  ['MOVE_UP', '↑', 'W or ↑'], ['MOVE_LEFT', '←', 'A or ←'], ['PLACE_BOMB', 'bomb', 'Space'], ['MOVE_RIGHT', '→', 'D or →'],
  ['MOVE_DOWN', '↓', 'S or ↓'], ['WAIT', 'wait', '. or Escape'],
];

/** null: the user does not play on this board, or not now. */
export function useActions({ view, legal, move }: BoardProps<BombermanView>): Actions | null {
  const [last, setLast] = useState<{ round: number; action: Action } | null>(null);
  const me = move && view.you !== null && view.toMove.includes(view.you) ? view.you : null;
  const open = me === null ? new Set<Action>() : openActions(view, me, legal);
  const act = (action: Action) => {
    if (!open.has(action)) return;
    setLast({ round: view.round, action });
    move?.({ action });
  };
  const touch = (place: Place) => {
    const action = me === null ? undefined : actionTo(view, me, place);
    if (action) act(action);
  };
  useKeys(me !== null, (event) => {
    const action = KEYS[event.code];
    if (action && !event.repeat) act(action);
    return action !== undefined;
  });
  return me === null ? null : { open, sent: last?.round === view.round ? last.action : null, act, touch };
}

function actionTo(view: BombermanView, seat: number, place: Place): Action | undefined {
  const at = view.users[seat]?.at;
  if (!at) return undefined;
  if (same(at, place)) return 'PLACE_BOMB';
  const ways = Object.entries(STEPS) as [Action, Place][];
  return ways.find(([, step]) => same([at[0] + step[0], at[1] + step[1]], place))?.[0];
}

/** On the board: where one may go, and the step that was sent. */
export function Reach({ view, actions, size }: { view: BombermanView; actions: Actions; size: number }) {
  const at = view.users[view.you!]?.at;
  if (!at) return null;
  return (
    <g>
      {(Object.entries(STEPS) as [Action, Place][]).filter(([action]) => actions.open.has(action)).map(([action, step]) => (
        <rect
          key={action} class={`bomber-way${actions.sent === action ? ' sent' : ''}`} rx="1.5" width={size - 2} height={size - 2}
          x={(at[1] + step[1]) * size + 1} y={(at[0] + step[0]) * size + 1}
        />
      ))}
    </g>
  );
}

export function ActionPad({ actions }: { actions: Actions }) {
  return (
    <div class="bomber-play">
      <div class="cross-pad" role="group" aria-label="Your action">
        {PAD.map(([action, sign, keys]) => (
          <PadButton
            key={action} area={ACTIONS[action]} label={ACTIONS[action]} keys={keys} disabled={!actions.open.has(action)}
            pressed={actions.sent === action} press={() => actions.act(action)}
          >
            {sign}
          </PadButton>
        ))}
      </div>
      <span role="status">{actions.sent ? `Sent: ${ACTIONS[actions.sent]}.` : 'Your action for this round?'}</span>
    </div>
  );
}
