/** One session in the list. */
import { useState } from 'react';

import { useUi } from '../context';
import { Icon, Spinner } from '../parts/Icon';
import { IconButton } from '../parts/IconButton';
import type { SessionInfo } from '../../protocol/types';
import { fileName } from '../words/places';
import { ago, exact } from '../words/time';
import { RenameField } from './RenameField';

interface Props {
  readonly info: SessionInfo;
  readonly now: number;
  readonly current: boolean;
  readonly onOpen: () => void;
}

export function SessionItem({ info, now, current, onOpen }: Props) {
  const { host, store, words } = useUi();
  const { t } = words;
  const [renaming, setRenaming] = useState(false);
  const remove = async (): Promise<void> => {
    const sure = await host.confirm(
      t('Delete this session?'),
      t('“%1” and its transcript are deleted. Notebooks and files stay as they are.', info.title),
      t('Delete')
    );
    if (sure) {
      await store.deleteSession(info.session_id);
    }
  };
  if (renaming) {
    return (
      <li className="vitto-session">
        <RenameField
          title={info.title}
          onDone={title => {
            setRenaming(false);
            if (title) {
              void store.renameSession(info.session_id, title);
            }
          }}
        />
      </li>
    );
  }
  return (
    <li className={`vitto-session${current ? ' vitto-current' : ''}`}>
      <button
        type="button"
        className="vitto-session-open"
        aria-current={current || undefined}
        onClick={onOpen}
      >
        {info.state === 'running' ? (
          <Spinner />
        ) : (
          <Icon name={info.state === 'waiting' ? 'waiting' : 'vitto'} />
        )}
        <span className="vitto-session-title">{info.title}</span>
        <SessionNote info={info} now={now} />
      </button>
      <IconButton
        icon="edit"
        label={t('Rename: %1', info.title)}
        onClick={() => setRenaming(true)}
      />
      <IconButton icon="trash" label={t('Delete: %1', info.title)} onClick={() => void remove()} />
    </li>
  );
}

function SessionNote({ info, now }: { info: SessionInfo; now: number }) {
  const { words } = useUi();
  const { t, tn } = words;
  const state =
    info.state === 'running' ? t('running') : info.state === 'waiting' ? t('waiting for you') : '';
  const parts = [
    state || ago(t, info.updated_at, now),
    tn('%1 turn', '%1 turns', info.turns),
    info.notebook_path ? fileName(info.notebook_path) : ''
  ];
  return (
    <span className="vitto-session-note" title={exact(info.updated_at)}>
      {parts.filter(Boolean).join(' · ')}
    </span>
  );
}
