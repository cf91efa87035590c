/** A host call that cannot be done; the code goes to the server. */
import type { HostAnswer, JsonValue } from '../../../protocol/types';

export type HostErrorCode = 'edit_conflict' | 'not_found' | 'write_failed' | 'not_text';

export class HostError extends Error {
  constructor(
    readonly code: HostErrorCode,
    message: string
  ) {
    super(message);
    this.name = 'HostError';
  }
}

/** The outcome of an act as the server wants it. */
export async function answerOf(act: () => Promise<Record<string, JsonValue>>): Promise<HostAnswer> {
  try {
    return { value: await act(), error_code: null, error: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof HostError ? error.code : 'write_failed';
    return { value: null, error_code: code, error: message };
  }
}
