import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';

import { TransportError } from '../../src/client/transport';
import { calls, DIFF, show, Trail, type Shown } from './fakes';

function waiting(preview = DIFF): Trail {
  return Trail.start()
    .turn()
    .call('a', 'edit_cell', { path: 'analysis.ipynb', cell_id: 'c4' }, 'write')
    .ask('a', 'Edit cell 4 of analysis.ipynb?', preview);
}

function card(): HTMLElement {
  return screen.getByRole('region', { name: 'Edit cell 4 of analysis.ipynb?' });
}

function button(name: string): HTMLElement {
  return within(card()).getByRole('button', { name });
}

function decision(shown: Shown): unknown {
  return calls(shown, 'decide')[0]?.[2];
}

async function click(element: HTMLElement): Promise<void> {
  await act(async () => {
    fireEvent.click(element);
  });
}

describe('the approval card', () => {
  it('shows title, reason and the diff of each change, and takes no focus', async () => {
    const shown = await show(Trail.start().turn());
    screen.getByRole('textbox', { name: 'Prompt for Vitto' }).focus();
    await shown.play(
      waiting().events.slice(-2) // the call and its question
    );
    expect(within(card()).getByText('It changes a document.')).toBeTruthy();
    expect(shown.host.diffs[0]).toMatchObject({
      before: 'plt.show()',
      label: 'Changes of cell 4 · analysis.ipynb'
    });
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt for Vitto' }));
  });

  it('sends one answer for a double click, with the digest of what was shown', async () => {
    const shown = await show(waiting());
    await act(async () => {
      fireEvent.click(button('Allow'));
      fireEvent.click(button('Allow'));
    });
    expect(calls(shown, 'decide')).toHaveLength(1);
    expect(decision(shown)).toMatchObject({ decision: 'approve', digest: 'dig_a' });
  });

  it('allows with Ctrl+Enter only while the focus is inside', async () => {
    const shown = await show(waiting());
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Prompt for Vitto' }), {
      key: 'Enter',
      ctrlKey: true
    });
    expect(calls(shown, 'decide')).toHaveLength(0);
    await act(async () => {
      fireEvent.keyDown(button('Reject'), { key: 'Enter', ctrlKey: true });
    });
    expect(decision(shown)).toMatchObject({ decision: 'approve' });
  });

  it('goes to Reject with Escape, without answering', async () => {
    const shown = await show(waiting());
    button('Allow').focus();
    fireEvent.keyDown(button('Allow'), { key: 'Escape' });
    expect(document.activeElement).toBe(button('Reject'));
    expect(calls(shown, 'decide')).toHaveLength(0);
  });

  it('rejects with the words that say what to do instead', async () => {
    const shown = await show(waiting());
    const field = screen.getByRole('textbox', { name: 'Tell Vitto what to do instead' });
    fireEvent.change(field, { target: { value: 'Use seaborn' } });
    await act(async () => {
      fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
    });
    expect(decision(shown)).toMatchObject({ decision: 'reject', comment: 'Use seaborn' });
  });

  it('stands as a record with the comment once answered', async () => {
    const trail = waiting();
    const shown = await show(trail);
    await shown.play(trail.later(now => now.answered('a', 'reject', 'Use seaborn')));
    expect(screen.queryByRole('region', { name: /Edit cell 4/ })).toBeNull();
    expect(screen.getByText(/You rejected this/).textContent).toContain('Use seaborn');
  });

  it('can be answered again after the server could not be reached', async () => {
    const shown = await show(waiting(), ({ transport }) => {
      transport.refusal = new TransportError(0, 'unreachable', 'No answer.', 'Is it running?');
    });
    await click(button('Allow'));
    expect(screen.getByText('Is it running?')).toBeTruthy();
    shown.transport.refusal = null;
    await click(button('Allow'));
    expect(calls(shown, 'decide')).toHaveLength(2);
  });

  it('tells calmly that somebody else was faster', async () => {
    const shown = await show(waiting(), ({ transport }) => {
      transport.refusal = new TransportError(409, 'already_answered', 'Already allowed.', '');
    });
    await click(button('Allow'));
    expect(shown.into.querySelector('.vitto-problem .vitto-info')?.textContent).toContain(
      'Already allowed.'
    );
  });

  it('folds long code in the middle, says how much is hidden, and shows all of it', async () => {
    const source = Array.from({ length: 100 }, (_, line) => `line_${line}`).join('\n');
    const snippets = [{ cell_id: 'c4', label: '4', source }];
    const preview = { kind: 'code', path: 'n.ipynb', language: 'python', snippets } as const;
    await show(waiting({ ...preview, snippets }));
    expect(card().textContent).not.toContain('line_50');
    expect(card().textContent).toContain('line_99');
    await click(button('76 more lines'));
    expect(card().textContent).toContain('line_50');
  });

  it('shows a command exactly', async () => {
    const command = 'rm -rf build &&\n  make';
    await show(waiting({ kind: 'command', command, cwd: 'src' }));
    expect(card().querySelector('.vitto-code')?.textContent).toBe(command);
    expect(card().textContent).toContain('in the folder src');
  });

  it('is answered by the host’s command, once', async () => {
    const shown = await show(waiting());
    await act(async () => {
      expect(shown.ui.decidePending('reject')).toBe(true);
      expect(shown.ui.decidePending('reject')).toBe(false);
    });
    expect(calls(shown, 'decide')).toHaveLength(1);
  });
});
