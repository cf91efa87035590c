/** The input of a call that was not asked about: each field by name, long text as code. */
import { useWords } from '../context';
import { Folded } from '../parts/Folded';
import type { JsonValue, ToolBlock } from '../../protocol/types';
import { readPartialInput } from '../words/partial-input';

const LANGUAGES: Readonly<Record<string, string>> = { command: 'bash', code: 'python' };

export function InputView({ block }: { block: ToolBlock }) {
  const { t } = useWords();
  if (!block.input) {
    const written = readPartialInput(block.input_json).text || block.input_json;
    return <Folded text={written} as="" label={t('Being written')} />;
  }
  const fields = Object.entries(block.input).filter(([, value]) => value !== null);
  if (fields.length === 0) {
    return <p className="vitto-quiet">{t('No input.')}</p>;
  }
  return (
    <dl className="vitto-fields">
      {fields.map(([name, value]) => (
        <Field key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

function Field({ name, value }: { name: string; value: JsonValue }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1);
  const isCode = text.includes('\n') || name in LANGUAGES;
  return (
    <div className={isCode ? 'vitto-field-code' : 'vitto-field'}>
      <dt>{name}</dt>
      <dd>
        {isCode ? (
          <Folded text={text} as={LANGUAGES[name] ?? ''} label={name} />
        ) : (
          <code>{text}</code>
        )}
      </dd>
    </div>
  );
}
