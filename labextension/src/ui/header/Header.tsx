/** Title, new session, sessions, and a small menu; one line. */
import { useDesk, useSession, useUi } from '../context';
import { Icon } from '../parts/Icon';
import { IconButton } from '../parts/IconButton';
import { Popover } from '../parts/Popover';
import { transcriptText } from '../words/export';
import { Title } from './Title';

export function Header() {
  const { desk, store, words, focus } = useUi();
  const { t } = words;
  const page = useDesk(state => state.page);
  return (
    <div className="vitto-header">
      <Title />
      <IconButton
        icon="add"
        label={t('New session')}
        onClick={() => {
          store.newSession();
          desk.set({ page: 'transcript' });
          focus.composer();
        }}
      />
      <IconButton
        icon="sessions"
        label={t('Sessions')}
        aria-pressed={page === 'sessions'}
        onClick={() => {
          desk.set({ page: page === 'sessions' ? 'transcript' : 'sessions' });
          void store.refreshSessions();
        }}
      />
      <Menu />
    </div>
  );
}

function Menu() {
  const { host, words } = useUi();
  const { t } = words;
  const session = useSession();
  return (
    <Popover
      side="below"
      label={t('Menu')}
      className="vitto-icon-button"
      button={<Icon name="menu" />}
    >
      {close => (
        <>
          <button
            type="button"
            className="vitto-menu-item"
            disabled={!session || session.transcript.turns.length === 0}
            onClick={() => {
              close();
              if (session) {
                void host.copy(transcriptText(words, session.transcript));
              }
            }}
          >
            {t('Copy the transcript')}
          </button>
          <button
            type="button"
            className="vitto-menu-item"
            onClick={() => {
              close();
              host.openSettings();
            }}
          >
            {t('Settings')}
          </button>
        </>
      )}
    </Popover>
  );
}
