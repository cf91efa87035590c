/** The session's title; a click renames it. */
import { useState } from 'react';

import { useSession, useUi } from '../context';
import { RenameField } from './RenameField';

export function Title() {
  const { store, words } = useUi();
  const { t } = words;
  const session = useSession();
  const [editing, setEditing] = useState(false);
  const title = session?.transcript.title ?? '';
  if (!session || !title) {
    return <h2 className="vitto-title">{t('New session')}</h2>;
  }
  if (editing) {
    return (
      <RenameField
        title={title}
        onDone={renamed => {
          setEditing(false);
          if (renamed) {
            void store.renameSession(session.sessionId, renamed);
          }
        }}
      />
    );
  }
  return (
    <h2 className="vitto-title">
      <button
        type="button"
        className="vitto-title-button"
        title={t('%1 (click to rename)', title)}
        onClick={() => setEditing(true)}
      >
        {title}
      </button>
    </h2>
  );
}
