/** A line to be copied into a terminal or a program. */
import { useEffect, useState } from 'preact/hooks';

export function CopyLine({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void copyText(text).then(setCopied);
  return (
    <div class="copy-line">
      <pre tabIndex={0} aria-label={label}><code>{text}</code></pre>
      <button type="button" onClick={copy} aria-label={`Copy: ${label}`}>{copied ? 'Copied' : 'Copy'}</button>
    </div>
  );
}

/** Where the page may not write to the clipboard (no TLS), the old way is tried. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}
