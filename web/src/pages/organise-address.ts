/** Addresses of clients. */

/** Bots that are called have a port behind their address. */
export function hostOf(address: string): string {
  return address.replace(/^\[?([^\]]*?)\]?:\d+$/, (whole, host: string) => (host.includes(':') && !whole.startsWith('[') ? whole : host));
}
