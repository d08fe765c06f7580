// What runs: the version of the release, and its commit. An image has the commit in a file; in a clone it is read
// without a git program. A folder that is neither has no commit.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))
const SHORT = 12

export const VERSION: string = (JSON.parse(readFileSync(resolve(REPOSITORY, 'package.json'), 'utf8')) as { version: string })
  .version

export const COMMIT: string | undefined = commitOf(REPOSITORY)

/** For people and programs that compare what runs: `0.1.0+1a2b3c4d5e6f`, as semantic versions write a build. */
export const BUILD: string = COMMIT === undefined ? VERSION : `${VERSION}+${COMMIT}`

/** Compares `major.minor.patch`; what follows them does not count. */
export function isNewerVersion(version: string, than: string): boolean {
  const [theirs, ours] = [partsOf(version), partsOf(than)]
  const at = theirs.findIndex((part, index) => part !== ours[index])
  return at >= 0 && theirs[at]! > (ours[at] ?? 0)
}

const partsOf = (version: string): number[] => version.split(/[-+]/)[0]!.split('.').map(Number)

/** The first digits of the commit; undefined where there is none. */
export function commitOf(folder: string): string | undefined {
  const commit = textOf(folder, 'commit') ?? commitOfClone(folder)
  return commit !== undefined && /^[0-9a-f]{12,64}$/.test(commit) ? commit.slice(0, SHORT) : undefined
}

function commitOfClone(folder: string): string | undefined {
  const link = textOf(folder, '.git') // of a worktree; a clone has a folder
  const own = resolve(folder, link === undefined ? '.git' : link.replace(/^gitdir: /, ''))
  const head = textOf(own, 'HEAD')
  if (head === undefined || !head.startsWith('ref: ')) return head
  const name = head.slice('ref: '.length)
  const common = resolve(own, textOf(own, 'commondir') ?? '.')
  const packed = () =>
    textOf(common, 'packed-refs')
      ?.split('\n')
      .find((line) => line.endsWith(` ${name}`))
      ?.split(' ')[0]
  return textOf(own, name) ?? textOf(common, name) ?? packed()
}

function textOf(folder: string, file: string): string | undefined {
  try {
    return readFileSync(resolve(folder, file), 'utf8').trim()
  } catch {
    return undefined // there is none, or it is a folder
  }
}
