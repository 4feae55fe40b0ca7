/** The token of a bot's owner, kept until the tab is closed, and the form that takes it. */
import { useState } from 'preact/hooks';

const PREFIX = 'botdrome.token.';

export function tokenOf(bot: string): string | null {
  try {
    return sessionStorage.getItem(PREFIX + bot);
  } catch {
    return null;
  }
}

export function keepToken(bot: string, token: string): void {
  try {
    if (token) sessionStorage.setItem(PREFIX + bot, token);
    else sessionStorage.removeItem(PREFIX + bot);
  } catch {
    // Where nothing may be kept, the token holds until the page is left.
  }
}

export function useToken(bot: string): [string, (token: string) => void] {
  const [token, setToken] = useState(() => tokenOf(bot) ?? '');
  const change = (to: string) => {
    keepToken(bot, to);
    setToken(to);
  };
  return [token, change];
}

export function TokenForm({ bot, give, words = 'Open the flight record' }: { bot: string; give: (token: string) => void; words?: string }) {
  const [text, setText] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    give(text.trim());
  };
  return (
    <form class="token-form" onSubmit={submit}>
      <label>The password of <bdi>{bot}</bdi>
        <input type="password" value={text} autoComplete="off" spellcheck={false} required onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" class="main">{words}</button>
      <p class="quiet">It is the password that came with the registration, or the secret of a guest. This tab keeps it until it is closed.</p>
    </form>
  );
}
