// A client of git, without a git program: a working folder of one repository, pushed and cloned over HTTP.

import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { add, branch, clone, commit, type HttpClient, init, log, push, resolveRef } from 'isomorphic-git'
import node from 'isomorphic-git/http/node'
import type { TestScope } from '../test-stack.ts'

/** The usual agent gives a server five seconds, which is little on a busy machine. */
const agent = new Agent()
const http: HttpClient = { request: (request) => node.request({ ...request, agent }) }
const author = { name: 'Test', email: 'test@example.com', timestamp: 1_700_000_000, timezoneOffset: 0 }

export interface GitClient {
  readonly dir: string
  /** Writes the files and commits them to the branch that is checked out; answers the commit. */
  commit(files: Readonly<Record<string, string>>): Promise<string>
  /** From here on commits go there. */
  branch(name: string): Promise<void>
  head(): Promise<string>
  /** Answers why a branch was refused; undefined: it was taken. */
  push(options?: { readonly ref?: string; readonly force?: boolean; readonly remove?: boolean }): Promise<string | undefined>
  /** The commits of another clone, the newest first. */
  clone(options?: {
    readonly depth?: number
    readonly ref?: string
  }): Promise<{ readonly dir: string; readonly commits: string[] }>
}

/** `url` is called every time: a stack that starts again may be elsewhere. */
export async function openGitClient(t: TestScope, url: string | (() => string), secret: string): Promise<GitClient> {
  const root = mkdtempSync(join(tmpdir(), 'millrace-git-client-'))
  t.after(async () => rmSync(root, { recursive: true, force: true }))
  const dir = join(root, 'work')
  const here = { fs, dir }
  const access = { http, onAuth: () => ({ username: 'any', password: secret }) }
  const there = () => ({ ...access, url: typeof url === 'string' ? url : url() })
  await init({ ...here, defaultBranch: 'main' })
  let clones = 0
  return {
    dir,
    async commit(files) {
      for (const [filepath, text] of Object.entries(files)) {
        writeFileSync(join(dir, filepath), text)
        await add({ ...here, filepath })
      }
      return commit({ ...here, message: 'Change', author })
    },
    branch: (name) => branch({ ...here, ref: name, checkout: true }),
    head: () => resolveRef({ ...here, ref: 'HEAD' }),
    async push({ ref = 'main', force = false, remove = false } = {}) {
      try {
        const { ok, error } = await push({ ...here, ...there(), ref, remoteRef: `refs/heads/${ref}`, force, delete: remove })
        return ok ? undefined : String(error)
      } catch (error) {
        return (error as Error).message
      }
    },
    async clone({ depth, ref } = {}) {
      const copy = { fs, dir: join(root, `clone-${clones++}`) }
      await clone({ ...copy, ...there(), singleBranch: true, ...(depth && { depth }), ...(ref && { ref }) })
      return { dir: copy.dir, commits: (await log(copy)).map(({ oid }) => oid) }
    },
  }
}
