/**
 * The ids of new turns. A prompt that is sent again because the answer to it was lost gets the
 * id it had, so that the server starts it once. Owned by the store.
 */
import { mayHaveArrived } from '../client/transport';
import type { StartTurn, Transcript } from '../protocol/types';

/** What makes two prompts the same to a person; where the cursor stands does not. */
type Sent = Pick<StartTurn, 'prompt' | 'mode'> & Partial<Pick<StartTurn, 'attachments'>>;

export class TurnIds {
  /** The id to send `prompt` with. */
  next(sent: Sent, transcript: Transcript): string {
    const id = this.lost.get(keyOf(sent, transcript.session_id));
    return id !== undefined && !hasTurn(transcript, id) ? id : newTurnId();
  }

  /** Sending failed; the server may have the prompt all the same. */
  failed(error: unknown, sent: Sent, sessionId: string, turnId: string): void {
    this.lost.clear();
    if (mayHaveArrived(error)) {
      this.lost.set(keyOf(sent, sessionId), turnId);
    }
  }

  /** At most the last one: a prompt that is not repeated next is not repeated. */
  private readonly lost = new Map<string, string>();
}

export function hasTurn(transcript: Transcript, turnId: string | undefined): boolean {
  return turnId !== undefined && transcript.turns.some(turn => turn.turn_id === turnId);
}

function keyOf({ prompt, mode, attachments = [] }: Sent, sessionId: string): string {
  return JSON.stringify([sessionId, prompt, mode, attachments]);
}

function newTurnId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return `turn_${Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')}`;
}
