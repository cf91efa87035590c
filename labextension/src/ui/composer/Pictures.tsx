/** The images that go along, each removable. */
import { useDesk, useUi } from '../context';
import { IconButton } from '../parts/IconButton';

export function Pictures() {
  const { desk, words } = useUi();
  const pictures = useDesk(state => state.pictures);
  if (pictures.length === 0) {
    return null;
  }
  return (
    <ul className="vitto-pictures" aria-label={words.t('Images that go along')}>
      {pictures.map(({ id, name, media_type, data }) => (
        <li key={id} className="vitto-picture">
          <img alt={name} src={`data:${media_type};base64,${data}`} />
          <IconButton
            icon="close"
            label={words.t('Remove %1', name)}
            onClick={() => desk.set({ pictures: pictures.filter(other => other.id !== id) })}
          />
        </li>
      ))}
    </ul>
  );
}
