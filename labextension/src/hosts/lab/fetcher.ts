/** Requests to our server extension with the credentials of the page. */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { Fetcher } from '../../client/requests';

export function labFetcher(settings: ServerConnection.ISettings): Fetcher {
  const base = URLExt.join(settings.baseUrl, 'vitto/api/');
  return (path, init) => ServerConnection.makeRequest(base + path, init, settings);
}
