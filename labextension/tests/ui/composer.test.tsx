import { act, createEvent, fireEvent, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';

import { TransportError } from '../../src/client/transport';
import type { StartTurn } from '../../src/protocol/types';
import { calls, settle, show, Trail, type Shown } from './fakes';

function field(): HTMLTextAreaElement {
  const found = screen.getByRole('textbox', { name: 'Prompt for Vitto' });
  if (!(found instanceof HTMLTextAreaElement)) {
    throw new Error('not a text area');
  }
  return found;
}

async function type(text: string): Promise<void> {
  await act(async () => {
    fireEvent.change(field(), { target: { value: text } });
  });
}

async function press(key: string, more: Record<string, unknown> = {}): Promise<void> {
  await act(async () => {
    fireEvent.keyDown(field(), { key, ...more });
  });
  await settle();
}

function sent(shown: Shown): Partial<StartTurn> | undefined {
  const body = calls(shown, 'startTurn')[0]?.[1];
  return typeof body === 'object' && body !== null ? body : undefined;
}

describe('the composer', () => {
  it('makes a session with the first prompt and sends what is in front', async () => {
    const shown = await show();
    await type('Fix the plot');
    await press('Enter');
    expect(calls(shown, 'createSession')[0]?.[0]).toMatchObject({
      notebook_path: 'analysis.ipynb'
    });
    expect(sent(shown)).toMatchObject({
      prompt: 'Fix the plot',
      mode: 'ask',
      context: { path: 'analysis.ipynb' }
    });
    expect(field().value).toBe('');
  });

  it('breaks the line with Shift+Enter and does not send while an input method composes', async () => {
    const shown = await show();
    await type('こんに');
    await press('Enter', { shiftKey: true });
    await press('Enter', { isComposing: true });
    await press('Enter', { keyCode: 229 });
    expect(calls(shown, 'startTurn')).toHaveLength(0);
    expect(field().value).toBe('こんに');
  });

  it('does not send blank text', async () => {
    const shown = await show();
    await type('  \n ');
    await press('Enter');
    expect(calls(shown, 'startTurn')).toHaveLength(0);
  });

  it('keeps the text while a turn runs, and says so', async () => {
    const shown = await show(Trail.start().turn());
    await type('And then?');
    await press('Enter');
    expect(field().value).toBe('And then?');
    expect(screen.getByText(/A turn runs/)).toBeTruthy();
    expect(calls(shown, 'startTurn')).toHaveLength(0);
  });

  it('gets the text back when the server does not take it', async () => {
    await show(null, ({ transport }) => {
      transport.refusal = new TransportError(500, 'internal', 'It broke.', 'Look at the log.');
    });
    await type('Fix the plot');
    await press('Enter');
    expect(field().value).toBe('Fix the plot');
    expect(screen.getByText('Look at the log.')).toBeTruthy();
  });

  it('keeps the draft over a reload', async () => {
    const first = await show();
    await type('half a thought');
    await show(null, ({ host }) => {
      host.kept.set('draft', first.host.kept.get('draft') ?? '');
    });
    expect(screen.getAllByDisplayValue('half a thought')).toHaveLength(2);
  });

  it('leaves out what was removed, until something else is selected', async () => {
    const shown = await show();
    const selection = { path: 'analysis.ipynb', cell_id: 'c4', text: 'x', start_line: 2, end_line: 3 };
    shown.host.change({ selection });
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Leave out: cell 4, lines 2–3' }));
      fireEvent.click(screen.getByRole('button', { name: 'Leave out: analysis.ipynb' }));
    });
    shown.host.change({ dirty: true });
    expect(screen.queryByText('cell 4, lines 2–3')).toBeNull();
    await type('Why?');
    await press('Enter');
    expect(sent(shown)?.context).toMatchObject({ path: null, selection: null });
    shown.host.change({ selection: { ...selection, end_line: 9 } });
    expect(screen.getByText('cell 4, lines 2–9')).toBeTruthy();
  });

  it('sends pasted images and says which files cannot go along', async () => {
    const shown = await show();
    const image = new File([new Uint8Array([1, 2, 3])], 'plot.png', { type: 'image/png' });
    const table = new File(['a,b'], 'table.csv', { type: 'text/csv' });
    const paste = createEvent.paste(field(), { clipboardData: { files: [image, table] } });
    await act(async () => {
      fireEvent(field(), paste);
    });
    await settle();
    expect(screen.getByRole('img', { name: 'plot.png' })).toBeTruthy();
    expect(screen.getByText(/table.csv was left out/)).toBeTruthy();
    await type('What is this?');
    await press('Enter');
    expect(sent(shown)?.attachments).toEqual([{ media_type: 'image/png', data: 'AQID' }]);
    expect(screen.queryByRole('img', { name: 'plot.png' })).toBeNull();
  });

  it('sends exactly the context that a menu entry gave', async () => {
    const shown = await show();
    const context = { path: 'b.ipynb', cell_id: 'x', selection: null, attention: 'NameError: plt' };
    await act(async () => shown.ui.prefill('Fix this', context));
    expect(document.activeElement).toBe(field());
    expect(screen.getByText('b.ipynb: NameError: plt')).toBeTruthy();
    await press('Enter');
    expect(sent(shown)?.context).toEqual(context);
  });
});

describe('the model menu', () => {
  const model = { id: 'm1', label: 'Model One', efforts: ['low', 'high'], context_tokens: null };
  const demo = { ...model, id: 'demo', label: 'Script', efforts: [] };
  const ready = { available: true, reason: '', hint: '' };

  it('sends provider, model and effort with the next turn', async () => {
    const shown = await show(null, ({ transport }) => {
      const one = { name: 'p', label: 'P', ...ready, models: [model, { ...model, id: 'm2', label: 'Two' }] };
      transport.providersReply = { providers: [one], provider: 'p', model: 'm1', effort: null };
    });
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Model: Model One' }));
    });
    await act(async () => {
      fireEvent.click(screen.getByRole('radio', { name: 'Two' }));
    });
    await act(async () => {
      fireEvent.click(screen.getByRole('radio', { name: 'high' }));
    });
    await type('Go');
    await press('Enter');
    expect(sent(shown)).toMatchObject({ provider: 'p', model: 'm2', effort: 'high' });
  });

  it('says why a provider is missing and calls the demo what it is', async () => {
    await show(null, ({ transport }) => {
      const missing = { available: false, reason: 'No key was found.', hint: 'Set the key.' };
      transport.providersReply = {
        providers: [
          { name: 'anthropic', label: 'Anthropic', ...missing, models: [] },
          { name: 'demo', label: 'Demo', ...ready, models: [demo] }
        ],
        provider: 'demo',
        model: 'demo',
        effort: null
      };
    });
    expect(screen.getByText('No key was found.')).toBeTruthy();
    expect(screen.getByText('Set the key.')).toBeTruthy();
    expect(
      screen.getByRole('button', { name: 'Model: Demo, not a language model' })
    ).toBeTruthy();
  });
});
