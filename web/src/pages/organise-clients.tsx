/** Clients: name, protocol, address and speed of each connection; they can be removed and banned. */
import { useState } from 'preact/hooks';
import type { ClientShown, ClientsShown, NodesShown, Removed } from '../api/types';
import { useRest } from '../api/use';
import { askFirst } from '../parts/ask-first';
import { DataTable, type Column } from '../parts/data-table';
import { change } from '../parts/doing';
import { Moment } from '../parts/moment';
import { hostOf } from './organise-address';
import { banWith } from './organise-bans';

const EVERY = 3000;

const COLUMNS: Column<ClientShown>[] = [
  { title: 'Name', sort: 'name', head: true, cell: ({ name }) => <bdi>{name}</bdi> },
  { title: 'Protocol', sort: 'protocol', cell: ({ protocol }) => protocol },
  { title: 'Game', sort: 'game', cell: ({ game }) => game, wide: true },
  { title: 'Address', sort: 'address', cell: ({ address }) => <span class="mono">{address}</span> },
  { title: 'Since', sort: 'since', falling: true, cell: ({ since }) => <Moment at={since} />, wide: true },
  { title: 'In', sort: 'received', falling: true, number: true, cell: ({ received }) => received.toLocaleString(), wide: true },
  { title: 'Out', sort: 'sent', falling: true, number: true, cell: ({ sent }) => sent.toLocaleString(), wide: true },
  { title: 'Answers in', sort: 'answerMs', falling: true, number: true, cell: ({ answerMs }) => (answerMs === null ? '–' : `${answerMs.toLocaleString()} ms`) },
  { title: 'Match', sort: 'match', wide: true, cell: ({ match }) => match && <a href={`/matches/${match}`} class="mono">{match.slice(0, 8)}</a> },
  { title: 'Actions', cell: (client) => <Actions client={client} /> },
];

const NODE: Column<ClientShown> = { title: 'Node', sort: 'node', cell: ({ node }) => <bdi class="node-name">{node}</bdi> };

function noteOf({ silent }: ClientsShown): string {
  return silent.length ? `without those of ${silent.join(', ')}: no answer` : 'of all nodes';
}

export function Clients() {
  const [search, setSearch] = useState('');
  const nodes = useRest<NodesShown>('/nodes').value?.total;
  const more = nodes ? { columns: [...COLUMNS.slice(0, 1), NODE, ...COLUMNS.slice(1)], note: noteOf } : { columns: COLUMNS };
  return (
    <>
      <p class="filters"><label>Search <input type="search" value={search} placeholder="name, address, protocol, game or node" onChange={(event) => setSearch(event.currentTarget.value)} /></label></p>
      <DataTable<ClientShown, ClientsShown> caption="Clients that are connected, and bots that the server calls" from="/operator/clients" filters={{ search }}
        rows={({ clients }) => clients} {...more} usual="number" empty={search ? 'No client matches the search.' : 'Nobody is connected.'} every={EVERY} />
    </>
  );
}

function Actions({ client }: { client: ClientShown }) {
  return (
    <span class="actions">
      <button type="button" aria-label={`Remove ${client.name}`} onClick={() => void remove(client)}>Remove</button>
      <button type="button" aria-label={`Ban name ${client.name}`} onClick={() => void banWith('name', client.name)}>Ban name</button>
      <button type="button" aria-label={`Ban address of ${client.name}`} onClick={() => void banWith('address', hostOf(client.address))}>Ban address</button>
    </span>
  );
}

async function remove({ number, node, name }: ClientShown): Promise<void> {
  const reason = await askFirst({ title: `Remove ${name}?`, words: 'Its connection is closed. In a running match it counts as disconnected. It may come back.', action: 'Remove', field: 'Reason (the client is told)' });
  if (reason !== null) await change<Removed>('/operator/clients', { method: 'DELETE', body: { number, node, reason } }, `${name} was removed.`);
}
