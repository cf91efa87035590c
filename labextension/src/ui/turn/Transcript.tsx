/** All turns of the session in view; follows the end while the reader is there. */
import { useSession, useWords } from '../context';
import { Icon } from '../parts/Icon';
import { EmptyState } from './EmptyState';
import { PromptBlock } from './PromptBlock';
import { TurnSection } from './TurnSection';
import { useFollow } from './use-follow';

export function Transcript() {
  const { t } = useWords();
  const session = useSession();
  const turns = session?.transcript.turns ?? [];
  const isEmpty = turns.length === 0 && !session?.sending;
  const { scroller, content, atEnd, jump } = useFollow(
    session?.sessionId ?? '',
    session?.sending?.turn_id ?? '',
    isEmpty
  );
  return (
    <div className="vitto-transcript-frame">
      <div
        ref={scroller}
        className="vitto-transcript"
        role="region"
        aria-label={t('Transcript')}
        tabIndex={0}
      >
        <div ref={content} className="vitto-transcript-content">
          {isEmpty && session?.load === 'loading' && (
            <p className="vitto-quiet">{t('Loading the session…')}</p>
          )}
          {isEmpty && session?.load !== 'loading' && <EmptyState />}
          {turns.map((turn, index) => (
            <TurnSection key={turn.turn_id} turn={turn} last={index === turns.length - 1} />
          ))}
          {session?.sending && (
            <article className="vitto-turn" aria-label={t('On its way')}>
              <PromptBlock
                prompt={session.sending.prompt}
                context={session.sending.context}
                mode={session.sending.mode}
              />
            </article>
          )}
        </div>
      </div>
      {!atEnd && !isEmpty && (
        <button type="button" className="vitto-button vitto-jump" onClick={jump}>
          <Icon name="chevron" />
          {t('Jump to latest')}
        </button>
      )}
    </div>
  );
}
