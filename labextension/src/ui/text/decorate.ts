/** Additions to rendered markdown: copy buttons on code, scroll boxes around tables. */

export interface Decoration {
  readonly copyLabel: string;
  readonly copiedLabel: string;
  readonly tableLabel: string;
  copy(text: string): Promise<void>;
  icon(name: 'copy' | 'check', into: HTMLElement): void;
}

export function decorate(root: HTMLElement, decoration: Decoration): void {
  for (const pre of root.querySelectorAll('pre')) {
    if (!pre.parentElement?.classList.contains('vitto-block')) {
      wrapCode(pre, decoration);
    }
  }
  for (const table of root.querySelectorAll('table')) {
    if (!table.parentElement?.classList.contains('vitto-scroll')) {
      const box = wrap(table, 'vitto-scroll');
      box.tabIndex = 0;
      box.setAttribute('role', 'group');
      box.setAttribute('aria-label', decoration.tableLabel);
    }
  }
}

function wrap(element: HTMLElement, className: string): HTMLElement {
  const box = document.createElement('div');
  box.className = className;
  element.replaceWith(box);
  box.append(element);
  return box;
}

const SHOWN_MS = 1500;

function wrapCode(pre: HTMLElement, decoration: Decoration): void {
  const box = wrap(pre, 'vitto-block');
  pre.tabIndex = 0;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'vitto-icon-button vitto-copy';
  const icon = document.createElement('span');
  icon.className = 'vitto-icon';
  icon.setAttribute('aria-hidden', 'true');
  button.append(icon);
  const show = (name: 'copy' | 'check', label: string): void => {
    button.setAttribute('aria-label', label);
    button.title = label;
    icon.replaceChildren();
    decoration.icon(name, icon);
  };
  show('copy', decoration.copyLabel);
  button.addEventListener('click', () => {
    // looked up now: a code that grows keeps the button and may get another box
    void decoration.copy(box.querySelector('pre')?.textContent ?? '').then(() => {
      show('check', decoration.copiedLabel);
      setTimeout(() => show('copy', decoration.copyLabel), SHOWN_MS);
    });
  });
  box.prepend(button);
}
