/** The settings of a Battlecube game, as fields of a form. */

export interface CubeSetup {
  edgeLength: number;
  maxNumOfTicks: number;
  numOfTasksPerTick: number;
  /** Milliseconds between two ticks. */
  speed: number;
}

export const startSetup: CubeSetup = { edgeLength: 8, maxNumOfTicks: 200, numOfTasksPerTick: 1, speed: 250 };

const FIELDS: { key: keyof CubeSetup; title: string; least: number; most: number }[] = [
  { key: 'edgeLength', title: 'Edge of the cube', least: 1, most: 1000 },
  { key: 'maxNumOfTicks', title: 'Ticks at most', least: 1, most: 1_000_000 },
  { key: 'numOfTasksPerTick', title: 'Tasks per tick', least: 1, most: 1000 },
  { key: 'speed', title: 'Milliseconds between ticks', least: 0, most: 60_000 },
];

export function CubeFields({ setup, onChange }: { setup: CubeSetup; onChange: (setup: CubeSetup) => void }) {
  return (
    <>
      {FIELDS.map(({ key, title, least, most }) => (
        <label key={key} class="field">{title}
          <input type="number" required min={least} max={most} value={setup[key]} onInput={(event) => onChange({ ...setup, [key]: Number(event.currentTarget.value) })} />
        </label>
      ))}
    </>
  );
}

/** The settings in the server's answer; unknown ones get their defaults. */
export function setupIn(values: Record<string, unknown>): CubeSetup {
  const known = Object.keys(startSetup).map((key) => [key, Number(values[key] ?? startSetup[key as keyof CubeSetup])]);
  return Object.fromEntries(known) as unknown as CubeSetup;
}

export function setupInWords({ edgeLength, maxNumOfTicks, numOfTasksPerTick, speed }: CubeSetup): string {
  return `edge ${edgeLength}, ${maxNumOfTicks} ticks at most, ${numOfTasksPerTick} ${numOfTasksPerTick === 1 ? 'task' : 'tasks'} per tick, ${speed} ms between ticks`;
}
