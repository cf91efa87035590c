/** Where the answer is given: a line of text, a password, or one of some choices. */
import { useId } from 'react';

import { useWords } from '../context';
import type { QuestionState } from '../../protocol/types';

/** More choices than these are a menu. */
const MOST_RADIOS = 6;

interface Props {
  readonly question: QuestionState;
  /** Null: nothing is chosen yet. */
  readonly value: string | null;
  readonly disabled: boolean;
  readonly onChange: (value: string | null) => void;
}

export function AnswerField(props: Props) {
  const { choices } = props.question;
  if (choices.length === 0) {
    return <TextField {...props} />;
  }
  return choices.length > MOST_RADIOS ? <Menu {...props} /> : <Radios {...props} />;
}

function TextField({ question, value, disabled, onChange }: Props) {
  const { t } = useWords();
  const id = useId();
  return (
    <>
      <label
        htmlFor={id}
        className={question.prompt.trim() ? 'vitto-question-prompt' : 'vitto-hidden'}
      >
        {question.prompt.trim() || t('Your input')}
      </label>
      <input
        id={id}
        className="vitto-input vitto-question-input"
        type={question.secret ? 'password' : 'text'}
        value={value ?? ''}
        readOnly={disabled}
        autoComplete={question.secret ? 'new-password' : 'off'}
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        onChange={event => onChange(event.target.value)}
      />
      {question.secret && (
        <p className="vitto-question-note">{t('What you type is shown and kept nowhere.')}</p>
      )}
    </>
  );
}

function Radios({ question, value, disabled, onChange }: Props) {
  const name = useId();
  return (
    <fieldset className="vitto-choices" disabled={disabled}>
      <legend className="vitto-question-prompt">{question.prompt}</legend>
      {question.choices.map(choice => (
        <label key={choice.value} className="vitto-choice">
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          <span>{choice.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Menu({ question, value, disabled, onChange }: Props) {
  const { t } = useWords();
  const id = useId();
  return (
    <>
      <label htmlFor={id} className="vitto-question-prompt">
        {question.prompt}
      </label>
      <select
        id={id}
        className="vitto-input"
        value={value ?? ''}
        disabled={disabled}
        onChange={event => onChange(event.target.value || null)}
      >
        <option value="">{t('Choose…')}</option>
        {question.choices.map(choice => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </>
  );
}
