/** Requests with JSON bodies, and their failures as `TransportError`. */
import { TransportError } from './transport';

/** Fetches a path below `vitto/api/`, with the credentials of the page; rejects when offline. */
export type Fetcher = (path: string, init: RequestInit) => Promise<Response>;

/** The response when it is a success (2xx). */
export async function request(
  fetcher: Fetcher,
  path: string,
  init: RequestInit
): Promise<Response> {
  let response: Response;
  try {
    response = await fetcher(path, init);
  } catch (error) {
    throw unreachable(error);
  }
  if (!response.ok) {
    throw await refused(response);
  }
  return response;
}

/** One request; answers the body's JSON, or undefined when the body is empty. */
export async function requestJson(
  fetcher: Fetcher,
  method: string,
  path: string,
  body?: unknown,
  init: RequestInit = {}
): Promise<unknown> {
  // without the header a string body would go out as text/plain, which the server refuses
  const withBody =
    body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
  const response = await request(fetcher, path, { method, ...withBody, ...init });
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}

export function unreachable(error: unknown): TransportError {
  const detail = error instanceof Error ? error.message : String(error);
  return new TransportError(
    0,
    'unreachable',
    `The Jupyter server cannot be reached (${detail}).`,
    'Check that it is still running, then try again.'
  );
}

async function refused(response: Response): Promise<TransportError> {
  const fallback = {
    code: response.status === 404 ? 'not_found' : 'http_error',
    message: `The server answered ${response.status} ${response.statusText}.`,
    hint: response.status === 403 ? 'Reload the page to log in again.' : ''
  };
  let body: unknown = null;
  try {
    body = await response.json();
  } catch (error) {
    if (!(error instanceof SyntaxError)) {
      throw unreachable(error);
    }
  }
  const { code, message, hint } = { ...fallback, ...texts(body) };
  return new TransportError(response.status, code, message, hint);
}

function texts(body: unknown): Partial<Record<'code' | 'message' | 'hint', string>> {
  const known = typeof body === 'object' && body !== null ? Object.entries(body) : [];
  return Object.fromEntries(
    known.filter(
      ([key, value]) =>
        typeof value === 'string' && value !== '' && ['code', 'message', 'hint'].includes(key)
    )
  );
}
