/** Exactly what was or will be done: a diff, a command, code, or an act in words. */
import { useWords } from '../context';
import { Folded } from '../parts/Folded';
import { PartsView } from '../parts/PartsView';
import { assertNever } from '../../protocol/assert-never';
import type { Change, CodePreview, DiffPreview, Preview, Snippet } from '../../protocol/types';
import { plain, type Parts } from '../words/parts';
import { cellPlace, filePlace } from '../words/places';
import type { Words } from '../words/tool-phrase';
import { DiffView } from './DiffView';

export function PreviewView({ preview }: { preview: Preview }) {
  const { t } = useWords();
  switch (preview.kind) {
    case 'diff':
      return <DiffPreviewView preview={preview} />;
    case 'code':
      return <CodePreviewView preview={preview} />;
    case 'command':
      return (
        <div className="vitto-preview">
          {preview.cwd && (
            <p className="vitto-preview-place">
              {t('in the folder ')}
              <code className="vitto-inline-code">{preview.cwd}</code>
            </p>
          )}
          <Folded text={preview.command} as="bash" label={t('Command')} wrap />
        </div>
      );
    case 'action':
      return <p className="vitto-preview">{preview.text}</p>;
    default:
      return assertNever(preview);
  }
}

function DiffPreviewView({ preview }: { preview: DiffPreview }) {
  const words = useWords();
  return (
    <div className="vitto-preview">
      {preview.changes.map((change, index) => {
        const place = placeOf(words, preview.path, change);
        return (
          <div key={index} className="vitto-change">
            <p className="vitto-preview-place">
              <PartsView parts={place} />
            </p>
            <DiffView
              before={change.before}
              after={change.after}
              language={preview.language}
              label={words.t('Changes of %1', plain(place))}
            />
          </div>
        );
      })}
      {preview.note && <p className="vitto-preview-note">{preview.note}</p>}
    </div>
  );
}

function CodePreviewView({ preview }: { preview: CodePreview }) {
  const words = useWords();
  return (
    <div className="vitto-preview">
      {preview.snippets.map((snippet, index) => {
        const place = placeOf(words, preview.path ?? '', snippet);
        return (
          <div key={index} className="vitto-change">
            <p className="vitto-preview-place">
              <PartsView parts={place} />
            </p>
            <Folded
              text={snippet.source}
              as={preview.language}
              label={words.t('Code: %1', plain(place))}
              wrap
            />
          </div>
        );
      })}
    </div>
  );
}

/** "cell 4 · analysis.ipynb", a file alone, or what scratch code is. */
function placeOf({ t }: Words, path: string, part: Change | Snippet): Parts {
  const file = path ? filePlace(t, path) : [];
  if (part.label) {
    const cell = cellPlace(t, { path, cellId: part.cell_id, label: part.label });
    return path ? [cell, ' · ', ...file] : [cell];
  }
  if ('source' in part) {
    return [t('Code outside of the notebook’s cells'), ...(path ? [' · ', ...file] : [])];
  }
  return file;
}
