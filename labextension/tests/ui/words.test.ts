import { describe, expect, it } from 'vitest';

import { foldAll } from '../../src/model/reducer';
import { emptyTranscript } from '../../src/model/reducer';
import type { ToolBlock, TurnView } from '../../src/protocol/types';
import { announcement, phaseWords } from '../../src/ui/words/phase';
import { newView } from '../../src/model/session-view';
import { phrase, plain } from '../../src/ui/words/parts';
import { readPartialInput } from '../../src/ui/words/partial-input';
import { seenWords, selectionWords } from '../../src/ui/words/seen';
import { suggestions } from '../../src/ui/words/suggestions';
import { age, ago, duration } from '../../src/ui/words/time';
import { toolPhrase } from '../../src/ui/words/tool-phrase';
import { currentChoice } from '../../src/ui/words/choice';
import { imagesOf } from '../../src/ui/words/json';
import { transcriptText } from '../../src/ui/words/export';
import { itemsOf } from '../../src/ui/turn/items';
import { readsWords } from '../../src/ui/turn/ReadsRow';
import { DIFF, FakeHost, NOTEBOOK, SESSION, Trail } from './fakes';

const host = new FakeHost();
const words = {
  t: (text: string, ...args: readonly (string | number)[]) => host.t(text, ...args),
  tn: (one: string, many: string, n: number) => host.tn(one, many, n)
};

function turnOf(trail: Trail): TurnView {
  const turn = foldAll(emptyTranscript(SESSION), trail.events).turns[0];
  if (!turn) {
    throw new Error('no turn');
  }
  return turn;
}

function blockOf(trail: Trail): ToolBlock {
  const block = turnOf(trail).blocks.find(found => found.type === 'tool');
  if (block?.type !== 'tool') {
    throw new Error('no tool block');
  }
  return block;
}

function said(trail: Trail): string {
  return plain(toolPhrase(words, blockOf(trail)));
}

