/** All sessions: search, resume, rename, delete. */
import { useState } from 'react';

import { useNow, useStore, useUi } from '../context';
import type { SessionInfo } from '../../protocol/types';
import { SessionItem } from './SessionItem';

export function SessionsPage() {
  const { desk, store, words, focus } = useUi();
  const { t } = words;
  const sessions = useStore(state => state.sessions);
  const current = useStore(state => state.session?.sessionId ?? null);
  const [query, setQuery] = useState('');
  const now = useNow(true, 30_000);
  const found = sessions && searched(sessions, query);
  const close = (): void => {
    desk.set({ page: 'transcript' });
    focus.composer();
  };
  return (
    <section
      className="vitto-sessions"
      aria-label={t('Sessions')}
      onKeyDown={event => event.key === 'Escape' && close()}
    >
      <input
        type="search"
        className="vitto-input"
        value={query}
        autoFocus
        aria-label={t('Search sessions')}
        placeholder={t('Search sessions')}
        onChange={event => setQuery(event.target.value)}
      />
      <ul className="vitto-session-list">
        {found?.map(info => (
          <SessionItem
            key={info.session_id}
            info={info}
            now={now}
            current={info.session_id === current}
            onOpen={() => {
              store.openSession(info.session_id);
              close();
            }}
          />
        ))}
      </ul>
      {found === null && <p className="vitto-quiet">{t('Loading…')}</p>}
      {found?.length === 0 && (
        <p className="vitto-quiet">
          {query ? t('No session matches.') : t('There are no sessions yet.')}
        </p>
      )}
    </section>
  );
}

/** Newest first; every word must occur in the title or the notebook's path. */
export function searched(
  sessions: readonly SessionInfo[],
  query: string
): readonly SessionInfo[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  return [...sessions]
    .sort((a, b) => b.updated_at.localeCompare(a.updated_at))
    .filter(({ title, notebook_path }) => {
      const text = `${title} ${notebook_path ?? ''}`.toLowerCase();
      return wanted.every(word => text.includes(word));
    });
}
