/** The icons of the UI, by name: JupyterLab's own where it has one. */
import {
  addIcon,
  caretDownIcon,
  checkIcon,
  closeIcon,
  copyIcon,
  deleteIcon,
  editIcon,
  ellipsesIcon,
  errorIcon,
  fileIcon,
  historyIcon,
  imageIcon,
  kernelIcon,
  LabIcon,
  notebookIcon,
  runIcon,
  runningIcon,
  searchIcon,
  stopIcon,
  terminalIcon
} from '@jupyterlab/ui-components';
import type { IconName } from '../../ui/host';
import { vittoIcon } from './icons';

function own(name: string, path: string): LabIcon {
  const svgstr = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><path class="jp-icon3" fill="#616161" d="${path}"/></svg>`;
  return new LabIcon({ name: `vitto-jupyter:${name}`, svgstr });
}

const ICONS: Readonly<Record<IconName, LabIcon>> = {
  add: addIcon,
  sessions: historyIcon,
  menu: ellipsesIcon,
  close: closeIcon,
  stop: stopIcon,
  send: own('send', 'M12 4l7 7-1.4 1.4L13 7.8V20h-2V7.8l-4.6 4.6L5 11z'),
  check: checkIcon,
  error: errorIcon,
  running: runningIcon,
  waiting: own('waiting', 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2a7 7 0 1 1 0 14 7 7 0 0 1 0-14zm-1 3v5l4 2.4 1-1.6-3-1.8V8z'),
  read: own('read', 'M12 5C7 5 2.7 8.1 1 12.5c1.7 4.4 6 7.5 11 7.5s9.3-3.1 11-7.5C21.3 8.1 17 5 12 5zm0 12.5a5 5 0 1 1 0-10 5 5 0 0 1 0 10zm0-8a3 3 0 1 0 0 6 3 3 0 0 0 0-6z'),
  edit: editIcon,
  run: runIcon,
  terminal: terminalIcon,
  search: searchIcon,
  kernel: kernelIcon,
  thinking: own('thinking', 'M9 21h6v-1.5H9zM12 2a7 7 0 0 0-4 12.7V17a1 1 0 0 0 1 1h6a1 1 0 0 0 1-1v-2.3A7 7 0 0 0 12 2zm2.9 11.1-.9.6V16h-4v-2.3l-.9-.6a5 5 0 1 1 5.8 0z'),
  notebook: notebookIcon,
  file: fileIcon,
  copy: copyIcon,
  chevron: caretDownIcon,
  trash: deleteIcon,
  branch: own('branch', 'M7 4a2.5 2.5 0 0 0-1 4.8v6.4a2.5 2.5 0 1 0 2 0v-2.4c.6.7 1.6 1.2 3 1.2h2c1.4 0 2-.6 2-1.5v-.7a2.5 2.5 0 1 0-2 0v.2H11c-2 0-3-1-3-2.2v-1A2.5 2.5 0 0 0 7 4z'),
  warning: own('warning', 'M12 3 1.5 21h21zm0 4.2L19 19H5zM11 10v5h2v-5zm0 6v2h2v-2z'),
  image: imageIcon,
  vitto: vittoIcon
};

/** Decorative: hidden from screen readers. */
export function drawIcon(name: IconName, into: HTMLElement): void {
  const drawn = ICONS[name].element({ tag: 'span', className: 'vitto-Icon' });
  drawn.setAttribute('aria-hidden', 'true');
  into.replaceChildren(drawn);
}