describe('tool phrases', () => {
  const start = (): Trail => Trail.start().turn();

  it('tell what is ahead, what runs and what was done', () => {
    const edit = start().call('a', 'edit_cell', { path: 'analysis.ipynb', cell_id: 'c4' }, 'write');
    expect(said(edit.ask('a', 'Edit?', DIFF))).toBe('Edit cell 4');
    expect(said(edit.answered('a', 'approve').started('a'))).toBe('Editing cell 4');
    const metadata = { path: 'analysis.ipynb', cell_id: 'c4', label: '4', added: 3, removed: 1 };
    expect(said(edit.finished('a', { metadata }))).toBe('Edited cell 4, +3 −1');
  });

  it.each([
    ['run_cells', 'Started cell 4'],
    ['edit_cell', 'Edited and started cell 4'],
    ['insert_cells', 'Inserted and started 1 cell in a.ipynb'],
    ['execute_code', 'Started code']
  ])('say of a run that went on that %s has started it', (name, words) => {
    const cells = [{ cell_id: 'c4', label: '4', state: 'running' }];
    const trail = start().call('a', name, { path: 'a.ipynb', run: true }, 'execute').started('a');
    const metadata = { path: 'a.ipynb', state: 'running', cells };
    expect(said(trail.finished('a', { metadata }))).toBe(words);
  });

  it('name the cells that were moved, or count them before', () => {
    const input = { cell_ids: ['c4', 'c1'], after: 'start' };
    const move = start().call('a', 'move_cells', input, 'write').started('a');
    expect(said(move)).toBe('Moving 2 cells');
    const cells = [
      { cell_id: 'c4', label: '1' },
      { cell_id: 'c1', label: '2' }
    ];
    expect(said(move.finished('a', { metadata: { path: 'a.ipynb', cells } }))).toBe(
      'Moved cell 1, cell 2'
    );
  });

  it('name the cell whose output was read', () => {
    const read = start().call('a', 'read_output', { run: 'run_1' }, 'read').started('a');
    expect(said(read)).toBe('Reading an output');
    const metadata = { path: 'a.ipynb', cell_id: 'c4', label: '4' };
    expect(said(read.finished('a', { metadata }))).toBe('Read output of cell 4');
  });

  it('say what a failed run did and what a failed edit did not', () => {
    const run = start().call('a', 'run_command', { command: 'ls\nrm x' }, 'execute').started('a');
    const metadata = { exit_code: 2, terminal: 'vitto' };
    expect(said(run.finished('a', { success: false, metadata }))).toBe('Ran ls …');
    const edit = start().call('a', 'edit_file', { path: 'src/a.py' }, 'write').started('a');
    expect(said(edit.finished('a', { success: false, error: 'stale' }))).toBe('Edit a.py');
  });

  it.each<[string, Record<string, string>, Record<string, number | string>, string]>([
    ['read_notebook', { path: 'n/analysis.ipynb' }, { count: 12 }, 'Read analysis.ipynb, 12 cells'],
    ['read_file', { path: 'a.py' }, { count: 1 }, 'Read a.py, 1 line'],
    ['search_code', { pattern: 'def f' }, { count: 2 }, 'Searched for def f, 2 matches'],
    ['list_files', { pattern: '**/*.csv' }, { count: 1 }, 'Listed **/*.csv, 1 file'],
    ['get_diagnostics', { path: 'a.py' }, { count: 0 }, 'Checked a.py, no problems'],
    ['kernel', { action: 'restart' }, {}, 'Restarted the kernel'],
    ['something_new', {}, {}, 'Used something_new']
  ])('name the result of %s', (name, input, metadata, expected) => {
    const trail = start().call('a', name, input, 'read').started('a').finished('a', { metadata });
    expect(said(trail)).toBe(expected);
  });

  it('link cells and files to their places', () => {
    const trail = start().call('a', 'run_cells', { path: 'n.ipynb' }, 'execute').started('a');
    const cells = [{ cell_id: 'x', label: '7', state: 'ok' }];
    const block = blockOf(trail.finished('a', { metadata: { path: 'n.ipynb', cells } }));
    expect(toolPhrase(words, block)).toContainEqual({
      kind: 'place',
      text: 'cell 7',
      target: { path: 'n.ipynb', cellId: 'x' }
    });
  });

  it('are translated as a whole, wherever the place stands', () => {
    const backwards = (text: string, ...args: readonly (string | number)[]): string =>
      text === 'Read %1' ? `${args[0]} lesen` : text;
    expect(plain(phrase(backwards, 'Read %1', ['a.py']))).toBe('a.py lesen');
  });
});

describe('partial input', () => {
  it('shows the text as far as it has come, at any cut', () => {
    const source = 'a = "x"\n\tb = 1  # ü';
    const json = JSON.stringify({ path: 'n.ipynb', source }).replace('ü', '\\u00fc');
    for (let end = 1; end <= json.length; end++) {
      expect(source.startsWith(readPartialInput(json.slice(0, end)).text)).toBe(true);
    }
    expect(readPartialInput(json)).toEqual({ path: 'n.ipynb', text: source });
  });
});

describe('times', () => {
  it('have units', () => {
    expect(duration(words.t, 420)).toBe('0.4 s');
    expect(duration(words.t, 3200)).toBe('3 s');
    expect(duration(words.t, 72_000)).toBe('1 min 12 s');
    expect(duration(words.t, 7_500_000)).toBe('2 h 5 min');
  });

  it('never show a negative age when the clocks differ', () => {
    expect(age(words.t, '2026-11-30T09:00:10Z', Date.parse('2026-11-30T09:00:00Z'))).toBe('0 s');
  });

  it('are relative', () => {
    const now = Date.parse('2026-11-30T09:00:00Z');
    expect(ago(words.t, '2026-11-30T08:55:00Z', now)).toBe('5 min ago');
    expect(ago(words.t, '2026-11-29T08:00:00Z', now)).toBe('yesterday');
  });
});

