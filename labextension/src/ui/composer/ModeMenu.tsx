/** What the agent may do in the next turn. */
import { useDesk, useUi } from '../context';
import type { Mode } from '../desk';
import { Icon } from '../parts/Icon';
import { Popover } from '../parts/Popover';

export function ModeMenu() {
  const { desk, words } = useUi();
  const { t } = words;
  const mode = useDesk(state => state.mode);
  const modes: readonly (readonly [Mode, string, string])[] = [
    ['ask', t('Ask'), t('Reads by itself; asks before it changes or runs anything')],
    ['plan', t('Plan'), t('Reads only; changes and runs nothing')]
  ];
  const name = mode === 'plan' ? t('Plan') : t('Ask');
  return (
    <Popover
      side="above"
      label={t('Mode: %1', name)}
      className="vitto-quiet-button"
      button={
        <>
          <span>{name}</span>
          <Icon name="chevron" />
        </>
      }
    >
      {close =>
        modes.map(([value, title, what]) => (
          <label key={value} className="vitto-option">
            <input
              type="radio"
              name="vitto-mode"
              checked={mode === value}
              onChange={() => desk.set({ mode: value })}
              onClick={close}
            />
            <span>
              {title}
              <span className="vitto-option-note">{what}</span>
            </span>
          </label>
        ))
      }
    </Popover>
  );
}
