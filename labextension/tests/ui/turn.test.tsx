import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';

import { calls, DIFF, show, Trail } from './fakes';

async function click(element: HTMLElement): Promise<void> {
  await act(async () => {
    fireEvent.click(element);
  });
}

function row(phrase: string): HTMLElement {
  const found = screen.getByRole('button', { name: `Details: ${phrase}` }).closest('.vitto-row');
  if (!(found instanceof HTMLElement)) {
    throw new Error('no row');
  }
  return found;
}

describe('a work row', () => {
  it.each([
    ['requested', 'Run ls', 'preparing'],
    ['waiting', 'Run ls', 'waiting for you'],
    ['running', 'Running ls', 'running'],
    ['done', 'Ran ls', 'done'],
    ['failed', 'Ran ls', 'failed'],
    ['denied', 'Run ls', 'not done'],
    ['cancelled', 'Run ls', 'stopped']
  ])('says in words that it is %s', async (state, phrase, word) => {
    const trail = Trail.start().turn().call('a', 'run_command', { command: 'ls' }, 'execute');
    const preview = { kind: 'command', command: 'ls', cwd: '' } as const;
    const fail = { success: false, error: 'Exit code 1', metadata: { exit_code: 1 } };
    const steps: Readonly<Record<string, () => unknown>> = {
      requested: () => trail,
      waiting: () => trail.ask('a', 'Run?', preview),
      running: () => trail.started('a'),
      done: () => trail.started('a').finished('a', { metadata: { exit_code: 0 } }),
      failed: () => trail.started('a').finished('a', fail),
      denied: () => trail.ask('a', 'Run?', preview).answered('a', 'reject'),
      cancelled: () => trail.end('cancelled')
    };
    steps[state]?.();
    await show(trail);
    expect(within(row(phrase)).getByText(word)).toBeTruthy();
  });

  it('opens to the exact input and result, images included', async () => {
    const trail = Trail.start().turn().call('a', 'execute_code', { code: 'df.plot()' }, 'execute');
    const metadata = { seconds: 1, images: [{ media_type: 'image/png', data: 'aGk=' }] };
    await show(trail.started('a').finished('a', { output: '\u001b[31mred\u001b[0m', metadata }));
    await click(screen.getByRole('button', { name: 'Details: Ran code' }));
    expect(within(row('Ran code')).getByText('df.plot()')).toBeTruthy();
    expect(within(row('Ran code')).getByText('red')).toBeTruthy();
    const image = screen.getByRole('img', { name: 'Image 1 of the result' });
    expect(image.getAttribute('src')).toBe('data:image/png;base64,aGk=');
  });

  it('reveals cells and files, and opens the terminal of a command', async () => {
    const trail = Trail.start().turn().call('a', 'run_command', { command: 'ls' }, 'execute');
    trail.started('a').finished('a', { metadata: { exit_code: 0, terminal: 'vitto' } });
    trail.read('b', 'src/a.py');
    const shown = await show(trail);
    await click(screen.getByRole('button', { name: 'a.py' }));
    expect(shown.host.revealed).toEqual([{ path: 'src/a.py', cellId: null }]);
    await click(screen.getByRole('button', { name: 'Details: Ran ls' }));
    await click(screen.getByRole('button', { name: 'Open the terminal' }));
    expect(shown.host.terminals).toEqual(['vitto']);
  });

  it('shows the end of the output while it runs, and the input while it is written', async () => {
    const trail = Trail.start().turn().call('a', 'run_command', { command: 'make' }, 'execute');
    const lines = Array.from({ length: 30 }, (_, n) => `step ${n}`).join('\n');
    trail.started('a').add({ type: 'tool.progress', tool_call_id: 'a', text: lines });
    const partial_json = '{"path": "b.py", "content": "import os\\nprint(';
    trail.add({ type: 'tool.input_delta', tool_call_id: 'b', name: 'write_file', partial_json });
    await show(trail);
    const output = screen.getByRole('group', { name: 'Output so far' }).textContent;
    expect(output).toContain('step 29');
    expect(output).not.toContain('step 1\n');
    expect(screen.getByRole('group', { name: 'Being written' }).textContent).toBe(
      'import os\nprint('
    );
  });

  it('tells the last line of a traceback first', async () => {
    const error = 'Traceback (most recent call last):\n  File "x"\nValueError: no';
    const trail = Trail.start().turn().call('a', 'execute_code', { code: 'x' }, 'execute');
    await show(trail.started('a').finished('a', { success: false, error }));
    expect(row('Run code').querySelector('.vitto-row-note')?.textContent).toBe('ValueError: no');
  });

  it('folds neighbouring reads into one that opens to all', async () => {
    await show(Trail.start().turn().read('a', 'a.py').read('b', 'b.py').text('Done').end());
    await click(screen.getByRole('button', { name: /Read 2 files/ }));
    expect(row('Read b.py, 3 lines')).toBeTruthy();
  });
});

