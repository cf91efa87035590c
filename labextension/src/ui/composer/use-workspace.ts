/** The workspace as the server sees it: git branch, problems. Asked for when it may change. */
import { useEffect, useState } from 'react';

import { useStore, useSurroundings, useUi } from '../context';
import type { Transcript, WorkspaceContext } from '../../protocol/types';

const SETTLE_MS = 300;

export function useWorkspace(): WorkspaceContext | null {
  const { transport } = useUi();
  const { path, dirty } = useSurroundings();
  // a turn that begins changes nothing, and the server has better things to do then
  const ended = useStore(state => state.session && endedTurns(state.session.transcript));
  const [workspace, setWorkspace] = useState<WorkspaceContext | null>(null);
  useEffect(() => {
    let wanted = true;
    const timer = setTimeout(() => {
      transport.context(path).then(
        context => wanted && setWorkspace(context),
        // a missing branch name is no reason to disturb; acts report their own failures
        () => wanted && setWorkspace(null)
      );
    }, SETTLE_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [transport, path, dirty, ended]);
  return workspace;
}

function endedTurns({ turns }: Transcript): number {
  return turns.filter(turn => turn.state !== 'running').length;
}
