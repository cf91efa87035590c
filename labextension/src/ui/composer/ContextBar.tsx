/** What Vitto sees now: what goes along as removable chips, the rest as quiet words. */
import { useDesk, useHost, useSurroundings, useUi, useWords } from '../context';
import { shownParts } from '../acts';
import { Icon } from '../parts/Icon';
import { fileName } from '../words/places';
import { kernelWords, selectionKey, selectionWords } from '../words/seen';
import { Chip } from './Chip';
import { useWorkspace } from './use-workspace';

export function ContextBar() {
  const { words } = useUi();
  const now = useSurroundings();
  const fixed = useDesk(state => state.fixedContext);
  return (
    <div className="vitto-context" role="group" aria-label={words.t('Context')}>
      {fixed ? <FixedChip /> : <Chips />}
      <div className="vitto-notes">
        <KernelNote name={now.kernelName} state={now.kernelState} />
        <WorkspaceNotes />
      </div>
    </div>
  );
}

function Chips() {
  const { desk, words, host } = useUi();
  const now = useSurroundings();
  const shown = shownParts(now, useDesk(state => state));
  const { t } = words;
  const { path, selection } = now;
  return (
    <>
      {shown.document && path !== null && (
        <Chip
          icon={now.type === 'notebook' ? 'notebook' : 'file'}
          text={now.dirty ? t('%1, unsaved', fileName(path)) : fileName(path)}
          title={path}
          onOpen={() => host.reveal({ path, cellId: now.cellId })}
          onRemove={() => desk.set({ withoutDocument: path })}
        />
      )}
      {shown.selection && selection && (
        <Chip
          text={selectionWords(words, selection, now.cellLabel ?? '')}
          title={selection.text}
          onRemove={() => desk.set({ withoutSelection: selectionKey(selection) })}
        />
      )}
    </>
  );
}

/** The context that a menu entry put together; removing it goes back to what is open. */
function FixedChip() {
  const { desk, words } = useUi();
  const fixed = useDesk(state => state.fixedContext);
  if (!fixed) {
    return null;
  }
  const name = fixed.path === null ? words.t('context') : fileName(fixed.path);
  const first = fixed.attention.split('\n', 1)[0] ?? '';
  return (
    <Chip
      icon={first ? 'warning' : 'notebook'}
      text={first ? `${name}: ${first}` : name}
      title={fixed.attention || name}
      onRemove={() => desk.set({ fixedContext: null })}
    />
  );
}

function KernelNote({ name, state }: { name: string; state: string }) {
  const words = useWords();
  const text = kernelWords(words, name, state);
  return text ? (
    <span className="vitto-note" title={words.t('Kernel: %1', text)}>
      <Icon name="kernel" />
      {text}
    </span>
  ) : null;
}

function WorkspaceNotes() {
  const { t, tn } = useWords();
  const host = useHost();
  const workspace = useWorkspace();
  const first = workspace?.diagnostics[0];
  return (
    <>
      {workspace && workspace.problems > 0 && (
        <button
          type="button"
          className="vitto-note vitto-link"
          title={first?.message ?? ''}
          onClick={() =>
            first && host.reveal({ path: first.path, cellId: first.cell_id, line: first.line })
          }
        >
          <Icon name="warning" />
          {tn('%1 problem', '%1 problems', workspace.problems)}
        </button>
      )}
      {workspace?.git_branch && (
        <span className="vitto-note" title={t('Git branch: %1', workspace.git_branch)}>
          <Icon name="branch" />
          <span className="vitto-cut">{workspace.git_branch}</span>
        </span>
      )}
    </>
  );
}
