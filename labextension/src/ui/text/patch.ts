/** Replaces what an element holds by what changed in it. */

/**
 * Make `into` hold what `drawn` holds. Nodes at its begin that are the same already stay: of a
 * text that grows only the end is laid out and painted again, and a selection in the rest is
 * kept. `drawn` is used up.
 */
export function patch(into: Node, drawn: Node): void {
  let old = into.firstChild;
  let fresh = drawn.firstChild;
  while (old && fresh && old.isEqualNode(fresh)) {
    old = old.nextSibling;
    fresh = fresh.nextSibling;
  }
  if (old && fresh && patchNode(old, fresh)) {
    old = old.nextSibling;
    fresh = fresh.nextSibling;
  }
  removeFrom(old);
  while (fresh) {
    const next: ChildNode | null = fresh.nextSibling;
    into.appendChild(fresh);
    fresh = next;
  }
}

/** False when the two are too different for one to become the other. */
function patchNode(old: Node, fresh: Node): boolean {
  if (old instanceof Text && fresh instanceof Text) {
    old.data = fresh.data;
    return true;
  }
  if (old.cloneNode(false).isEqualNode(fresh.cloneNode(false))) {
    patch(old, fresh);
    return true;
  }
  return false;
}

function removeFrom(first: ChildNode | null): void {
  while (first) {
    const next: ChildNode | null = first.nextSibling;
    first.remove();
    first = next;
  }
}
