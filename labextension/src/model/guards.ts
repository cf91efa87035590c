/** From untyped JSON to events: the only place where the wire is believed. */
import type { AnyEvent } from '../protocol/types';

/** Every event type of this version; a type missing here or unknown to the wire fails to compile. */
const TYPES: Record<AnyEvent['type'], true> = {
  'approval.requested': true,
  'approval.resolved': true,
  'model.requested': true,
  notice: true,
  'question.asked': true,
  'question.closed': true,
  'run.detached': true,
  'run.finished': true,
  'session.created': true,
  'session.renamed': true,
  'text.delta': true,
  'thinking.delta': true,
  'tool.finished': true,
  'tool.input_delta': true,
  'tool.progress': true,
  'tool.requested': true,
  'tool.started': true,
  'turn.finished': true,
  'turn.started': true,
  'usage.updated': true
};

/** The envelope every event has, known type or not. */
export interface Envelope {
  readonly seq: number;
  readonly type: string;
}

export function isEnvelope(value: unknown): value is Envelope {
  return (
    typeof value === 'object' &&
    value !== null &&
    'seq' in value &&
    Number.isInteger(value.seq) &&
    'type' in value &&
    typeof value.type === 'string'
  );
}

/** False for types of a later version: these are counted, and otherwise left out. */
export function isEvent(value: Envelope): value is AnyEvent {
  return Object.prototype.hasOwnProperty.call(TYPES, value.type);
}
