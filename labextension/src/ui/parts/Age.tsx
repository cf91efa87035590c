/** The age of something that goes on; the only part of its row that is drawn each second. */
import { useNow, useWords } from '../context';
import { age, exact } from '../words/time';

export function Age({ since }: { since: string }) {
  const { t } = useWords();
  const now = useNow(true);
  return (
    <time className="vitto-age" dateTime={since} title={exact(since)}>
      {age(t, since, now)}
    </time>
  );
}
