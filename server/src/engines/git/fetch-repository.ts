// Requests the commit of a branch or tag, and writes the files of that commit when it is new.

import fs from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { addRemote, Errors, fetch, init, listServerRefs, type ServerRef } from 'isomorphic-git'
import type { EgressPolicy } from '../../../../contract/egress-rules.ts'
import { type FileRules, MAX_ANSWER_BYTES, PLAIN_FILES } from './file-rules.ts'
import { createGuardedHttp } from './guarded-http.ts'
import { writeCommit } from './write-commit.ts'

export interface GitAddress {
  readonly url: string
  /** A branch, a tag or a whole commit; empty: what the repository recommends. */
  readonly ref: string
  readonly credentials?: { readonly username: string; readonly password: string } | undefined
}

export interface FetchOrder extends GitAddress {
  readonly policy: EgressPolicy
  readonly timeoutMs: number
  /** Where the credentials are named, for sentences about them. */
  readonly credentialsIn: string
  /** Plain files by default. */
  readonly files?: FileRules | undefined
  /** Where commits are written; undefined: only look. */
  readonly folder: string | undefined
  /** What the branch or tag stood at before: nothing is fetched when it still does. */
  readonly known: string | undefined
}

export type FetchAnswer = { readonly object: string; readonly commit?: string } | { readonly problem: string }

/** Of a list of branches and tags. */
const MAX_LOOK_BYTES = 8 * 2 ** 20
const COMMIT = /^[0-9a-f]{40}$/

/** Never throws: what went wrong is a sentence. */
export async function fetchRepository(order: FetchOrder): Promise<FetchAnswer> {
  const access = {
    http: createGuardedHttp({
      policy: order.policy,
      timeoutMs: order.timeoutMs,
      maxBytes: order.folder === undefined ? MAX_LOOK_BYTES : MAX_ANSWER_BYTES,
    }),
    url: order.url,
    onAuth: () => order.credentials,
  }
  try {
    const { name, object } = chosen(order.ref, await listServerRefs({ ...access, protocolVersion: 1 }))
    if (object === order.known || order.folder === undefined) return { object }
    return { object, commit: await fetchFiles(access, name, order.folder, order.files) }
  } catch (error) {
    return { problem: sentence(order, error) }
  }
}

/** The server's name of the requested reference, and its object: a commit, or an annotated tag. */
function chosen(ref: string, refs: readonly ServerRef[]): { readonly name: string; readonly object: string } {
  if (COMMIT.test(ref)) return { name: ref, object: ref }
  const names = ref === '' ? ['HEAD'] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
  const found = names.flatMap((name) => refs.filter((one) => one.ref === name))[0]
  if (found) return { name: found.ref, object: found.oid }
  throw new Error(refs.length === 0 ? 'The repository is empty.' : `The repository has no branch or tag "${ref}".`)
}

async function fetchFiles(
  access: Pick<Parameters<typeof fetch>[0], 'http' | 'url' | 'onAuth'>,
  name: string,
  folder: string,
  rules = PLAIN_FILES,
): Promise<string> {
  const work = await mkdtemp(join(folder, 'fetch-'))
  try {
    const git = { fs, gitdir: join(work, 'git'), cache: {} }
    await init({ ...git, bare: true })
    await addRemote({ ...git, remote: 'origin', url: access.url! }) // fetch reads its rules there
    const { fetchHead } = await fetch({ ...access, ...git, ref: name, singleBranch: true, depth: 1, tags: false })
    const files = join(work, 'files')
    const oid = await writeCommit(git, fetchHead!, files, rules) // the server named it a moment ago
    await rm(join(folder, oid), { recursive: true, force: true })
    await rename(files, join(folder, oid))
    return oid
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** The message for the operator: why, and what to do. Never the credentials, which no error of the library repeats either. */
function sentence({ url, credentials, credentialsIn }: FetchOrder, error: unknown): string {
  const { host } = new URL(url)
  if (error instanceof Errors.HttpError) {
    const { statusCode } = error.data
    if (statusCode === 401 || statusCode === 403)
      return credentials
        ? `${host} refuses the credentials of ${credentialsIn} (HTTP ${statusCode}).`
        : `${host} requires credentials (HTTP ${statusCode}). Set them in ${credentialsIn}.`
    return statusCode === 404 ? `There is no git repository at this address (HTTP 404).` : `${host} answers HTTP ${statusCode}.`
  }
  if (error instanceof Errors.SmartHttpError || error instanceof Errors.ParseError)
    return `What answers at this address is not a git server.`
  const { code, message } = error as NodeJS.ErrnoException
  return code !== undefined && /^E[A-Z]+$/.test(code) ? `${host} cannot be reached (${code}).` : message
}
