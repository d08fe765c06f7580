// The documents of a configuration that is open: its root and rows with what is typed and not saved; saving and running them.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { ApiError } from '../../../client/src/client.ts'
import { isSameDocument } from '../document/changes.ts'
import type { Draft, DraftStore, Kept } from '../document/draft.ts'
import { type ConfigurationPlace, type LoadedConfiguration, readConfiguration } from '../facts/use-configuration.ts'
import { api, branchName } from '../session.ts'
import { toast } from '../shell/toast.tsx'

export const ROOT = 'root'

export interface OpenDocument {
  /** `root`, or the id of a row. */
  readonly key: string
  readonly name: string
  readonly draft: Draft
}

/** The root and every row, with what is typed and not saved. */
export function documentsOf({ configuration, root, rows }: LoadedConfiguration, drafts: DraftStore): readonly OpenDocument[] {
  return [
    { key: ROOT, name: 'Root', draft: drafts.draftOf(ROOT, root) },
    ...configuration.rows.map((row) => ({
      key: row.id,
      name: row.name || row.id,
      draft: drafts.draftOf(row.id, rows.get(row.id)!),
    })),
  ]
}

export const draftsName = ({ componentId, configurationId }: ConfigurationPlace) =>
  `${branchName()} ${componentId} ${configurationId}`

/** Drafts are kept in the tab, so other screens can be opened; closing the tab would lose them, and the browser warns. */
export function useLeaveGuard(hasChanges: boolean): void {
  useBlocker({ shouldBlockFn: () => false, enableBeforeUnload: () => hasChanges })
}

export const isVersionConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'storage.components.configurations.versionConflict'

function saveOver(place: ConfigurationPlace, key: string, { base, text }: Kept, why: string): Promise<unknown> {
  const body = { configuration: text, ...(why ? { changeDescription: why } : {}) }
  const headers = { 'if-match': `"${base.version}"` }
  return key === ROOT
    ? api.call('configurations.update', { path: place, body, headers })
    : api.call('rows.update', { path: { ...place, rowId: key }, body, headers })
}

export interface SaveRequest {
  readonly why: string
  /** By key: documents merged with a newer version, to be saved over that one. */
  readonly merged?: ReadonlyMap<string, Kept>
}

export type Save = ReturnType<typeof useSave>

/** Saves what changed, each only over the version it began from. */
export function useSave(place: ConfigurationPlace, documents: readonly OpenDocument[]) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ why, merged }: SaveRequest) => {
      const done: Draft[] = []
      try {
        for (const { key, draft } of documents.filter((one) => one.draft.isChanged)) {
          const wanted: Kept = merged?.get(key) ?? draft
          if (!isSameDocument(wanted.text, wanted.base.text))
            await saveOver(place, key, wanted, why).catch(async (error: unknown) => {
              if (!isVersionConflict(error)) throw error
              const loaded = await readConfiguration(place)
              const base = key === ROOT ? loaded.root : loaded.rows.get(key)
              // The newer version changed nothing in this document.
              if (!base || !isSameDocument(base.text, wanted.base.text)) throw error
              await saveOver(place, key, { base, text: wanted.text }, why)
            })
          done.push(draft)
        }
      } finally {
        const loaded = await readConfiguration(place)
        queries.setQueryData(['configurations.get', 'exact', place], loaded)
        for (const draft of done) draft.discard()
      }
    },
    onSuccess: (_, { merged }) => {
      const { configuration } = queries.getQueryData<LoadedConfiguration>(['configurations.get', 'exact', place])!
      const isKept = merged !== undefined && [...merged.values()].every(({ base, text }) => isSameDocument(base.text, text))
      toast(isKept ? `Version ${configuration.version} is kept.` : `Saved as version ${configuration.version}.`)
    },
  })
}

export function useRun({ componentId, configurationId }: ConfigurationPlace) {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (rowIds?: readonly string[]) =>
      api.call('queue.create', {
        body: {
          component: componentId,
          config: configurationId,
          mode: 'run',
          ...(rowIds && rowIds.length > 0 ? { configRowIds: rowIds } : {}),
        },
      }),
    onSuccess: (job) => void navigate({ to: '/jobs/$jobId', params: { jobId: job.id } }),
  })
}
