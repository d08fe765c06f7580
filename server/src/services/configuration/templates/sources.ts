// Where repositories of templates come from: folders of this machine, and git repositories that are fetched into one.

import type { GitAddress } from '../../../engines/git/fetch-repository.ts'
import type { GitCheckout } from '../../../engines/git/git-checkout.ts'
import { createTemplateFolder, type TemplateFolder } from '../../../engines/template-folder/template-folder.ts'

export interface SourceState {
  /** Undefined: nothing was fetched yet. */
  readonly folder?: TemplateFolder
  readonly commit?: string
  readonly refreshedAt?: Date
  /** Why it cannot be used, or could not be refreshed. */
  readonly problem?: string
}

export interface TemplateSource {
  /** Its name until repository.json is read. */
  readonly name: string
  /** Empty for a folder: its path is only for the operator. */
  readonly url: string
  readonly ref: string
  state(): SourceState
  /** Never throws; `state` has the outcome. */
  refresh(): Promise<void>
}

/** Read on each request. */
export function folderSource(path: string): TemplateSource {
  const folder = createTemplateFolder(path)
  return { name: folder.name, url: '', ref: '', state: () => ({ folder }), refresh: async () => {} }
}

export function gitSource({ url, ref }: GitAddress, checkout: GitCheckout): TemplateSource {
  const name = new URL(url).pathname
    .split('/')
    .findLast((part) => part !== '')!
    .replace(/\.git$/, '')
  let folder: TemplateFolder | undefined
  return {
    name,
    url,
    ref,
    state() {
      const { path, ...state } = checkout.current()
      if (path !== undefined && path !== folder?.path) folder = createTemplateFolder(path, name)
      return { ...state, ...(folder && { folder }) }
    },
    refresh: checkout.refresh,
  }
}

export interface RefreshLoopDeps {
  readonly sources: readonly TemplateSource[]
  /** 0: only on request. */
  readonly everyMs: number
  readonly log: { warn(details: object, text: string): void }
}

/** The first refresh does not delay the start of the stack: until it is done, what was fetched before is offered. */
export function createRefreshLoop({ sources, everyMs, log }: RefreshLoopDeps) {
  let timer: NodeJS.Timeout | undefined

  async function tick(): Promise<void> {
    for (const { url, refresh, state } of sources) {
      await refresh()
      const { problem } = state()
      if (problem !== undefined) log.warn({ url, problem }, 'a repository of templates could not be refreshed')
    }
  }

  return {
    start(): void {
      if (everyMs === 0) return
      void tick()
      timer = setInterval(() => void tick(), everyMs).unref()
    },
    stop: () => clearInterval(timer),
  }
}
