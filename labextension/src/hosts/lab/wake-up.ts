/** Wake-ups from the server over Jupyter's event bus: ids only, everybody may read them. */

const SCHEMA_ID = 'https://vitto-jupyter.invalid/wake/v1';

export interface WakeUp {
  readonly host_id: string;
  readonly session_id: string;
}

export function isWakeUp(event: object): event is WakeUp {
  return (
    'schema_id' in event &&
    event.schema_id === SCHEMA_ID &&
    'host_id' in event &&
    typeof event.host_id === 'string' &&
    'session_id' in event &&
    typeof event.session_id === 'string'
  );
}