describe('the end of a turn', () => {
  const overloaded = { code: 'overloaded', message: 'Overloaded.', hint: 'Wait a minute.' };

  it('says what happened and what to do, and tries again with the same prompt', async () => {
    const shown = await show(Trail.start().turn('Fix it').end('error', overloaded));
    expect(screen.getByText('Wait a minute.')).toBeTruthy();
    await click(screen.getByRole('button', { name: 'Copy the details' }));
    expect(shown.host.copied[0]).toContain('code: overloaded');
    await click(screen.getByRole('button', { name: 'Try again' }));
    expect(calls(shown, 'startTurn')[0]?.[1]).toMatchObject({
      prompt: 'Fix it',
      context: { path: 'analysis.ipynb' }
    });
  });

  it('offers to try again only for the last turn', async () => {
    await show(Trail.start().turn().end('error', overloaded).turn().end());
    expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
  });

  it('gives the prompt back after a stop', async () => {
    await show(Trail.start().turn('Fix it').end('cancelled'));
    expect(screen.getByText(/^Stopped after/)).toBeTruthy();
    await click(screen.getByRole('button', { name: 'Use the prompt again' }));
    expect(screen.getByDisplayValue('Fix it')).toBeTruthy();
  });

  it('goes on after a limit', async () => {
    const limit = { code: 'request_limit', message: 'Limit.', hint: 'Send “go on”.' };
    const shown = await show(Trail.start().turn().end('limit', limit));
    await click(screen.getByRole('button', { name: 'Go on' }));
    expect(calls(shown, 'startTurn')[0]?.[1]).toMatchObject({ prompt: 'Go on.' });
  });
});

describe('the status line', () => {
  it('stops once, and offers to interrupt the kernel as a separate act', async () => {
    const trail = Trail.start().turn();
    const shown = await show(trail, ({ transport }) => {
      transport.cancelReply = { cancelled: true, still_running: ['kernel of n/a.ipynb'] };
    });
    await click(screen.getByRole('button', { name: 'Stop' }));
    expect(screen.getByText('Stopping…')).toBeTruthy();
    expect(shown.host.interrupted).toEqual([]);
    await shown.play(trail.later(now => now.end('cancelled')));
    expect(screen.getByText(/Still running: kernel of n\/a.ipynb/)).toBeTruthy();
    await click(screen.getByRole('button', { name: 'Interrupt kernel' }));
    expect(shown.host.interrupted).toEqual(['n/a.ipynb']);
    expect(calls(shown, 'cancel')).toHaveLength(1);
  });

  it('counts down to the next attempt', async () => {
    const retry_at = new Date(Date.now() + 8200).toISOString();
    const notice = { level: 'warning', code: 'retrying', text: 'Overloaded', retry_at } as const;
    await show(Trail.start().turn().add({ type: 'notice', ...notice }));
    expect(screen.getByText(/^Retrying in [78] s · Overloaded$/)).toBeTruthy();
  });
});

describe('the record of an allowed edit', () => {
  it('stands under the row, and the row opens to the diff that was shown', async () => {
    const trail = Trail.start().turn();
    trail.call('a', 'edit_cell', { path: 'analysis.ipynb', cell_id: 'c4' }, 'write');
    trail.ask('a', 'Edit?', DIFF).answered('a', 'approve').started('a').finished('a');
    const shown = await show(trail.end());
    expect(screen.getByText('You allowed this')).toBeTruthy();
    await click(screen.getByRole('button', { name: 'Details: Edited cell 4' }));
    expect(shown.host.diffs.at(-1)?.after).toBe('import plt\nplt.show()');
  });
});
