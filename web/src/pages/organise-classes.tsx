/** Classes of the organiser: the list, one class with its participants, and the class for a projector. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ClassList, ClassMember, ClassShown, CountedClass, ServerAddress } from '../api/types';
import { useRest } from '../api/use';
import { askFirst, type Question } from '../parts/ask-first';
import { phoneUrl } from '../parts/bring-a-bot';
import { ClassResults } from '../parts/class-results';
import { DataTable, RowsTable, type Column } from '../parts/data-table';
import { change } from '../parts/doing';
import { BotLink } from '../parts/links';
import { Moment } from '../parts/moment';
import { Problem } from '../parts/problem';
import { QrCode } from '../parts/qr-code';
import { go, query } from '../router';

const EVERY = 3000;
const LENGTHS = [['', 'the usual time'], ['2', '2 hours'], ['24', '1 day'], ['168', '1 week'], ['2160', '90 days']] as const;

export function OrganiseClasses() {
  const name = query.value.get('class');
  return name === null ? <ClassTable /> : <OneClass key={name} name={name} />;
}

function pathOf(name: string, more = ''): string {
  return `/organise/classes?class=${encodeURIComponent(name)}${more}`;
}

function restOf(name: string): string {
  return `/operator/classes/${encodeURIComponent(name)}`;
}

const COLUMNS: Column<CountedClass>[] = [
  { title: 'Class', head: true, cell: ({ name }) => <a class="name" href={pathOf(name)}><bdi>{name}</bdi></a> },
  { title: 'Participants', number: true, cell: ({ participants }) => participants.toLocaleString() },
  { title: 'Join code', cell: (one) => <CodeState {...one} /> },
  { title: 'Created', wide: true, cell: ({ created }) => <Moment at={created} /> },
];

function CodeState({ code, expires, closed }: Pick<CountedClass, 'code' | 'expires' | 'closed'>) {
  if (closed !== null) return <>closed</>;
  if (new Date(expires) <= new Date()) return <>expired</>;
  return <><span class="mono">{code}</span>, until {new Date(expires).toLocaleString()}</>;
}

function ClassTable() {
  return (
    <>
      <p>Participants join a class by its code and a name. The bots that they register are theirs, and contests can limit the bots of each of them.</p>
      <NewClass />
      <DataTable<CountedClass, ClassList> caption="Classes, the newest first" from="/operator/classes" rows={({ classes }) => classes} columns={COLUMNS} usual="" empty="There is no class yet. Create one above." every={EVERY} />
    </>
  );
}

function NewClass() {
  const [name, setName] = useState('');
  const [hours, setHours] = useState('');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const made = await change<ClassShown>('/operator/classes', { method: 'POST', body: { name: name.trim(), ...(hours && { hours: Number(hours) }) } }, (one) => `The class ${one.name} is open.`);
    if (made) go(pathOf(made.name));
  };
  return (
    <form class="card form" aria-label="New class" onSubmit={(event) => void submit(event)}>
      <label class="field">Name <input required maxLength={64} value={name} placeholder="Robots 2026" onInput={(event) => setName(event.currentTarget.value)} /></label>
      <HoursField hours={hours} setHours={setHours} />
      <p class="form-end"><button type="submit" class="main">Create the class</button></p>
    </form>
  );
}

function HoursField({ hours, setHours }: { hours: string; setHours: (hours: string) => void }) {
  return (
    <label class="field">The join code expires after
      <select value={hours} onChange={(event) => setHours(event.currentTarget.value)}>{LENGTHS.map(([value, words]) => <option key={value} value={value}>{words}</option>)}</select>
    </label>
  );
}

function OneClass({ name }: { name: string }) {
  const { value, error, again } = useRest<ClassShown>(restOf(name), EVERY);
  if (!value) return error ? <Problem words={error} retry={again} /> : <p class="quiet" role="status">Loading …</p>;
  if (query.value.has('projector')) return <Projector shown={value} />;
  return (
    <>
      <p><a href="/organise/classes">All classes</a></p>
      <section class="card" aria-label="Class">
        <h2><bdi>{value.name}</bdi></h2>
        <p>Join code: <CodeState {...value} /></p>
        <ClassActions shown={value} changed={again} />
      </section>
      <Participants shown={value} changed={again} />
      <section aria-label="Latest results"><h2>Latest results</h2><ClassResults results={value.results} empty="No bot of a participant has played yet." /></section>
    </>
  );
}

/** Ask first, then send an order; true if it was carried out. */
async function order(name: string, question: Question | null, body: (text: string) => Record<string, unknown>, done: string): Promise<boolean> {
  const text = question ? await askFirst(question) : '';
  return text !== null && (await change<ClassShown>(restOf(name), { method: 'POST', body: body(text) }, done)) !== null;
}

