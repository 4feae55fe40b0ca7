/** Nodes: the servers that are one arena, with their load. */
import { useState } from 'preact/hooks';
import type { NodeShown, NodesShown } from '../api/types';
import { DataTable, type Column } from '../parts/data-table';
import { change } from '../parts/doing';

const columns = (reload: () => void): Column<NodeShown>[] => [
  { title: 'Node', head: true, cell: ({ name }) => <bdi class="node-name">{name}</bdi> },
  { title: 'Address', cell: ({ url }) => <bdi>{url || 'starting'}</bdi>, wide: true },
  { title: 'Version', cell: ({ version }) => version, wide: true },
  { title: 'Matches', cell: ({ tables }) => tables },
  { title: 'Connections', cell: ({ connections }) => connections },
  { title: 'Waiting', cell: ({ waiting }) => waiting },
  { title: 'CPU', cell: ({ cpu }) => `${Math.round(cpu * 100)} %` },
  { title: 'Games', cell: ({ games }) => games.join(', '), wide: true },
  { title: 'Hours up', cell: ({ seconds }) => (seconds / 3600).toFixed(1), wide: true },
  { title: 'Actions', cell: (node) => node.url && <button type="button" aria-label={`${node.draining ? 'Use' : 'Drain'} ${node.name}`} onClick={() => void drain(node).then(reload)}>{node.draining ? 'Use again' : 'Drain'}</button> },
];

export function Nodes() {
  const [round, setRound] = useState(0);
  const reload = () => setRound((count) => count + 1);
  return (
    <>
      <p>Drain a node before you stop it: it takes no new matches, and other nodes go on with those that do not end in time. The rooms and contests of a game are on one node.</p>
      <DataTable<NodeShown, NodesShown> key={round} caption="Live nodes" from="/nodes" rows={({ nodes }) => nodes} columns={columns(reload)} usual=""
        empty="This is a single server." every={2000} />
    </>
  );
}

async function drain({ name, draining }: NodeShown): Promise<void> {
  const words = draining ? `${name} takes matches again.` : `${name} takes no new matches.`;
  await change(`/operator/nodes/${encodeURIComponent(name)}`, { method: 'PUT', body: { draining: !draining } }, words);
}
