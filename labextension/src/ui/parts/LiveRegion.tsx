/** The one polite live region: phase changes, questions and ends; never tokens. */
import { useSession, useWords } from '../context';
import { announcement } from '../words/phase';

export function LiveRegion() {
  const words = useWords();
  const text = announcement(words, useSession());
  return (
    <div className="vitto-hidden" aria-live="polite" aria-atomic="true" data-vitto-live>
      {text}
    </div>
  );
}
