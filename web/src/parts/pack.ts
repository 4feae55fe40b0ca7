/** What is uploaded: a zip archive of a project, or a file in Python as one. */
import type { UploadLimits } from '../api/types';

const FILE = 0o100644 << 16;
const MADE_BY_UNIX = 0x0300;
const VERSION = 20;
/** Bits of the flags: names are in UTF-8. */
const UTF_8 = 0x0800;
/** 1 January 1980, so that the same code is the same archive. */
const DAY = 0x21;

/** Why a file cannot be uploaded; null: it can. */
export function refusal(name: string, size: number, { packed, unpacked }: UploadLimits): string | null {
  if (!/\.(py|zip)$/i.test(name)) return `${name} is neither a file in Python (.py) nor a zip archive (.zip). Pack a project with its bot.toml as a zip archive.`;
  if (size === 0) return `${name} is empty.`;
  const most = isArchive(name) ? packed : Math.min(packed, unpacked);
  return size > most ? `${name} has ${size.toLocaleString()} bytes; at most ${most.toLocaleString()} are allowed.` : null;
}

export function isArchive(name: string): boolean {
  return /\.zip$/i.test(name);
}

/** A zip archive with one file, which is not compressed. */
export function archiveOf(name: string, data: Uint8Array<ArrayBuffer>): Blob {
  const title = new TextEncoder().encode(name);
  const sum = crc32(data);
  const common = [[2, VERSION], [2, UTF_8], [2, 0], [2, 0], [2, DAY], [4, sum], [4, data.length], [4, data.length], [2, title.length], [2, 0]] as const;
  const head = numbers([[4, 0x04034b50], ...common]);
  const entry = numbers([[4, 0x02014b50], [2, MADE_BY_UNIX | VERSION], ...common, [2, 0], [2, 0], [2, 0], [4, FILE], [4, 0]]);
  const listed = entry.length + title.length;
  const end = numbers([[4, 0x06054b50], [2, 0], [2, 0], [2, 1], [2, 1], [4, listed], [4, head.length + title.length + data.length], [2, 0]]);
  return new Blob([head, title, data, entry, title, end], { type: 'application/zip' });
}

/** Numbers of so many bytes each, the lowest byte first. */
function numbers(fields: readonly (readonly [bytes: number, value: number])[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(fields.flatMap(([bytes, value]) => Array.from({ length: bytes }, (_, at) => (value >>> (8 * at)) & 0xff)));
}

export function crc32(data: Uint8Array): number {
  let sum = ~0;
  for (const byte of data) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
