// The project that a folder is brought into, and how far that came.
//  (1) what was finished is recorded in the folder and not repeated; what was interrupted is removed and restarted;
//  (2) what the project has already, and this import did not make, is left alone and reported.

import type { Client } from '../client.ts'
import type { ProjectFolder, Report } from '../configuration/project-folder.ts'
import { messageOf } from './project-export.ts'

type Progress = Record<string, 'begun' | 'done'>

export interface Undo {
  isThere(): Promise<boolean>
  remove(): Promise<unknown>
}

export interface Target {
  readonly client: Client
  readonly folder: ProjectFolder
  readonly report: Report
  /** Of the files in the folder that belong to this import alone. */
  readonly label: string
  /** The branch that is filled; undefined for the default one. */
  readonly branchId: number | undefined
  readonly say: (text: string) => void
  /** Runs the work once: skipped when done, reported when it fails; `undo` takes away what an earlier try left. */
  once(what: string, work: () => Promise<void>, undo?: Undo): Promise<void>
  isDone(what: string): boolean
}

export async function openTarget(
  client: Client,
  folder: ProjectFolder,
  report: Report,
  say: (text: string) => void,
): Promise<Target> {
  const { owner } = await client.request<{ owner: { id: number } }>('GET', '/v2/storage/tokens/verify')
  const label = `${new URL(client.url).host}-${owner.id}.json`
  const record = `import-${label}`
  const progress: Progress = (await folder.read<Progress>(record)) ?? {}
  const mark = async (what: string, state: Progress[string]) => {
    progress[what] = state
    await folder.write(progress, record)
  }
  return {
    client,
    folder,
    report,
    label,
    branchId: undefined,
    say,
    isDone: (what) => progress[what] === 'done',
    async once(what, work, undo) {
      if (progress[what] === 'done') return
      say(what)
      try {
        if (undo && (await undo.isThere())) {
          if (progress[what] !== 'begun') throw new Error('It already exists in the project and was not changed.')
          await undo.remove()
        }
        await mark(what, 'begun')
        await work()
        await mark(what, 'done')
      } catch (error) {
        report.notMoved.push({ what, reason: messageOf(error) })
      }
    },
  }
}

/** The same import in one of its branches. */
export const targetInBranch = (
  target: Target,
  client: Client,
  folder: ProjectFolder,
  branch: { readonly id: number; readonly name: string },
): Target => ({
  ...target,
  client,
  folder,
  branchId: branch.id,
  once: (what, work, undo) => target.once(`branch ${branch.name}: ${what}`, work, undo),
  isDone: (what) => target.isDone(`branch ${branch.name}: ${what}`),
})
