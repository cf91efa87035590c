/** Who asks the user something, in words. Pure. */
import type { QuestionState, Transcript } from '../../protocol/types';
import { phrase, type Parts } from './parts';
import { cellPlace, cellsOf, filePlace, pathOf } from './places';
import { callOf, upper } from './runs';
import type { Words } from './tool-phrase';

/** "Cell 4 asks for input", "The code asks for input", "Vitto asks". */
export function questionTitle(
  { t }: Words,
  transcript: Transcript,
  question: QuestionState
): Parts {
  const call = callOf(transcript, question.tool_call_id);
  if (question.choices.length > 0 || !call) {
    return [t('Vitto asks')];
  }
  if (call.name === 'execute_code') {
    return [t('The code asks for input')];
  }
  const path = pathOf(call);
  const [cell, ...others] = cellsOf(call);
  if (cell?.label && others.length === 0) {
    const part = cellPlace(t, cell);
    const named = typeof part === 'string' ? upper(part) : { ...part, text: upper(part.text) };
    return phrase(t, '%1 asks for input', [named]);
  }
  return path
    ? phrase(t, 'A cell of %1 asks for input', filePlace(t, path))
    : [t('A cell asks for input')];
}

/** What it means not to answer. */
export function silenceWords(
  { t }: Words,
  transcript: Transcript,
  question: QuestionState
): string {
  if (question.choices.length > 0) {
    return t('Without an answer, nothing is done.');
  }
  return callOf(transcript, question.tool_call_id)?.name === 'execute_code'
    ? t('Without an answer, the code is interrupted.')
    : t('Without an answer, the cell is interrupted.');
}
