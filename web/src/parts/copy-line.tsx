/** A line to be copied into a terminal or a program, and how to copy. */
import { useEffect, useState } from 'preact/hooks';

export function CopyLine({ text, label }: { text: string; label: string }) {
  const [copied, copy] = useCopying();
  return (
    <div class="copy-line">
      <pre tabIndex={0} aria-label={label}><code>{text}</code></pre>
      <button type="button" onClick={() => copy(text)} aria-label={`Copy: ${label}`}>{copied ? 'Copied' : 'Copy'}</button>
    </div>
  );
}

/** Whether something was copied just now, and how to copy. */
export function useCopying(): [boolean, (text: string) => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied, (text) => void copyText(text).then(setCopied)];
}

/** Copy the text, and return whether that succeeded. Pages without TLS need the old API. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const box = document.createElement('textarea');
  box.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  return done;
}
