// What every step of the builder gets, and how it changes its documents.

import { type Changes, editAll } from '../../../document/json-text.ts'
import type { Schema } from '../../../document/schema.ts'
import type { OpenDocument } from '../../../views/configuration-documents.ts'
import type { Walk } from '../builder-live.tsx'

export interface StepProps {
  readonly step: string
  readonly index: number
  readonly root: OpenDocument
  readonly current: OpenDocument
  /** What applies: the root with the row over it. */
  readonly document: unknown
  readonly schema: Schema | undefined
  readonly walk: Walk | undefined
  readonly effective: string
  /** Shows the document of the step as JSON instead. */
  readonly isJson: boolean
  readonly onView: (view: string) => void
}

/** Changes several values of a document at once. */
export const edit = ({ draft }: OpenDocument, changes: Changes): void => draft.edit(editAll(draft.text, changes))

/** Changes of the root and of the row together; both may be one document. */
export function editBoth({ root, current }: Pick<StepProps, 'root' | 'current'>, ofRoot: Changes, ofCurrent: Changes): void {
  if (root.key === current.key) edit(root, [...ofRoot, ...ofCurrent])
  else {
    if (ofRoot.length > 0) edit(root, ofRoot)
    if (ofCurrent.length > 0) edit(current, ofCurrent)
  }
}
