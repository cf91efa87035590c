/** One step of undo, apart from what the user typed just before and after. */

interface Shared {
  transact(change: () => void): void;
}

interface UndoManager {
  stopCapturing(): void;
}

/** Undo managers join changes that follow within half a second; this keeps ours apart. */
export function asOneUndoStep(shared: Shared, change: () => void): void {
  const manager = undoManagerOf(shared);
  manager?.stopCapturing();
  shared.transact(change);
  manager?.stopCapturing();
}

/** Part of the shared models' classes, not of their interfaces. */
function undoManagerOf(shared: object): UndoManager | null {
  const manager: unknown = 'undoManager' in shared ? shared.undoManager : null;
  return hasStopCapturing(manager) ? manager : null;
}

function hasStopCapturing(value: unknown): value is UndoManager {
  return (
    typeof value === 'object' &&
    value !== null &&
    'stopCapturing' in value &&
    typeof value.stopCapturing === 'function'
  );
}