function ClassActions({ shown: { name, closed }, changed }: { shown: ClassShown; changed: () => void }) {
  const [hours, setHours] = useState('');
  const reset = async () => void ((await order(name, null, () => ({ do: 'reset', ...(hours && { hours: Number(hours) }) }), 'The class has a new join code. The old one has ended.')) && changed());
  const close = async () => {
    const words = 'Nobody joins it any more, and no participant registers bots. Bots play on. A new join code opens the class again.';
    if (await order(name, { title: `Close ${name}?`, words, action: 'Close the class' }, () => ({ do: 'close' }), 'The class is closed.')) changed();
  };
  const remove = async () => {
    const words = 'All participants are removed, and their bots cannot play any more. This cannot be undone.';
    if ((await askFirst({ title: `Delete ${name}?`, words, action: 'Delete the class' })) === null) return;
    if (await change(restOf(name), { method: 'DELETE' }, `The class ${name} is deleted.`)) go('/organise/classes', true);
  };
  return (
    <>
      <p><a class="button main" href={pathOf(name, '&projector')}>Show on a projector</a></p>
      <div class="class-actions">
        <HoursField hours={hours} setHours={setHours} />
        <p class="actions">
          <button type="button" onClick={() => void reset()}>New join code</button>
          {closed === null && <button type="button" onClick={() => void close()}>Close</button>}
          <button type="button" class="danger" onClick={() => void remove()}>Delete</button>
        </p>
      </div>
    </>
  );
}

function Participants({ shown: { name, participants }, changed }: { shown: ClassShown; changed: () => void }) {
  const rename = async (participant: string) => {
    const question = { title: `Rename ${participant}?`, words: 'It gets another name in the class, and as the owner of its bots.', action: 'Rename', field: 'New name', needed: true };
    if (await order(name, question, (text) => ({ do: 'rename', participant, name: text }), `${participant} is renamed.`)) changed();
  };
  const merge = async (participant: string) => {
    const question = { title: `Merge ${participant} into another participant?`, words: `The other one gets the bots of ${participant}, and may use its token. This cannot be undone.`, action: 'Merge', field: 'The participant that stays', needed: true };
    if (await order(name, question, (into) => ({ do: 'merge', participant, into }), `${participant} is merged.`)) changed();
  };
  const remove = async (participant: string) => {
    const question = { title: `Remove ${participant}?`, words: 'Its token ends, and so do those of its bots. Their uploads and logs are deleted. The class shows its results as those of “deleted”. This cannot be undone.', action: 'Remove' };
    if (await order(name, question, () => ({ do: 'remove', participant }), `${participant} is removed.`)) changed();
  };
  const columns: Column<ClassMember>[] = [
    { title: 'Participant', head: true, cell: (one) => <bdi>{one.name}</bdi> },
    { title: 'Bots', cell: ({ bots, uploaded }) => bots.map((bot, at) => <span key={bot}>{at > 0 && ', '}<BotLink name={bot} />{uploaded.includes(bot) && ' (uploaded)'}</span>) },
    { title: 'Joined', wide: true, cell: ({ joined }) => <Moment at={joined} /> },
    { title: 'Actions', cell: (one) => (
      <span class="actions">
        <button type="button" aria-label={`Rename ${one.name}`} onClick={() => void rename(one.name)}>Rename</button>
        <button type="button" aria-label={`Merge ${one.name}`} onClick={() => void merge(one.name)}>Merge</button>
        <button type="button" aria-label={`Remove ${one.name}`} onClick={() => void remove(one.name)}>Remove</button>
      </span>
    ) },
  ];
  return <section aria-label="Participants"><h2>Participants</h2><RowsTable caption={`${participants.length.toLocaleString()} in the order in which they joined`} rows={participants} columns={columns} empty="Nobody has joined yet." /></section>;
}

/** The class on a whole screen: how to join, who is in, and the latest results. */
function Projector({ shown: { name, code, closed, participants, results } }: { shown: ClassShown }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const server = useRest<ServerAddress>('/server');
  useEffect(() => void (dialog.current && !dialog.current.open && dialog.current.showModal()), []);
  const uploads = server.value !== null && server.value.uploads.allowed !== 'off';
  const leave = () => go(pathOf(name), true);
  const phone = server.value && phoneUrl(server.value, location);
  const page = `${phone ?? location.origin}/join-class`;
  return (
    <dialog ref={dialog} class="projector" aria-label={`The class ${name}`} onClose={leave}>
      <header><h2><bdi>{name}</bdi></h2><button type="button" onClick={leave}>Close</button></header>
      <div class="projector-body">
        <figure>
          {closed === null ? (
            <>
              {phone && <QrCode text={`${page}#${code}`} label="A QR code of the page to join this class" />}
              <figcaption><span class="projector-code">{code}</span><br />{page.replace(/^https?:\/\//, '')}</figcaption>
              {server.value && !phone && <p class="quiet">Only this machine can open these pages. Start the server with an address of this machine as --host.</p>}
            </>
          ) : <figcaption>The class is closed.</figcaption>}
        </figure>
        <section aria-label="Participants">
          <h3>{participants.length.toLocaleString()} in the class{uploads && `, ${participants.filter(({ uploaded }) => uploaded.length).length.toLocaleString()} uploaded`}</h3>
          <ul class="projector-names">{participants.map((one) => <li key={one.name}><bdi>{one.name}</bdi>{uploads && !one.uploaded.length && <span class="quiet"> no upload</span>}</li>)}</ul>
        </section>
        <section aria-label="Latest results"><h3>Latest results</h3><ClassResults results={results.slice(0, 8)} empty="No match yet." /></section>
      </div>
    </dialog>
  );
}
