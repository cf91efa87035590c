/** Where the user writes: the text, what goes along, the mode, the model, and Send. */
import {
  useEffect,
  useLayoutEffect,
  useRef,
  type ClipboardEvent,
  type DragEvent,
  type RefObject
} from 'react';

import { sendDraft } from '../acts';
import { useDesk, useSurroundings, useUi } from '../context';
import { IconButton } from '../parts/IconButton';
import { fileName } from '../words/places';
import { ModeMenu } from './ModeMenu';
import { ModelMenu } from './ModelMenu';
import { Pictures } from './Pictures';
import { takePictures } from './take-pictures';

export function Composer() {
  const ui = useUi();
  const { desk, words } = ui;
  const { t } = words;
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = useDesk(state => state.draft);
  const remark = useDesk(state => state.remark);
  const path = useSurroundings().path;
  useComposerFocus(field);
  useAutoGrow(field, draft);
  const take = async (files: readonly File[]): Promise<void> => {
    desk.set(await takePictures(words, desk.getSnapshot().pictures, files));
  };
  const onTransfer = (event: ClipboardEvent | DragEvent, transfer: DataTransfer): void => {
    if (transfer.files.length > 0) {
      event.preventDefault();
      event.stopPropagation();
      void take([...transfer.files]);
    }
  };
  return (
    <div
      className="vitto-composer"
      role="group"
      aria-label={t('Prompt')}
      onDragOver={event => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={event => onTransfer(event, event.dataTransfer)}
    >
      <Pictures />
      <textarea
        ref={field}
        className="vitto-field-text"
        rows={1}
        value={draft}
        aria-label={t('Prompt for Vitto')}
        placeholder={path === null ? t('Ask Vitto') : t('Ask about %1', fileName(path))}
        onChange={event => desk.set({ draft: event.target.value, remark: '' })}
        onPaste={event => onTransfer(event, event.clipboardData)}
        onKeyDown={event => {
          // 229: an input method is composing; its Enter picks a candidate
          const composing = event.nativeEvent.isComposing || event.keyCode === 229;
          if (event.key === 'Enter' && !event.shiftKey && !event.altKey && !composing) {
            event.preventDefault();
            void sendDraft(ui);
          }
        }}
      />
      {remark && <p className="vitto-remark">{remark}</p>}
      <div className="vitto-composer-foot">
        <ModeMenu />
        <ModelMenu />
        <IconButton
          icon="send"
          label={t('Send (Enter)')}
          className="vitto-send"
          disabled={!draft.trim()}
          onClick={() => void sendDraft(ui)}
        />
      </div>
    </div>
  );
}

function useComposerFocus(field: RefObject<HTMLTextAreaElement | null>): void {
  const { focus } = useUi();
  useEffect(() => {
    focus.composer = () => field.current?.focus();
    return () => {
      focus.composer = () => undefined;
    };
  }, [focus, field]);
}

/** The height follows the text; CSS sets the most it may take. */
function useAutoGrow(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    const element = field.current;
    if (element) {
      element.style.height = 'auto';
      element.style.height = `${element.scrollHeight}px`;
    }
  }, [field, text]);
}
