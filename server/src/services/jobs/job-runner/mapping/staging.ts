// Where a component finds its data and leaves its results (spec platform 1.18): in the data folder, in the object store with
// credentials in the manifests, or nowhere. What this stack does not have is refused in words, before anything runs.

import type { RunnableComponent } from '../../../../model/run-ports.ts'
import { invalid, type Mapping, type RuntimeSettings } from './mapping.ts'

/** Files that are stored at once: enough to keep the disk busy, few enough to leave others their share. */
export const STAGED_AT_ONCE = 8

export interface Staging {
  /** `sql`: nothing is written, the script reads the tables themselves. */
  readonly input: 'local' | 's3' | 'sql' | 'none'
  /** `files`: tables are stored as files of the project. */
  readonly output: 'local' | 'files' | 'none'
}

export function stagingOf(component: RunnableComponent, mapping: Mapping, runtime: RuntimeSettings): Staging {
  const staging = placesOf(component, mapping)
  if (!runtime.use_file_storage_only) return staging
  if (!component.features.includes('allow-use-file-storage-only'))
    throw invalid(
      `runtime.use_file_storage_only is not for the component ${component.id}: it lacks the feature allow-use-file-storage-only`,
    )
  return staging.output === 'local' ? { ...staging, output: 'files' } : staging
}

function placesOf(
  { id, stagingInput, stagingOutput }: RunnableComponent,
  mapping: Mapping,
): { readonly input: Staging['input']; readonly output: 'local' | 'none' } {
  for (const staging of [stagingInput, stagingOutput])
    if (staging.startsWith('workspace'))
      throw invalid(`the component ${id} works in a workspace (${staging}); components get files here`)
  if (stagingOutput !== 'local' && stagingOutput !== 'none')
    throw invalid(
      `the component ${id} would leave its results in "${stagingOutput}"; results are taken from the data folder (local), or there are none`,
    )
  const reads = mapping.inputTables.length + mapping.inputFiles.length > 0
  if (stagingInput === 'local' || stagingInput === 's3' || stagingInput === 'sql' || stagingInput === 'none')
    return { input: stagingInput, output: stagingOutput }
  // A component that is given nothing does not notice where it would have been.
  if (reads)
    throw invalid(
      `the component ${id} reads its data from "${stagingInput}"; this stack gives it in the data folder (local) or in S3 (s3)`,
    )
  return { input: 'none', output: stagingOutput }
}
