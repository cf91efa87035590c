/** A transcript as markdown, for the clipboard. Pure. */
import { assertNever } from '../../protocol/assert-never';
import type { Block, Transcript, TurnView } from '../../protocol/types';
import { plain } from './parts';
import { endWords } from './phase';
import { questionTitle } from './question';
import { runPhrase, withRun } from './runs';
import { toolPhrase, type Words } from './tool-phrase';

export function transcriptText(words: Words, transcript: Transcript): string {
  const turns = transcript.turns.map(turn => turnText(words, transcript, turn));
  const questions = transcript.questions.map(question => {
    const title = plain(questionTitle(words, transcript, question));
    return `_${title}: ${question.prompt.trim()}_`;
  });
  return [`# ${transcript.title}`, ...turns, ...questions].join('\n\n') + '\n';
}

function turnText(words: Words, transcript: Transcript, turn: TurnView): string {
  const prompt = turn.prompt
    .split('\n')
    .map(line => `> ${line}`)
    .join('\n');
  const blocks = turn.blocks.map(block => blockText(words, transcript, block)).filter(Boolean);
  const end = turn.state === 'done' ? [] : [`_${endWords(words, turn)}_`];
  return [prompt, ...blocks, ...end].join('\n\n');
}

function blockText(words: Words, transcript: Transcript, block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text.trim();
    case 'thinking':
      return '';
    case 'notice':
      return `_${block.text}_`;
    case 'tool': {
      const run = transcript.runs.find(({ tool_call_id }) => tool_call_id === block.tool_call_id);
      const { state, result } = withRun(block, run ?? null);
      const mark = state === 'done' ? '✓' : state === 'failed' ? '✗' : '–';
      const what = run
        ? plain(runPhrase(words, run, block))
        : plain(toolPhrase(words, block)) + (result?.error ? `: ${result.error}` : '');
      return `- ${mark} ${what}`;
    }
    default:
      return assertNever(block);
  }
}
