/** Vitto's own icon: a speech mark with a spark. Loaded at once, for the side bar. */
import { LabIcon } from '@jupyterlab/ui-components';

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
<path class="jp-icon3 jp-icon-selectable" fill="#616161" d="M4 3h9.2a7 7 0 0 0-.9 2H5v11h3.6l3.4 3.1 3.4-3.1H19v-4.4a7 7 0 0 0 2-.9V16a2 2 0 0 1-2 2h-2.8L12 21.8 7.8 18H5a2 2 0 0 1-2-2V5a2 2 0 0 1 1-2z"/>
<path class="jp-icon3 jp-icon-selectable" fill="#616161" d="M18 0l1.5 4.1L23.5 5.5l-4 1.4L18 11l-1.5-4.1-4-1.4 4-1.4z"/>
<path class="jp-icon3 jp-icon-selectable" fill="#616161" d="M7.5 8.5h4.4l.9 1.8H7.5zM7.5 12h8v1.8h-8z"/>
</svg>`;

export const vittoIcon = new LabIcon({ name: 'vitto-jupyter:vitto', svgstr: SVG });
