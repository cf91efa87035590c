/** A phrase with its places as links and its code as code. */
import { useHost } from '../context';
import type { Part, Parts } from '../words/parts';

export function PartsView({ parts }: { parts: Parts }) {
  return (
    <>
      {parts.map((part, index) => (
        <PartView key={index} part={part} />
      ))}
    </>
  );
}

function PartView({ part }: { part: Part }) {
  const host = useHost();
  if (typeof part === 'string') {
    return <>{part}</>;
  }
  if (part.kind === 'code') {
    return <code className="vitto-inline-code">{part.text}</code>;
  }
  return (
    <button
      type="button"
      className="vitto-link"
      title={part.target.path}
      onClick={event => {
        event.stopPropagation();
        host.reveal(part.target);
      }}
    >
      {part.text}
    </button>
  );
}
