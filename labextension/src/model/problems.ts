/** Any thrown value as an error for a person. */
import { TransportError } from '../client/transport';
import type { ErrorInfo } from '../protocol/types';

export function errorInfo(error: unknown): ErrorInfo {
  if (error instanceof TransportError) {
    return { code: error.code, message: error.message, hint: error.hint };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal', message, hint: '' };
}
