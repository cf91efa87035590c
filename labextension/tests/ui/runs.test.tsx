import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';

import type { JsonValue } from '../../src/protocol/types';
import { transcriptText } from '../../src/ui/words/export';
import { settle, show, Trail } from './fakes';

const CELL = { cell_id: 'c4', label: '4', state: 'running' };

function handedBack(cells: JsonValue[] = [CELL], labels = ['4']): Trail {
  return Trail.start()
    .turn()
    .call('a', 'run_cells', { path: 'analysis.ipynb' }, 'execute')
    .started('a')
    .detached('a', labels)
    .finished('a', {
      output: 'It goes on.',
      metadata: { path: 'analysis.ipynb', state: 'running', cells }
    })
    .end();
}

function line(): HTMLElement {
  return within(screen.getByRole('list', { name: 'Runs in the background' })).getByRole('listitem');
}

function row(into: HTMLElement): string {
  return into.querySelector('.vitto-row')?.textContent ?? '';
}

describe('a run that goes on after its call', () => {
  it('has a line with its place, and its row says that it still runs', async () => {
    const { into, host } = await show(handedBack());
    expect(line().textContent).toContain('Cell 4 of analysis.ipynb is running');
    expect(row(into)).toContain('Running cell 4');
    expect(row(into)).toContain('still running');
    fireEvent.click(within(line()).getByRole('button', { name: 'Cell 4' }));
    expect(host.revealed).toEqual([{ path: 'analysis.ipynb', cellId: 'c4' }]);
  });

  it('says how it ended, until the next turn', async () => {
    const trail = handedBack();
    const shown = await show(trail);
    await shown.play(trail.later(now => now.runEnds('a', 'ok')));
    expect(line().textContent).toBe('Cell 4 of analysis.ipynb finished after 4 s');
    expect(row(shown.into)).toContain('Ran cell 4');
    expect(row(shown.into)).toContain('done');
    expect(shown.into.querySelector('[data-vitto-live]')?.textContent).toContain('finished after');
    await shown.play(trail.later(now => now.turn('Go on')));
    expect(screen.queryByRole('list', { name: 'Runs in the background' })).toBeNull();
    expect(row(shown.into)).toContain('Started cell 4');
  });

  it('says why it failed, in its line and in its row', async () => {
    const shown = await show(handedBack().runEnds('a', 'error', 'cell 4: ValueError'));
    expect(line().textContent).toBe('Cell 4 of analysis.ipynb failed after 4 s: ValueError');
    expect(row(shown.into)).toContain('failed');
    expect(row(shown.into)).toContain('ValueError');
  });

  it('is interrupted by an act of its own, which says that it was sent', async () => {
    const { host } = await show(handedBack());
    await act(async () => {
      fireEvent.click(within(line()).getByRole('button', { name: 'Interrupt kernel' }));
    });
    expect(host.interrupted).toEqual(['analysis.ipynb']);
    expect(line().textContent).toContain('interrupt sent');
  });

  it('names several cells, and how many when they are more', async () => {
    const { into } = await show(handedBack([CELL], ['4', '5']));
    expect(into.textContent).toContain('Cells 4, 5 of analysis.ipynb are running');
    const many = await show(handedBack([CELL], ['1', '2', '3', '4', '5']));
    expect(many.into.textContent).toContain('5 cells of analysis.ipynb are running');
  });

  it('is not told a second time after a stop', async () => {
    const trail = Trail.start()
      .turn()
      .call('a', 'run_cells', { path: 'analysis.ipynb' }, 'execute')
      .started('a');
    const shown = await show(trail, ({ transport }) => {
      const still_running = ['cell 4 of analysis.ipynb, for 3 s', 'sleep 100'];
      transport.cancelReply = { cancelled: true, still_running };
    });
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Stop' }));
    });
    await shown.play(trail.later(now => now.detached('a', ['4']).end('cancelled')));
    expect(line().textContent).toContain('Cell 4 of analysis.ipynb is running');
    expect(screen.getByRole('group', { name: 'Status' }).textContent).toBe(
      'The agent has stopped. Still running: sleep 100'
    );
    await shown.play(trail.later(now => now.runEnds('a', 'interrupted')));
    expect(screen.getByRole('group', { name: 'Status' }).textContent).toBe(
      'The agent has stopped. Still running: sleep 100'
    );
  });

  it('is in the text of the transcript', async () => {
    const trail = handedBack();
    const shown = await show(trail.question('a', 'Name? '));
    const text = (): string => {
      const session = shown.store.getSnapshot().session;
      return session ? transcriptText(shown.host, session.transcript) : '';
    };
    expect(text()).toContain('- – Cell 4 of analysis.ipynb is running');
    expect(text()).toContain('_Cell 4 asks for input: Name?_');
    await shown.play(trail.later(now => now.runEnds('a', 'ok')));
    expect(text()).toContain('- ✓ Cell 4 of analysis.ipynb finished after');
  });
});

