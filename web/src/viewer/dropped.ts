/** Match files that are dropped onto any page, or chosen: they are shown by the page /open. */
import { signal } from '@preact/signals';

/** The file to be shown by /open. */
export const dropped = signal<File | null>(null);

/** Take files that are dropped anywhere on the page; `show` leads to the page that shows them. */
export function takeDroppedFiles(show: () => void): void {
  const hint = (on: boolean) => document.body.classList.toggle('dropping', on);
  document.addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    hint(true);
  });
  document.addEventListener('dragleave', (event) => event.relatedTarget === null && hint(false));
  document.addEventListener('drop', (event) => {
    hint(false);
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    dropped.value = file;
    show();
  });
}
