import { act, fireEvent, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';

import { DIFF, show, Trail } from './fakes';

const CONTROLS = 'button, input, textarea, select, summary, [tabindex="0"], img';

/** The accessible name, as far as this UI uses the ways to give one. */
function nameOf(element: Element): string {
  const labelledBy = element.getAttribute('aria-labelledby');
  const label = element.closest('label')?.textContent;
  return (
    element.getAttribute('aria-label') ??
    (labelledBy && document.getElementById(labelledBy)?.textContent) ??
    element.getAttribute('alt') ??
    label ??
    element.textContent ??
    ''
  ).trim();
}

function everything(): Trail {
  const trail = Trail.start().turn().read('r1', 'a.py').read('r2', 'b.py').text('Hello');
  trail.add({ type: 'thinking.delta', text: 'hm' });
  trail.call('x', 'execute_code', { code: 'x\ny' }, 'execute').started('x');
  trail.finished('x', { success: false, error: 'no', output: 'out', metadata: { seconds: 1 } });
  trail.end('error', { code: 'c', message: 'm', hint: 'h' }).turn('Again');
  trail.call('a', 'edit_cell', { path: 'analysis.ipynb', cell_id: 'c4' }, 'write');
  return trail.ask('a', 'Edit cell 4?', DIFF);
}

describe('for keyboards and screen readers', () => {
  it('every control has a name', async () => {
    const shown = await show(everything());
    await act(async () => {
      shown.into.querySelectorAll('[aria-expanded="false"]').forEach(node => fireEvent.click(node));
    });
    const nameless = [...shown.into.querySelectorAll(CONTROLS)].filter(node => !nameOf(node));
    expect(nameless.map(node => node.outerHTML)).toEqual([]);
    expect(shown.into.querySelectorAll('button').length).toBeGreaterThan(15);
  });

  it('has one live region, polite, that tells the question', async () => {
    const shown = await show(everything());
    const live = shown.into.querySelectorAll('[aria-live], [role="status"], [role="alert"]');
    expect([...live].map(node => node.getAttribute('aria-live'))).toEqual(['polite']);
    expect(live[0]?.textContent).toBe('Vitto asks: Edit cell 4?');
  });

  it('reads in the order of the side bar', async () => {
    const shown = await show(everything());
    const order = ['.vitto-header', '.vitto-transcript', '.vitto-approval', '.vitto-status', '.vitto-composer'];
    const nodes = order.map(selector => shown.into.querySelector(selector));
    for (const [index, node] of nodes.slice(1).entries()) {
      const before = nodes[index];
      expect(node && before?.compareDocumentPosition(node)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
    }
  });

  it('gives the focus back to the composer when the card it was in is gone', async () => {
    await show(everything());
    const allow = screen.getByRole('button', { name: 'Allow' });
    allow.focus();
    await act(async () => {
      fireEvent.click(allow);
    });
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt for Vitto' }));
  });
});
