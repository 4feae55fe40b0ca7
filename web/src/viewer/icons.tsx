/** The pictures on the buttons of the viewer. */

const PATHS = {
  play: 'M7 4.5v15l13-7.5z',
  pause: 'M6 4.5h4.5v15H6zM13.5 4.5H18v15h-4.5z',
  back: 'M16.5 5v14L8 12zM5 5h2.5v14H5z',
  forward: 'M7.5 5v14l8.5-7zM16.5 5H19v14h-2.5z',
  start: 'M12 5v14L5.5 12zM19 5v14l-6.5-7zM3 5h2v14H3z',
  end: 'M5 5v14l6.5-7zM12 5v14l6.5-7zM19 5h2v14h-2z',
  full: 'M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z',
  link: 'M10.6 13.4a4 4 0 0 1 0-5.7l3.1-3.1a4 4 0 0 1 5.7 5.7l-1.7 1.7-1.4-1.4 1.7-1.7a2 2 0 1 0-2.9-2.9L12 9.1a2 2 0 0 0 0 2.9zm2.8-2.8a4 4 0 0 1 0 5.7l-3.1 3.1a4 4 0 0 1-5.7-5.7l1.7-1.7 1.4 1.4L6 15.1A2 2 0 1 0 8.9 18L12 14.9a2 2 0 0 0 0-2.9z',
  embed: 'M9 6.5 3.5 12 9 17.5l1.4-1.4L6.3 12l4.1-4.1zM15 6.5 13.6 7.9l4.1 4.1-4.1 4.1 1.4 1.4L20.5 12z',
  fork: 'M6 3a2.5 2.5 0 0 0-1 4.8v8.4a2.5 2.5 0 1 0 2 0v-2.4c1-.9 2.5-1.3 4.5-1.3 3.4 0 5.5-1.6 5.5-4.7a2.5 2.5 0 1 0-2 0c0 1.9-1.2 2.7-3.5 2.7-1.8 0-3.3.3-4.5 1V7.8A2.5 2.5 0 0 0 6 3z',
  help: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2a7 7 0 1 1 0 14 7 7 0 0 1 0-14zm-1 10.5h2v2h-2zm1-9a3.2 3.2 0 0 0-3.2 3.2h2a1.2 1.2 0 1 1 1.9 1c-.9.6-1.7 1.3-1.7 2.8h2c0-.7.3-.9.9-1.3A3.2 3.2 0 0 0 12 6.5z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
