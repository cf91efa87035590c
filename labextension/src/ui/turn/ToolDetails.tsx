/** The exact input and result of a tool call. */
import type { ReactNode } from 'react';

import { useWords } from '../context';
import { Folded } from '../parts/Folded';
import { PreviewView } from '../approval/PreviewView';
import { ShowOutputs } from '../runs/ShowOutputs';
import type { ToolBlock, ToolResult } from '../../protocol/types';
import { imagesOf } from '../words/json';
import { InputView } from './InputView';
import { TerminalLink } from './TerminalLink';

export function ToolDetails({ block }: { block: ToolBlock }) {
  const { t } = useWords();
  return (
    <>
      <Section title={t('Input')}>
        {block.approval ? (
          <PreviewView preview={block.approval.preview} />
        ) : (
          <InputView block={block} />
        )}
      </Section>
      {block.state === 'running' && block.progress && (
        <Section title={t('Output so far')}>
          <Folded text={block.progress} as="ansi" label={t('Output so far')} />
        </Section>
      )}
      {block.result && (
        <Section title={t('Result')}>
          <ResultView result={block.result} />
        </Section>
      )}
      <ShowOutputs block={block} />
      <TerminalLink block={block} />
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="vitto-section">
      <h3 className="vitto-section-title">{title}</h3>
      {children}
    </section>
  );
}

function ResultView({ result }: { result: ToolResult }) {
  const { t } = useWords();
  const images = imagesOf(result.metadata);
  const isEmpty = !result.error && !result.output && images.length === 0;
  return (
    <>
      {result.error && (
        <div className="vitto-result-error">
          <Folded text={result.error} as="ansi" label={t('Error')} wrap />
        </div>
      )}
      {images.map((image, index) => (
        <img
          key={index}
          className="vitto-image"
          alt={t('Image %1 of the result', index + 1)}
          src={`data:${image.media_type};base64,${image.data}`}
        />
      ))}
      {result.output && <Folded text={result.output} as="ansi" label={t('Output')} />}
      {isEmpty && <p className="vitto-quiet">{t('No output.')}</p>}
    </>
  );
}
