/** Which outputs of a run stay untrusted. Pure. */
import type { ToolBlock } from '../../protocol/types';
import { listOf, recordOf, textOf } from './json';
import { pathOf } from './places';

const DID_NOT_RUN = ['', 'not_run', 'waiting', 'changed', 'gone'];

/** The cells that a call ran although no person had approved exactly that. */
export function untrustedCells(block: ToolBlock): {
  readonly path: string;
  readonly cellIds: readonly string[];
} {
  const path = pathOf(block);
  if (block.approval?.decision === 'approve' && block.approval.by === 'user') {
    return { path, cellIds: [] };
  }
  const cells = listOf(block.result?.metadata['cells']).map(recordOf);
  const ran = cells.filter(cell => !DID_NOT_RUN.includes(textOf(cell['state'])));
  return { path, cellIds: ran.map(cell => textOf(cell['cell_id'])).filter(Boolean) };
}