describe('phases', () => {
  it('are told in words', () => {
    const trail = Trail.start().turn();
    expect(phaseWords(words, turnOf(trail))).toBe('Waiting for the model');
    trail.add({ type: 'thinking.delta', text: 'hm' });
    expect(phaseWords(words, turnOf(trail))).toBe('Thinking');
    trail.call('a', 'run_command', { command: 'ls' }, 'execute').started('a');
    expect(phaseWords(words, turnOf(trail))).toBe('Running ls');
  });

  it('are announced without tokens', () => {
    const trail = Trail.start().turn().text('One');
    const view = (): string =>
      announcement(words, {
        ...newView(SESSION),
        transcript: foldAll(emptyTranscript(SESSION), trail.events)
      });
    const before = view();
    trail.text(' two').add({
      type: 'tool.input_delta',
      tool_call_id: 'a',
      name: 'run_command',
      partial_json: '{"command": "l'
    });
    expect(view()).toBe(before);
    trail.call('a', 'run_command', { command: 'ls' }, 'execute');
    trail.ask('a', 'Run this command?', { kind: 'command', command: 'ls', cwd: '' });
    expect(view()).toBe('Vitto asks: Run this command?');
    expect((trail.end('cancelled'), view())).toBe('Stopped');
  });
});

describe('what Vitto sees', () => {
  it('names the notebook, its kernel and its failing cells', () => {
    expect(seenWords(words, { ...NOTEBOOK, cellsWithErrors: 2 })).toBe(
      'analysis.ipynb, Python 3 idle, 12 cells, 2 cells with errors'
    );
  });

  it('leads to three suggestions, the failing cell first', () => {
    const offered = suggestions(words, { ...NOTEBOOK, cellsWithErrors: 1 });
    expect(offered).toHaveLength(3);
    expect(offered[0]).toBe('Fix the failing cell');
    expect(suggestions(words, { ...NOTEBOOK, path: null, type: null })).toHaveLength(3);
  });

  it('counts the lines of a selection', () => {
    const selection = { path: 'a', cell_id: 'c', text: '', start_line: 2, end_line: 5 };
    expect(selectionWords(words, selection, '4')).toBe('cell 4, lines 2–5');
  });
});

describe('neighbouring reads', () => {
  it('fold into one row, also around empty text, and not across other work', () => {
    const trail = Trail.start().turn().read('a', 'a.py').text('\n').read('b', 'b.py').read('c', 'a.py');
    const items = itemsOf(turnOf(trail.text('Now').read('d', 'd.py')).blocks);
    expect(items.map(item => item.kind)).toEqual(['reads', 'block', 'block']);
    const [reads] = items;
    expect(reads?.kind === 'reads' && readsWords(words, reads.blocks)).toBe('Read 2 files');
  });

  it('leave a read that failed or still runs on its own', () => {
    const trail = Trail.start().turn().read('a', 'a.py').call('b', 'read_file', {}, 'read');
    trail.started('b');
    expect(itemsOf(turnOf(trail).blocks)).toHaveLength(2);
    trail.finished('b', { success: false, error: 'no file' });
    expect(itemsOf(turnOf(trail).blocks)).toHaveLength(2);
  });
});

describe('images', () => {
  it('are taken only when they are images of a known kind in base64', () => {
    const good = { media_type: 'image/png', data: 'aGk=' };
    const bad = [
      { media_type: 'image/svg+xml', data: 'aGk=' },
      { media_type: 'image/png', data: 'https://example.org/x.png' },
      'x'
    ];
    expect(imagesOf({ images: [good, ...bad] })).toEqual([good]);
  });
});

describe('the choice of model', () => {
  const models = [{ id: 'm', label: 'M', efforts: ['high'], context_tokens: null }];
  const some = { name: 'p', label: 'P', available: true, reason: '', hint: '', models };
  const reply = { providers: [some], provider: 'p', model: 'm', effort: null };

  it('is kept only while the provider still offers it', () => {
    const gone = { provider: 'p', model: 'gone', effort: 'high' } as const;
    expect(currentChoice(reply, gone, null).modelId).toBe('m');
    expect(currentChoice(reply, { ...gone, model: 'm' }, null).effort).toBe('high');
  });
});

describe('the copied transcript', () => {
  it('holds prompts, answers and work', () => {
    const trail = Trail.start('Sales').turn('Fix it').read('a', 'a.py', 3).text('It is fixed.');
    const transcript = foldAll(emptyTranscript(SESSION), trail.end().events);
    expect(transcriptText(words, transcript)).toBe(
      '# Sales\n\n> Fix it\n\n- ✓ Read a.py, 3 lines\n\nIt is fixed.\n'
    );
  });
});
