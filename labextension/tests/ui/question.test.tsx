import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';

import { TransportError } from '../../src/client/transport';
import { calls, show, Trail, type Shown } from './fakes';

const CODE = {
  kind: 'code',
  path: 'analysis.ipynb',
  language: 'python',
  snippets: [{ cell_id: 'c4', label: '4', source: 'name = input("Your name? ")' }]
} as const;

function running(): Trail {
  return Trail.start()
    .turn()
    .call('a', 'run_cells', { path: 'analysis.ipynb' }, 'execute')
    .ask('a', 'Run cell 4 of analysis.ipynb?', { ...CODE, snippets: [...CODE.snippets] })
    .answered('a', 'approve')
    .started('a');
}

function asks(trail = running()): Trail {
  return trail.question('a', 'Your name? ');
}

function card(name = 'Cell 4 asks for input'): HTMLElement {
  return screen.getByRole('region', { name });
}

function button(name: string): HTMLElement {
  return within(card()).getByRole('button', { name });
}

function answers(shown: Shown): readonly unknown[] {
  return calls(shown, 'answer').map(([, question, answer]) => [question, answer]);
}

async function submit(element: HTMLElement): Promise<void> {
  await act(async () => {
    fireEvent.submit(element);
  });
}

describe('the question card', () => {
  it('says who asks what, and takes no focus', async () => {
    const trail = running();
    const shown = await show(trail);
    const prompt = screen.getByRole('textbox', { name: 'Prompt for Vitto' });
    prompt.focus();
    await shown.play(trail.later(asks));
    expect(within(card()).getByRole('textbox', { name: 'Your name?' })).toBeTruthy();
    expect(document.activeElement).toBe(prompt);
    expect(shown.into.querySelector('.vitto-row')?.textContent).toContain('waiting for you');
    expect(screen.getByRole('group', { name: 'Status' }).textContent).toContain(
      'Waiting for your answer'
    );
    expect(shown.into.querySelector('[data-vitto-live]')?.textContent).toBe(
      'Cell 4 asks for input: Your name? '
    );
  });

  it('sends what was typed, once, and goes when it is closed', async () => {
    const trail = asks();
    const shown = await show(trail);
    const field = within(card()).getByRole('textbox');
    field.focus();
    fireEvent.change(field, { target: { value: 'Bob' } });
    await submit(field);
    await submit(field);
    expect(answers(shown)).toEqual([['qst_a', 'Bob']]);
    await shown.play(trail.later(now => now.closed('a')));
    expect(screen.queryByRole('region', { name: /asks for input/ })).toBeNull();
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt for Vitto' }));
  });

  it('takes an empty line as an answer', async () => {
    const shown = await show(asks());
    await submit(within(card()).getByRole('textbox'));
    expect(answers(shown)).toEqual([['qst_a', '']]);
  });

  it('lets the user not answer, says what that does, and is reached with Escape', async () => {
    const shown = await show(asks());
    fireEvent.keyDown(within(card()).getByRole('textbox'), { key: 'Escape' });
    expect(document.activeElement).toBe(button('Don’t answer'));
    expect(answers(shown)).toEqual([]);
    expect(card().textContent).toContain('Without an answer, the cell is interrupted.');
    await act(async () => {
      fireEvent.click(button('Don’t answer'));
    });
    expect(answers(shown)).toEqual([['qst_a', null]]);
  });

  it('hides a password, also from the page’s own memory', async () => {
    const shown = await show(running().question('a', 'Password: ', { secret: true }));
    const field = within(card()).getByLabelText('Password:');
    expect(field.getAttribute('type')).toBe('password');
    fireEvent.change(field, { target: { value: 'hunter2' } });
    await submit(field);
    expect(answers(shown)).toEqual([['qst_a', 'hunter2']]);
    expect(JSON.stringify([...shown.host.kept])).not.toContain('hunter2');
    expect(JSON.stringify(shown.store.getSnapshot())).not.toContain('hunter2');
  });

  it('shows a prompt as text, whatever is in it', async () => {
    await show(running().question('a', '<img src=x onerror=alert(1)> **bold**\nsecond line'));
    expect(card().querySelector('img, b, strong')).toBeNull();
    expect(card().textContent).toContain('<img src=x onerror=alert(1)> **bold**');
  });

  it('offers choices, and answers with the value of one', async () => {
    const choices = [
      { value: 'python3', label: 'Python 3' },
      { value: 'bash', label: 'Bash' }
    ];
    const shown = await show(running().question('a', 'Which kernel?', { choices }));
    const asking = card('Vitto asks');
    const answer = within(asking).getByRole('button', { name: 'Answer' });
    expect((answer as HTMLButtonElement).disabled).toBe(true);
    expect(within(asking).getByRole('group', { name: 'Which kernel?' })).toBeTruthy();
    await act(async () => {
      fireEvent.click(within(asking).getByRole('radio', { name: 'Bash' }));
    });
    await act(async () => {
      fireEvent.click(answer);
    });
    expect(answers(shown)).toEqual([['qst_a', 'bash']]);
  });

  it('offers many choices as a menu', async () => {
    const choices = Array.from({ length: 9 }, (_, n) => ({ value: `v${n}`, label: `Kernel ${n}` }));
    const shown = await show(running().question('a', 'Which kernel?', { choices }));
    const menu = screen.getByRole('combobox', { name: 'Which kernel?' });
    fireEvent.change(menu, { target: { value: 'v7' } });
    await submit(menu);
    expect(answers(shown)).toEqual([['qst_a', 'v7']]);
  });

  it('stays after its turn was stopped, while the cell goes on', async () => {
    const shown = await show(asks().end('cancelled'));
    expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull();
    await submit(within(card()).getByRole('textbox'));
    expect(answers(shown)).toHaveLength(1);
  });

  it('can be answered again after the server could not be reached', async () => {
    const shown = await show(asks(), ({ transport }) => {
      transport.refusal = new TransportError(0, 'unreachable', 'No answer.', 'Is it running?');
    });
    await submit(within(card()).getByRole('textbox'));
    expect(screen.getByText('Is it running?')).toBeTruthy();
    shown.transport.refusal = null;
    await submit(within(card()).getByRole('textbox'));
    expect(answers(shown)).toHaveLength(2);
  });

  it('comes one after the other', async () => {
    const trail = asks().question('a', 'Your age? ', { id: 'qst_b' });
    const shown = await show(trail);
    expect(card().textContent).toContain('1 of 2');
    await shown.play(trail.later(now => now.closed('a')));
    expect(card().textContent).toContain('Your age?');
  });
});
