/** The whole side bar, top to bottom. */
import { ApprovalDock } from './approval/ApprovalDock';
import { Composer } from './composer/Composer';
import { ContextBar } from './composer/ContextBar';
import { useDesk } from './context';
import { Header } from './header/Header';
import { SessionsPage } from './header/SessionsPage';
import { LiveRegion } from './parts/LiveRegion';
import { Problems } from './parts/Problems';
import { StatusLine } from './parts/StatusLine';
import { QuestionDock } from './question/QuestionDock';
import { DetachedRuns } from './runs/DetachedRuns';
import { Transcript } from './turn/Transcript';

export function App() {
  const page = useDesk(state => state.page);
  return (
    <div className="vitto-app">
      <Header />
      {page === 'sessions' ? <SessionsPage /> : <Transcript />}
      <div className="vitto-dock">
        <Problems />
        <DetachedRuns />
        <QuestionDock />
        <ApprovalDock />
        <StatusLine />
        <ContextBar />
        <Composer />
      </div>
      <LiveRegion />
    </div>
  );
}
