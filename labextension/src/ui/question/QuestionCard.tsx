/**
 * Something only the user can answer: who asks, what, and the answer. It takes no focus by
 * itself; within it Enter answers and Escape goes to "Don't answer".
 */
import { useId, useRef, useState } from 'react';

import { useUi } from '../context';
import { Icon } from '../parts/Icon';
import { PartsView } from '../parts/PartsView';
import { useOnce } from '../parts/use-once';
import type { QuestionState } from '../../protocol/types';
import type { Parts } from '../words/parts';
import { AnswerField } from './AnswerField';

interface Props {
  readonly question: QuestionState;
  readonly title: Parts;
  /** What it means not to answer. */
  readonly silence: string;
  /** An answer is on its way. */
  readonly answering: boolean;
  /** "1 of 2" when others wait behind it. */
  readonly more: string;
}

export function QuestionCard({ question, title, silence, answering, more }: Props) {
  const { store, words } = useUi();
  const { t } = words;
  const titleId = useId();
  const noteId = useId();
  const card = useRef<HTMLElement>(null);
  const dismiss = useRef<HTMLButtonElement>(null);
  const [value, setValue] = useState<string | null>(question.choices.length > 0 ? null : '');
  const once = useOnce(card);
  const answer = (text: string | null): void =>
    once(() => store.answer(question.question_id, text));
  return (
    <section
      ref={card}
      className="vitto-question"
      aria-labelledby={titleId}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.preventDefault();
          dismiss.current?.focus();
        }
      }}
    >
      <header className="vitto-approval-head">
        <Icon name="waiting" />
        <h3 id={titleId}>
          <PartsView parts={title} />
        </h3>
        {more && <span className="vitto-quiet">{more}</span>}
      </header>
      <form
        className="vitto-question-form"
        autoComplete="off"
        onSubmit={event => {
          event.preventDefault();
          if (value !== null) {
            answer(value);
          }
        }}
      >
        <AnswerField question={question} value={value} disabled={answering} onChange={setValue} />
        <div className="vitto-approval-answer">
          <button
            type="submit"
            className="vitto-button vitto-primary"
            disabled={answering || value === null}
          >
            {answering ? t('Answering…') : t('Answer')}
          </button>
          <button
            ref={dismiss}
            type="button"
            className="vitto-button"
            disabled={answering}
            aria-describedby={noteId}
            onClick={() => answer(null)}
          >
            {t('Don’t answer')}
          </button>
          <span id={noteId} className="vitto-question-note">
            {silence}
          </span>
        </div>
      </form>
    </section>
  );
}
