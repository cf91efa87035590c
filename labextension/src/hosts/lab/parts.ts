/** The parts of JupyterLab that Vitto uses; collected once by the plugin. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { ITranslator } from '@jupyterlab/translation';

export interface LabParts {
  readonly app: JupyterFrontEnd;
  readonly documents: IDocumentManager;
  readonly rendermime: IRenderMimeRegistry;
  readonly languages: IEditorLanguageRegistry;
  readonly translator: ITranslator;
}
