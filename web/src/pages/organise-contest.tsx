/** One contest for its organiser: what can be done in its state, its document, entrants and log. */
import type { ContestEntrant, ContestText, DocumentedContest } from '../api/types';
import { useRest } from '../api/use';
import { askFirst, type Question } from '../parts/ask-first';
import { RowsTable, type Column } from '../parts/data-table';
import { change } from '../parts/doing';
import { contestPath } from '../parts/links';
import { Problem } from '../parts/problem';
import { StateBadge } from '../parts/state-badge';
import { go } from '../router';
import { ContestProgress, LogSection, StandingsSection, useContest } from './contest-document';
import { documentOf } from './contest-words';
import { DocumentForm } from './organise-document';

type State = DocumentedContest['state'];

interface ContestAction {
  action: string;
  title: string;
  /** The states in which it can be taken. */
  from: State[];
  done: string;
  /** Asked first, where it cannot be undone. */
  question?: Question;
}

const ACTIONS: ContestAction[] = [
  { action: 'open', title: 'Open for entry', from: ['draft'], done: 'Bots can enter now.' },
  { action: 'start', title: 'Start', from: ['draft', 'open'], done: 'The contest runs.',
    question: { title: 'Start the contest?', words: 'Its document cannot be changed after that, and bots enter only if it allows late entries. This cannot be undone.', action: 'Start' } },
  { action: 'pause', title: 'Pause', from: ['running'], done: 'No new match starts. Running matches are played to their end.' },
  { action: 'resume', title: 'Resume', from: ['paused'], done: 'The contest runs again.' },
  { action: 'end', title: 'End', from: ['open', 'running', 'paused'], done: 'The contest is over.',
    question: { title: 'End the contest?', words: 'No further match starts, and the standings are final. This cannot be undone. To stop for a while, pause it instead.', action: 'End the contest' } },
];

export function organisePath(name: string): string {
  return `/organise/contests?contest=${encodeURIComponent(name)}`;
}

export function OrganiseContest({ name }: { name: string }) {
  const { contest, error, again } = useContest(name);
  if (!contest) return error ? <Problem words={error} retry={again} /> : <p class="quiet" role="status">Loading …</p>;
  const changeable = contest.state === 'draft' || contest.state === 'open';
  return (
    <>
      <p><a href="/organise/contests">All contests</a></p>
      <section class="card" aria-label="Contest">
        <h2><bdi>{documentOf(contest).title || contest.name}</bdi> <StateBadge state={contest.state} /></h2>
        <ContestProgress contest={contest} />
        <Actions contest={contest} changed={again} />
        <p><a href={contestPath(contest.game, contest.name)}>The public page</a>, with rounds and matches</p>
      </section>
      <StandingsSection contest={contest} />
      <Entrants contest={contest} changed={again} />
      {changeable && <ChangeDocument name={name} changed={again} />}
      {!changeable && <section><h2>Document</h2><DocumentText name={name} /></section>}
      <LogSection log={contest.log} />
    </>
  );
}

function Actions({ contest, changed }: { contest: DocumentedContest; changed: () => void }) {
  const can = ACTIONS.filter(({ from }) => from.includes(contest.state));
  const act = async ({ action, question, done }: ContestAction) => {
    if (question && (await askFirst(question)) === null) return;
    if (await change(`/operator/contest-actions/${encodeURIComponent(contest.name)}`, { method: 'POST', body: { action } }, done)) changed();
  };
  if (!can.length) return null;
  return <p class="actions">{can.map((one, at) => <button key={one.action} type="button" class={one.action === 'end' ? 'danger' : at === 0 ? 'main' : ''} onClick={() => void act(one)}>{one.title}</button>)}</p>;
}

function Entrants({ contest, changed }: { contest: DocumentedContest; changed: () => void }) {
  const withdraw = async (bot: string) => {
    const words = 'It forfeits its open matches and is paired no more. This cannot be undone.';
    const reason = await askFirst({ title: `Withdraw ${bot}?`, words, action: 'Withdraw', field: 'Reason (it is in the public log)' });
    if (reason === null) return;
    if (await change(`/operator/contest-withdrawals/${encodeURIComponent(contest.name)}`, { method: 'POST', body: { bot, reason } }, `${bot} was withdrawn.`)) changed();
  };
  const columns: Column<ContestEntrant>[] = [
    { title: 'Bot', head: true, cell: ({ name }) => <bdi>{name}</bdi> },
    { title: 'Owner', cell: ({ owner }) => <bdi>{owner}</bdi> },
    { title: 'State', wide: true, cell: ({ name }) => (contest.awaited.includes(name) ? <span class="bad">awaited</span> : '') },
    { title: 'Actions', cell: ({ name, left }) => (left !== null ? 'withdrawn' : contest.state !== 'over' && <button type="button" aria-label={`Withdraw ${name}`} onClick={() => void withdraw(name)}>Withdraw</button>) },
  ];
  return <section aria-label="Entrants"><h2>Entrants</h2><RowsTable caption={`${contest.entrants.length.toLocaleString()} bots, in the order of their seeds`} rows={contest.entrants} columns={columns} limit={25} empty="No bot has entered yet." /></section>;
}

function ChangeDocument({ name, changed }: { name: string; changed: () => void }) {
  const { value, error, again } = useRest<ContestText>(`/operator/contests/${encodeURIComponent(name)}`);
  if (!value) return error ? <Problem words={error} retry={again} /> : null;
  const saved = (contest: DocumentedContest) => {
    if (contest.name !== name) go(organisePath(contest.name), true);
    changed();
    again();
  };
  return (
    <section class="card" aria-label="Change the document">
      <h2>Document</h2>
      <DocumentForm key={value.toml} text={value.toml} path={`/operator/contests/${encodeURIComponent(name)}`} method="PUT" action="Save the document" done={() => 'The document is changed.'} saved={saved} />
    </section>
  );
}

function DocumentText({ name }: { name: string }) {
  const { value } = useRest<ContestText>(`/operator/contests/${encodeURIComponent(name)}`);
  return <details><summary>Show it; it cannot be changed after the start</summary><pre class="document" tabIndex={0}>{value?.toml}</pre></details>;
}
