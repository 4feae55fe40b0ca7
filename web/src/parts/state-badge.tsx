/** The state of a contest. */

export function StateBadge({ state }: { state: string }) {
  return <span class={`badge state state-${state}`}>{state}</span>;
}
