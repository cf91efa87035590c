/** Something that goes along with the prompt; it can be left out. */
import { useWords } from '../context';
import type { IconName } from '../host';
import { Icon } from '../parts/Icon';
import { IconButton } from '../parts/IconButton';

interface Props {
  readonly icon?: IconName;
  readonly text: string;
  readonly title: string;
  readonly onOpen?: () => void;
  readonly onRemove: () => void;
}

export function Chip({ icon, text, title, onOpen, onRemove }: Props) {
  const { t } = useWords();
  return (
    <span className="vitto-chip" title={title}>
      {icon && <Icon name={icon} />}
      {onOpen ? (
        <button type="button" className="vitto-link vitto-chip-text" onClick={onOpen}>
          {text}
        </button>
      ) : (
        <span className="vitto-chip-text">{text}</span>
      )}
      <IconButton icon="close" label={t('Leave out: %1', text)} onClick={onRemove} />
    </span>
  );
}
