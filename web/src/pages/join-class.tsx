/** Join a class: its code, and a name. The address may have the code after #, where no server logs it. */
import { useEffect, useState } from 'preact/hooks';
import { ask } from '../api/rest';
import type { JoinedClass } from '../api/types';
import { go } from '../router';
import { keepOwner, keptOwner } from './class-owner';

export default function JoinClass() {
  const [code, setCode] = useState(() => location.hash.slice(1));
  const [name, setName] = useState('');
  const [words, setWords] = useState('');
  const before = keptOwner();
  useEffect(() => void (document.title = 'Join a class · Botdrome'), []);
  useEffect(() => {
    const read = () => setCode(location.hash.slice(1));
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const joined = (one: JoinedClass) => {
      keepOwner(one);
      go('/class');
    };
    ask<JoinedClass>('/participants', { method: 'POST', body: { code, name: name.trim() } }).then(joined, (error: Error) => setWords(error.message));
  };
  return (
    <div class="join-class card">
      <h1>Join a class</h1>
      <p>Your organiser has the join code. No e-mail address is needed: choose the name that the class shows. Everybody sees it beside your bots.</p>
      {before && <p class="quiet">This browser is in the class <bdi>{before.class}</bdi> as <bdi>{before.name}</bdi>: <a href="/class">my bots</a>. If you join another class, it forgets that one.</p>}
      {words && <p role="alert" class="notice failed">{words}</p>}
      <form class="token-form" onSubmit={submit}>
        <label>Join code <input required class="mono" value={code} autoComplete="off" autoCapitalize="characters" spellcheck={false} placeholder="7KQ2-M0XT-94RD" onInput={(event) => setCode(event.currentTarget.value)} /></label>
        <label>Your name <input required maxLength={64} value={name} autoComplete="nickname" onInput={(event) => setName(event.currentTarget.value)} /></label>
        <p><button type="submit" class="main">Join</button></p>
      </form>
    </div>
  );
}
