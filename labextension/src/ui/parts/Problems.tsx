/** The last act that failed, and a lost connection; both calm, neither blocks the composer. */
import { useSession, useStore, useUi } from '../context';
import type { ErrorInfo } from '../../protocol/types';
import { Spinner } from './Icon';
import { IconButton } from './IconButton';
import { Message } from './Message';

export function Problems() {
  const { store, words } = useUi();
  const session = useSession();
  const outside = useStore(state => state.problem);
  const problem = session?.problem ?? outside;
  return (
    <>
      {session?.connection === 'reconnecting' && (
        <div className="vitto-connection">
          <Spinner />
          {words.t('Connection lost, reconnecting. A running turn goes on at the server.')}
        </div>
      )}
      {problem && (
        <div className="vitto-problem">
          <Message tone={toneOf(problem)} text={problem.message} hint={problem.hint} />
          <IconButton
            icon="close"
            label={words.t('Dismiss')}
            onClick={() => store.dismissProblem()}
          />
        </div>
      )}
    </>
  );
}

/** Nothing is broken when somebody else was faster, or the server is away for a moment. */
function toneOf({ code }: ErrorInfo): 'info' | 'warning' | 'error' {
  if (/conflict|answered|void|mismatch|running|not_found/.test(code)) {
    return 'info';
  }
  return code === 'unreachable' ? 'warning' : 'error';
}
