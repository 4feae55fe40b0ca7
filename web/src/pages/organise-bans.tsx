/** Bans: names and addresses that may not play here. */
import { useState } from 'preact/hooks';
import type { BanShown, BansShown } from '../api/types';
import { askFirst } from '../parts/ask-first';
import { DataTable, type Column } from '../parts/data-table';
import { change } from '../parts/doing';
import { Moment } from '../parts/moment';

type Kind = BanShown['kind'];

const HOUR = 3_600_000;
const LENGTHS = [['', 'until it is lifted'], ['1', '1 hour'], ['24', '1 day'], ['168', '1 week'], ['720', '30 days']] as const;

const columns = (reload: () => void): Column<BanShown>[] => [
  { title: 'Banned', head: true, cell: ({ subject }) => <bdi>{subject}</bdi> },
  { title: 'Kind', cell: ({ kind }) => kind },
  { title: 'Reason', cell: ({ reason }) => <bdi>{reason}</bdi> },
  { title: 'Since', cell: ({ made }) => <Moment at={made} />, wide: true },
  { title: 'Until', cell: ({ until }) => (until === null ? 'it is lifted' : new Date(until).toLocaleString()) },
  { title: 'Actions', cell: (ban) => <button type="button" aria-label={`Lift the ban of ${ban.subject}`} onClick={() => void lift(ban).then(reload)}>Lift</button> },
];

export function Bans() {
  const [round, setRound] = useState(0);
  const reload = () => setRound((count) => count + 1);
  return (
    <>
      <p>A banned client cannot log in by any protocol, and is told why. Names that look like a banned name are banned as well.</p>
      <BanForm done={reload} />
      <DataTable<BanShown, BansShown> key={round} caption="Bans in force" from="/operator/bans" rows={({ bans }) => bans} columns={columns(reload)} usual=""
        empty="Nobody is banned." every={5000} />
    </>
  );
}

function BanForm({ done }: { done: () => void }) {
  const [kind, setKind] = useState<Kind>('name');
  const [subject, setSubject] = useState('');
  const [reason, setReason] = useState('');
  const [hours, setHours] = useState('');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const until = hours ? new Date(Date.now() + Number(hours) * HOUR).toISOString() : null;
    if (await ban(kind, subject, reason, until)) {
      setSubject('');
      setReason('');
      done();
    }
  };
  return (
    <form class="card form" aria-label="Ban a name or an address" onSubmit={(event) => void submit(event)}>
      <label class="field">Kind
        <select value={kind} onChange={(event) => setKind(event.currentTarget.value === 'address' ? 'address' : 'name')}><option value="name">name</option><option value="address">address or network</option></select>
      </label>
      <label class="field">{kind === 'name' ? 'Name' : 'Address'}
        <input required value={subject} placeholder={kind === 'name' ? 'bob' : '192.0.2.7 or 192.0.2.0/24'} onInput={(event) => setSubject(event.currentTarget.value)} />
      </label>
      <label class="field">Reason <input value={reason} maxLength={200} onInput={(event) => setReason(event.currentTarget.value)} /></label>
      <label class="field">For
        <select value={hours} onChange={(event) => setHours(event.currentTarget.value)}>{LENGTHS.map(([value, words]) => <option key={value} value={value}>{words}</option>)}</select>
      </label>
      <p class="form-end"><button type="submit" class="danger">Ban</button></p>
    </form>
  );
}

function ban(kind: Kind, subject: string, reason: string, until: string | null): Promise<BanShown | null> {
  const done = (made: BanShown) => `The ${made.kind} ${made.subject} is banned.`;
  return change<BanShown>('/operator/bans', { method: 'POST', body: { kind, subject, reason, until } }, done);
}

/** Ask for the reason, then ban. */
export async function banWith(kind: Kind, subject: string): Promise<void> {
  const words = kind === 'name' ? 'Nobody can play under this name until you lift the ban. Its clients are removed.' : 'Nobody at this address can play until you lift the ban. Its clients are removed.';
  const reason = await askFirst({ title: `Ban the ${kind} ${subject}?`, words, action: 'Ban', field: 'Reason (the client is told)' });
  if (reason !== null) await ban(kind, subject, reason, null);
}

async function lift({ kind, subject }: BanShown): Promise<void> {
  await change('/operator/bans', { method: 'DELETE', body: { kind, subject } }, `The ban of ${subject} is lifted.`);
}
