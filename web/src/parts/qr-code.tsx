/** A QR code as a picture, with the same address as a link. */
import { useMemo } from 'preact/hooks';
import { encode } from 'uqr';

/** Modules of white around the code. */
const QUIET = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = useMemo(() => qrCode(text), [text]);
  if (!rows) return null;
  const dark = rows.flatMap((row, y) => row.map((on, x) => (on ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={rows.length} height={rows.length} fill="#fff" />
      <path d={dark} fill="#000" />
    </svg>
  );
}

/** Rows of modules, true being dark; null: the text is too long. */
export function qrCode(text: string): boolean[][] | null {
  try {
    return encode(text, { ecc: 'M', border: QUIET }).data;
  } catch {
    return null;
  }
}
