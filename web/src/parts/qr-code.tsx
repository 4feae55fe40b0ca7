/** A QR code as a picture, with the same address as a link. */
import { useMemo } from 'preact/hooks';
import { qrCode } from './qr';

const QUIET = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = useMemo(() => qrCode(text), [text]);
  if (!rows) return null;
  const size = rows.length + 2 * QUIET;
  const dark = rows.flatMap((row, y) => row.map((on, x) => (on ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : ''))).join('');
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark} fill="#000" />
    </svg>
  );
}
