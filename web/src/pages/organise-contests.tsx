/** Contests of the organiser: the list, and a new one from its document. */
import { useState } from 'preact/hooks';
import type { DocumentedContest, ListedContest, ListedContests } from '../api/types';
import { DataTable, type Column } from '../parts/data-table';
import { go, query } from '../router';
import { DOCUMENTS } from './contest-examples';
import { FORMAT_TITLES } from './contest-words';
import { LISTED } from './contests';
import { OrganiseContest, organisePath } from './organise-contest';
import { DocumentForm } from './organise-document';

export function OrganiseContests() {
  const name = query.value.get('contest');
  return name === null ? <ContestList /> : <OrganiseContest key={name} name={name} />;
}

const COLUMNS: Column<ListedContest>[] = [
  { title: 'Contest', head: true, cell: ({ name, title }) => <a class="name" href={organisePath(name)}><bdi>{title}</bdi></a> },
  ...LISTED,
];

function ContestList() {
  return (
    <>
      <DataTable<ListedContest, ListedContests> caption="Contests with a document, the newest first" from="/contest-documents" rows={({ contests }) => contests} columns={COLUMNS} usual=""
        empty="There is no contest yet. Create one below." every={4000} />
      <NewContest />
    </>
  );
}

function NewContest() {
  const [format, setFormat] = useState('round-robin');
  const created = (contest: DocumentedContest) => go(organisePath(contest.name));
  return (
    <section class="card" aria-label="New contest">
      <h2>New contest</h2>
      <label class="field short">Begin with the example of
        <select value={format} onChange={(event) => setFormat(event.currentTarget.value)}>{Object.keys(DOCUMENTS).map((name) => <option key={name} value={name}>{FORMAT_TITLES[name]}</option>)}</select>
      </label>
      <DocumentForm key={format} text={DOCUMENTS[format] ?? ''} path="/operator/contests" method="POST" action="Create the contest" done={(contest) => `${contest.name} is a draft. Open it, so that bots can enter.`} saved={created} />
      <p class="quiet">A new contest is a draft. You can change it until it starts.</p>
    </section>
  );
}
