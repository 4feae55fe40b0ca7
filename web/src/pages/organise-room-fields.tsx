/** The rules of a boat room, as fields of a form. */
import type { BoatRoomSettings } from '../api/types';

export type RoomRules = Pick<BoatRoomSettings, 'min' | 'max' | 'width' | 'height' | 'boats' | 'goal' | 'turn_limit' | 'auto_start' | 'repeat'>;

export const startRules: RoomRules = { min: 2, max: 4, width: 10, height: 10, boats: 'A5 B4 C3 D3 E2', goal: 0, turn_limit: 60, auto_start: false, repeat: true };

type NumberKey = 'min' | 'max' | 'width' | 'height' | 'goal' | 'turn_limit';
const NUMBERS: { key: NumberKey; title: string; least: number; most: number }[] = [
  { key: 'min', title: 'Players at least', least: 2, most: 9 },
  { key: 'max', title: 'Players at most', least: 2, most: 9 },
  { key: 'width', title: 'Columns', least: 5, most: 26 },
  { key: 'height', title: 'Rows', least: 5, most: 26 },
  { key: 'goal', title: 'Hits to win (0: all)', least: 0, most: 1000 },
  { key: 'turn_limit', title: 'Seconds for a turn (0: any time)', least: 0, most: 86_400 },
];

export function RoomFields({ rules, onChange }: { rules: RoomRules; onChange: (rules: RoomRules) => void }) {
  return (
    <>
      {NUMBERS.map(({ key, title, least, most }) => (
        <label key={key} class="field">{title}
          <input type="number" required min={least} max={most} value={rules[key]} onInput={(event) => onChange({ ...rules, [key]: Number(event.currentTarget.value) })} />
        </label>
      ))}
      <label class="field">Boats <input required value={rules.boats} onInput={(event) => onChange({ ...rules, boats: event.currentTarget.value })} /></label>
      <label class="check"><input type="checkbox" checked={rules.auto_start} onChange={(event) => onChange({ ...rules, auto_start: event.currentTarget.checked })} /> A full table starts by itself</label>
      <label class="check"><input type="checkbox" checked={rules.repeat} onChange={(event) => onChange({ ...rules, repeat: event.currentTarget.checked })} /> Games follow each other</label>
    </>
  );
}

export function rulesIn({ min, max, width, height, boats, goal, turn_limit, auto_start, repeat }: BoatRoomSettings): RoomRules {
  return { min, max, width, height, boats, goal, turn_limit, auto_start, repeat };
}
