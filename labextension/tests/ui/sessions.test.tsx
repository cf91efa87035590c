import { act, fireEvent, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';

import type { SessionInfo } from '../../src/protocol/types';
import { calls, SESSION, settle, show, Trail } from './fakes';

function info(session_id: string, title: string, hour: number, path: string | null = null): SessionInfo {
  const at = `2026-11-30T${String(hour).padStart(2, '0')}:00:00Z`;
  const times = { created_at: at, updated_at: at };
  return { session_id, title, notebook_path: path, ...times, state: 'idle', turns: 2 };
}

const LIST = [
  info('ses_old', 'Clean up', 7, 'old/data.ipynb'),
  info(SESSION, 'Sales', 9),
  info('ses_new', 'Regression', 11)
];

async function openList(): Promise<void> {
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name: 'Sessions' }));
  });
  await settle();
}

function titles(): readonly (string | null)[] {
  return [...document.querySelectorAll('.vitto-session-title')].map(node => node.textContent);
}

describe('sessions', () => {
  it('are restored from the last visit', async () => {
    await show(Trail.start('Sales').turn('Fix the plot').text('Done.').end());
    expect(screen.getByRole('heading', { name: 'Sales' })).toBeTruthy();
    expect(screen.getByText('Fix the plot')).toBeTruthy();
  });

  it('are listed newest first and found by title or notebook', async () => {
    await show(null, ({ transport }) => void (transport.sessions = LIST));
    await openList();
    expect(titles()).toEqual(['Regression', 'Sales', 'Clean up']);
    fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'DATA clean' } });
    expect(titles()).toEqual(['Clean up']);
    fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'nothing' } });
    expect(screen.getByText('No session matches.')).toBeTruthy();
  });

  it('are resumed with a click', async () => {
    const trail = Trail.start('Sales').turn('Fix the plot').end();
    const shown = await show(trail, ({ host, transport }) => {
      host.kept.clear();
      transport.sessions = LIST;
    });
    await openList();
    await act(async () => {
      fireEvent.click(screen.getByText('Sales'));
    });
    await settle();
    expect(screen.getByText('Fix the plot')).toBeTruthy();
    expect(shown.host.kept.get('session')).toBe(SESSION);
  });

  it('are renamed in the list: Enter takes the title, Escape keeps the old one', async () => {
    const shown = await show(null, ({ transport }) => void (transport.sessions = LIST));
    await openList();
    for (const [key, title] of [['Escape', 'Never'], ['Enter', 'Sales by month']] as const) {
      fireEvent.click(screen.getByRole('button', { name: 'Rename: Sales' }));
      const field = screen.getByRole('textbox', { name: 'Title of the session' });
      fireEvent.change(field, { target: { value: title } });
      await act(async () => {
        fireEvent.keyDown(field, { key });
      });
    }
    expect(calls(shown, 'renameSession')).toEqual([[SESSION, 'Sales by month']]);
    expect(titles()).toContain('Sales by month');
  });

  it('are renamed by a click on the title', async () => {
    const shown = await show(Trail.start('Sales').turn().end());
    fireEvent.click(screen.getByRole('button', { name: 'Sales' }));
    const field = screen.getByRole('textbox', { name: 'Title of the session' });
    fireEvent.change(field, { target: { value: 'Plot' } });
    await act(async () => {
      fireEvent.blur(field);
    });
    expect(calls(shown, 'renameSession')).toEqual([[SESSION, 'Plot']]);
  });

  it('are deleted only when the user is sure', async () => {
    const shown = await show(null, ({ host, transport }) => {
      host.sure = false;
      transport.sessions = LIST;
    });
    await openList();
    const remove = async (): Promise<void> => {
      fireEvent.click(screen.getByRole('button', { name: 'Delete: Regression' }));
      await settle();
    };
    await remove();
    expect(calls(shown, 'deleteSession')).toHaveLength(0);
    shown.host.sure = true;
    await remove();
    expect(titles()).toEqual(['Sales', 'Clean up']);
  });

  it('begin anew without a server call until the first prompt', async () => {
    const shown = await show(Trail.start('Sales').turn().end());
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'New session' }));
    });
    expect(screen.getByRole('heading', { name: 'New session' })).toBeTruthy();
    expect(calls(shown, 'createSession')).toHaveLength(0);
  });
});

describe('the empty state', () => {
  it('says what Vitto sees and sends a suggestion', async () => {
    const shown = await show(null, ({ host }) => {
      host.now = { ...host.now, cellsWithErrors: 1 };
    });
    expect(screen.getByText(/1 cell with an error/)).toBeTruthy();
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Fix the failing cell' }));
    });
    await settle();
    expect(calls(shown, 'startTurn')[0]?.[1]).toMatchObject({ prompt: 'Fix the failing cell' });
  });
});
