/**
 * What linters of other extensions report in an editor. Their copy of @codemirror/lint is not
 * ours, so its state is found by shape among the editor's state fields; where that shape is
 * not there, nothing is reported.
 */
import type { EditorState } from '@codemirror/state';
import type { Diagnostic } from '../../../protocol/types';

/** A diagnostic without the path of its document. */
export type Problem = Omit<Diagnostic, 'path'>;

const MOST = 100;

export function problemsOf(state: EditorState, cellId: string | null): Problem[] {
  return found(state)
    .slice(0, MOST)
    .map(({ from, severity, message, source }) => {
      const line = state.doc.lineAt(Math.min(from, state.doc.length));
      return {
        cell_id: cellId,
        line: line.number,
        column: from - line.from + 1,
        severity: severity === 'error' || severity === 'warning' ? severity : 'info',
        message,
        source: source ?? ''
      };
    });
}

interface Found {
  readonly from: number;
  readonly severity: string;
  readonly message: string;
  readonly source?: string;
}

interface Cursor {
  readonly value: { readonly spec?: unknown } | null;
  readonly from: number;
  next(): void;
}

function found(state: object): Found[] {
  const values: unknown = 'values' in state ? state.values : null;
  const all = new Map<unknown, Found>();
  for (const value of Array.isArray(values) ? values : []) {
    for (const cursor = cursorOf(value); cursor?.value; cursor.next()) {
      for (const item of diagnosticsOf(cursor.value.spec)) {
        all.set(item, { ...item, from: cursor.from });
      }
    }
  }
  return [...all.values()];
}

/** Over the decorations of lint's state field, recognised by its `diagnostics` range set. */
function cursorOf(value: unknown): Cursor | null {
  if (typeof value !== 'object' || value === null || !('diagnostics' in value)) {
    return null;
  }
  const ranges = value.diagnostics;
  const hasIter =
    typeof ranges === 'object' &&
    ranges !== null &&
    'iter' in ranges &&
    typeof ranges.iter === 'function';
  return hasIter ? (ranges as { iter(): Cursor }).iter() : null;
}

/** Decorations carry one diagnostic (older lint) or several (newer). */
function diagnosticsOf(spec: unknown): Found[] {
  if (typeof spec !== 'object' || spec === null) {
    return [];
  }
  const one: unknown = 'diagnostic' in spec ? spec.diagnostic : null;
  const several: unknown = 'diagnostics' in spec ? spec.diagnostics : [one];
  return (Array.isArray(several) ? several : []).filter(isDiagnostic);
}

function isDiagnostic(value: unknown): value is Found {
  return (
    typeof value === 'object' &&
    value !== null &&
    'message' in value &&
    typeof value.message === 'string' &&
    'severity' in value &&
    typeof value.severity === 'string'
  );
}
