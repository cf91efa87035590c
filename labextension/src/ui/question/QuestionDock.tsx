/** The oldest question that waits for the user, pinned above the composer. */
import { useSession, useWords } from '../context';
import { questionTitle, silenceWords } from '../words/question';
import { QuestionCard } from './QuestionCard';

export function QuestionDock() {
  const words = useWords();
  const session = useSession();
  const waiting = session?.transcript.questions ?? [];
  const [question] = waiting;
  if (!session || !question) {
    return null;
  }
  return (
    <QuestionCard
      key={question.question_id}
      question={question}
      title={questionTitle(words, session.transcript, question)}
      silence={silenceWords(words, session.transcript, question)}
      answering={session.answering.includes(question.question_id)}
      more={waiting.length > 1 ? words.t('1 of %1', waiting.length) : ''}
    />
  );
}
