/** The server's REST interface, with the types that are made from the server's own. */
import { signal } from '@preact/signals';

export const BASE = '/api/v1';
/** Milliseconds before a page that lost its server tries again. */
export const TRY_AGAIN = 4000;

/** The server refused the request or could not be reached. The message is for the user. */
export class RestError extends Error {
  constructor(
    words: string,
    readonly status: number,
  ) {
    super(words);
  }

  /** Whether the same request may succeed later. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** The path of the last request that was refused for want of a session. */
export const notSignedIn = signal<string | null>(null);

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: unknown;
  /** Sent as it is, in place of a body. */
  file?: Blob;
  token?: string;
  signal?: AbortSignal;
}

export type Query = Record<string, string | number | undefined | null | readonly string[]>;

/** `path` is under /api/v1. */
export async function ask<T>(path: string, options: Ask = {}): Promise<T> {
  return (await (await fetched(path, options)).json()) as T;
}

export async function askText(path: string, options: Ask = {}): Promise<string> {
  return (await fetched(path, options)).text();
}

/** `?a=1&b=2` from the values that are set; '' if none is. */
export function queryOf(values: Query): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return text && `?${text}`;
}

async function fetched(path: string, { method = 'GET', body, file, token, signal }: Ask): Promise<Response> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (token) headers['authorization'] = `Bearer ${token}`;
  const request: RequestInit = { method, headers };
  if (body !== undefined) request.body = JSON.stringify(body);
  if (file) request.body = file;
  if (signal) request.signal = signal;
  const response = await answered(path, request);
  if (response.status === 401) notSignedIn.value = path;
  if (!response.ok) throw new RestError(await reason(response), response.status);
  return response;
}

async function answered(path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(BASE + path, request);
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw new RestError('The server does not answer. Check your connection, then try again.', 0);
  }
}

async function reason(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const said: unknown = JSON.parse(text);
    if (typeof said === 'object' && said && 'error' in said) return String(said.error);
  } catch {
    // Not JSON: a proxy in between, perhaps.
  }
  return `The server answered with the status ${response.status}.`;
}
