/**
 * Untrusted HTML to nodes that fetch nothing, run nothing and pretend nothing. What is not
 * known to be harmless is left out; parsing happens in a document that loads nothing.
 */

export interface CleanOptions {
  /** In place of an image that is not part of the text itself. */
  readonly imageLabel: (alt: string, host: string) => string;
  /** A link to a file of the workspace was clicked. */
  readonly onPath: (path: string) => void;
}

const KEPT = new Set(
  (
    'p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong b i u s del ins sub sup ' +
    'kbd mark small abbr q samp var cite dl dt dd details summary span div ' +
    'table caption thead tbody tfoot tr th td'
  ).split(' ')
);

/** Gone with all that is in them; other unknown elements leave their content. */
const DROPPED = new Set(
  (
    'script style template noscript iframe frame frameset object embed applet svg math link meta ' +
    'base title head video audio picture source track canvas map area textarea select option ' +
    'dialog portal'
  ).split(' ')
);

const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  ol: ['start'],
  td: ['align', 'colspan', 'rowspan'],
  th: ['align', 'colspan', 'rowspan', 'scope'],
  details: ['open']
};

/** Classes of highlighted code; any other could borrow the look of the application. */
const CODE_CLASS = /^(?:language-[\w+#.-]+|cm-[\w-]+|tok-[\w-]+|\u037c[\w]+)$/;
const EMBEDDED_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/;
const DEEPEST = 60;

/** Parse and clean. The fragment belongs to this page's document. */
export function cleanHtml(html: string, options: CleanOptions): DocumentFragment {
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  const fragment = document.createDocumentFragment();
  copyChildren(parsed.body, fragment, { options, depth: 0, inCode: false });
  return fragment;
}

interface Place {
  readonly options: CleanOptions;
  readonly depth: number;
  readonly inCode: boolean;
}

function copyChildren(from: Node, into: Node, place: Place): void {
  from.childNodes.forEach(child => {
    if (child.nodeType === Node.TEXT_NODE) {
      into.appendChild(document.createTextNode(child.textContent ?? ''));
    } else if (child instanceof Element || child.nodeType === Node.ELEMENT_NODE) {
      copyElement(child as Element, into, { ...place, depth: place.depth + 1 });
    }
  });
}

function copyElement(element: Element, into: Node, place: Place): void {
  const name = element.localName;
  if (DROPPED.has(name)) {
    return;
  }
  if (place.depth > DEEPEST) {
    into.appendChild(document.createTextNode(element.textContent ?? ''));
  } else if (name === 'img') {
    into.appendChild(image(element, place.options));
  } else if (name === 'a') {
    copyLink(element, into, place);
  } else if (name === 'input') {
    copyCheckbox(element, into);
  } else if (KEPT.has(name)) {
    copyKept(element, into, place);
  } else {
    copyChildren(element, into, place);
  }
}

function copyKept(element: Element, into: Node, place: Place): void {
  const name = element.localName;
  const copy = document.createElement(name);
  for (const attribute of ATTRIBUTES[name] ?? []) {
    const value = element.getAttribute(attribute);
    if (value !== null) {
      copy.setAttribute(attribute, value);
    }
  }
  const inCode = place.inCode || name === 'pre';
  if (inCode) {
    copy.classList.add(...Array.from(element.classList).filter(word => CODE_CLASS.test(word)));
  }
  copyChildren(element, copy, { ...place, inCode });
  into.appendChild(copy);
}

function image(element: Element, options: CleanOptions): Node {
  const source = element.getAttribute('src') ?? '';
  const alt = element.getAttribute('alt') ?? '';
  if (EMBEDDED_IMAGE.test(source)) {
    const copy = document.createElement('img');
    copy.alt = alt;
    copy.src = source;
    return copy;
  }
  const label = document.createElement('span');
  label.className = 'vitto-ImageLeftOut';
  label.textContent = options.imageLabel(alt, webAddress(source)?.host ?? '');
  return label;
}

/** The only form control: the box of a task list, which nobody can tick. */
function copyCheckbox(element: Element, into: Node): void {
  if (element.getAttribute('type') === 'checkbox') {
    const copy = document.createElement('input');
    copy.type = 'checkbox';
    copy.disabled = true;
    copy.checked = element.hasAttribute('checked');
    into.appendChild(copy);
  }
}

function copyLink(element: Element, into: Node, place: Place): void {
  const target = element.getAttribute('href') ?? '';
  const address = webAddress(target);
  const path = address ? null : workspacePath(target);
  if (!address && path === null) {
    copyChildren(element, into, place);
    return;
  }
  const copy = document.createElement('a');
  copyChildren(element, copy, place);
  into.appendChild(copy);
  if (address) {
    harden(copy, address, into);
  } else if (path !== null) {
    linkToPath(copy, path, place.options);
  }
}

/** Opens elsewhere, tells nobody where from, and says where it goes. */
function harden(link: HTMLAnchorElement, address: URL, into: Node): void {
  link.href = address.href;
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
  link.title = address.href;
  const host = address.host || address.pathname;
  if (webAddress(link.textContent?.trim() ?? '')?.host !== address.host) {
    const shown = document.createElement('span');
    shown.className = 'vitto-LinkHost';
    shown.textContent = ` (${host})`;
    into.appendChild(shown);
  }
}

function linkToPath(link: HTMLAnchorElement, path: string, { onPath }: CleanOptions): void {
  link.className = 'vitto-PathLink';
  link.setAttribute('role', 'link');
  link.tabIndex = 0;
  link.title = path;
  link.addEventListener('click', () => onPath(path));
  link.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      onPath(path);
    }
  });
}

/** The address when it is one of the web or of mail. */
function webAddress(text: string): URL | null {
  if (!/^(?:https?:\/\/|mailto:)/i.test(text)) {
    return null;
  }
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** A relative link as an API path; null when it is something else. */
function workspacePath(target: string): string | null {
  const bare = target.replace(/[?#].*$/, '').replace(/^(?:\.\/)+/, '');
  if (bare === '' || /[\\:\x00-\x20]|^\/|(?:^|\/)\.\.(?:\/|$)/.test(bare)) {
    return null;
  }
  try {
    return decodeURI(bare);
  } catch {
    return null;
  }
}

/** After typesetting: nothing in the drawn formulas may lead anywhere. */
export function disarmMath(host: HTMLElement): void {
  host.querySelectorAll('mjx-container').forEach(formula => {
    formula.querySelectorAll('a, [href], [id], [style*="url"]').forEach(node => {
      node.removeAttribute('href');
      node.removeAttribute('xlink:href');
      node.removeAttribute('id');
      if (/url/i.test(node.getAttribute('style') ?? '')) {
        node.removeAttribute('style');
      }
    });
  });
}
