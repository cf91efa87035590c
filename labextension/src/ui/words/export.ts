/** A transcript as markdown, for the clipboard. Pure. */
import { assertNever } from '../../protocol/assert-never';
import type { Block, Transcript, TurnView } from '../../protocol/types';
import { plain } from './parts';
import { endWords } from './phase';
import { toolPhrase, type Words } from './tool-phrase';

export function transcriptText(words: Words, transcript: Transcript): string {
  const turns = transcript.turns.map(turn => turnText(words, turn));
  return [`# ${transcript.title}`, ...turns].join('\n\n') + '\n';
}

function turnText(words: Words, turn: TurnView): string {
  const prompt = turn.prompt
    .split('\n')
    .map(line => `> ${line}`)
    .join('\n');
  const blocks = turn.blocks.map(block => blockText(words, block)).filter(Boolean);
  const end = turn.state === 'done' ? [] : [`_${endWords(words, turn)}_`];
  return [prompt, ...blocks, ...end].join('\n\n');
}

function blockText(words: Words, block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text.trim();
    case 'thinking':
      return '';
    case 'notice':
      return `_${block.text}_`;
    case 'tool': {
      const mark = block.state === 'done' ? '✓' : block.state === 'failed' ? '✗' : '–';
      const error = block.result?.error;
      return `- ${mark} ${plain(toolPhrase(words, block))}${error ? `: ${error}` : ''}`;
    }
    default:
      return assertNever(block);
  }
}
