/** The side bar's widget: an empty shell until it is shown for the first time. */
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { vittoIcon } from './icons';

const PANEL_ID = 'vitto-panel';
/** Narrower, code and controls do not fit; the side bar opens at least this wide. */
const MIN_WIDTH = '300px';

export class VittoPanel extends Widget {
  /** `onFirstShow` fills the panel's node. */
  constructor(
    caption: string,
    private readonly onFirstShow: () => void
  ) {
    super();
    this.id = PANEL_ID;
    this.addClass('vitto-Panel');
    this.title.icon = vittoIcon;
    this.title.caption = caption;
    this.node.style.minWidth = MIN_WIDTH;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', caption);
  }

  protected override onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    this.fill();
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this.fill();
  }

  private fill(): void {
    if (this.isVisible && !this.isFilled) {
      this.isFilled = true;
      this.onFirstShow();
    }
  }

  private isFilled = false;
}