describe('after a stop with a busy kernel', () => {
  it.each([
    ['busy', 'The kernel of analysis.ipynb was interrupted and is still busy.', true],
    ['idle', 'The kernel was interrupted and is idle: analysis.ipynb', false]
  ])('an interrupt is followed by what the kernel says: %s', async (state, words, again) => {
    const trail = Trail.start().turn();
    const shown = await show(trail, ({ transport }) => {
      transport.cancelReply = { cancelled: true, still_running: ['kernel of analysis.ipynb'] };
      transport.workspace = {
        ...transport.workspace,
        notebook: {
          path: 'analysis.ipynb',
          cells: 3,
          cells_with_errors: 0,
          kernel_name: 'python3',
          kernel_state: state
        }
      };
    });
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Stop' }));
    });
    await shown.play(trail.later(now => now.end('cancelled')));
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Interrupt kernel' }));
    });
    for (let step = 0; step < 3; step++) {
      await settle();
    }
    expect(screen.getByRole('group', { name: 'Status' }).textContent).toContain(words);
    expect(screen.queryByRole('button', { name: 'Interrupt kernel' }) !== null).toBe(again);
  });
});

describe('outputs of a run that nobody approved', () => {
  function ran(approved: boolean): Trail {
    const trail = Trail.start().turn().call('a', 'run_cells', { path: 'n.ipynb' }, 'execute');
    const preview = { kind: 'action', text: 'Run it' } as const;
    const asked = approved ? trail.ask('a', 'Run?', preview).answered('a', 'approve') : trail;
    const cells = [
      { cell_id: 'c1', label: '1', state: 'ok' },
      { cell_id: 'c2', label: '2', state: 'error' },
      { cell_id: 'c3', label: '3', state: 'not_run' }
    ];
    return asked
      .started('a')
      .finished('a', { output: 'ran', metadata: { path: 'n.ipynb', state: 'error', cells } })
      .end();
  }

  it('are shown at a click, those of the cells that ran', async () => {
    const shown: unknown[] = [];
    await show(ran(false), ({ host }) => {
      host.showOutputs = async (path, cellIds) => void shown.push([path, cellIds]);
    });
    fireEvent.click(screen.getByRole('button', { name: /^Details: / }));
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Show its outputs' }));
    });
    expect(shown).toEqual([['n.ipynb', ['c1', 'c2']]]);
    expect(screen.getByText('Its outputs are shown in the notebook.')).toBeTruthy();
  });

  it.each([
    ['approved by the user', true, true],
    ['of a host that draws none', false, false]
  ])('have no button when %s', async (_, approved, canShow) => {
    await show(ran(approved), ({ host }) => {
      if (canShow) {
        host.showOutputs = async () => undefined;
      }
    });
    fireEvent.click(screen.getByRole('button', { name: /^Details: / }));
    expect(screen.queryByRole('button', { name: 'Show its outputs' })).toBeNull();
  });
});
