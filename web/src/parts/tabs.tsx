/** Tabs: one of several panels is shown. Arrow keys change between them. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';

export interface Tab {
  title: string;
  panel: ComponentChildren;
}

const MOVES: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };

interface Props {
  tabs: readonly Tab[];
  label: string;
  first?: number;
  /** Which tab was chosen, for a page that needs to know. */
  chose?: (at: number) => void;
}

export function Tabs({ tabs, label, first = 0, chose }: Props) {
  const [shown, setShown] = useState(first);
  const show = (at: number) => {
    setShown(at);
    chose?.(at);
  };
  const id = useId();
  const press = (event: KeyboardEvent) => {
    const by = MOVES[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const to = (shown + by + tabs.length) % tabs.length;
    show(to);
    document.getElementById(`${id}-tab-${to}`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={press}>
        {tabs.map(({ title }, at) => (
          <button key={title} type="button" role="tab" id={`${id}-tab-${at}`} aria-selected={at === shown} aria-controls={`${id}-panel`}
            tabIndex={at === shown ? 0 : -1} onClick={() => show(at)}>{title}</button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${shown}`}>{tabs[shown]?.panel}</div>
    </div>
  );
}
