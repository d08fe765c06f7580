// The three kinds of programs a component can be, and how each is started.

import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { type Container, engineEnvironment } from './container-engine.ts'
import type { DataFolder } from './data-folder.ts'

export type Program =
  /** Shipped with the platform: a Node program that sees its own source, its data folder, and nothing else of the disk. */
  | {
      readonly kind: 'node'
      readonly entry: string
      readonly arguments: readonly string[]
      readonly readable: readonly string[]
      /** Folders besides its data folder. */
      readonly writable?: readonly string[]
      /** It loads native code of our packages, which the permission model does not hold. */
      readonly hasNativeCode?: boolean
      /** It can be loaded before it has a job: it waits in `untilJob()` (contract/started-ahead.ts). */
      readonly waitsForJob?: boolean
      /** A folder that outlives the run: the program finds it by `linkedFolder()`. */
      readonly linked?: string | undefined
    }
  /** Registered by the operator, in any language. Its first word is looked up in PATH. */
  | {
      readonly kind: 'command'
      readonly command: readonly string[]
      readonly folder: string
      /** What it needs of the disk besides its own folder, when it is isolated. */
      readonly readable?: readonly string[]
      readonly writable?: readonly string[]
    }
  /** An image, prepared by the container engine beforehand. */
  | { readonly kind: 'image'; readonly container: Container; readonly network: 'none' | 'bridge' }

/** What an isolated program needs of the disk to start: a Python with packages of its own is the folder around its `bin`. */
export const homeOf = (program: string): readonly string[] => (isAbsolute(program) ? [dirname(dirname(program))] : [])

export interface Launch {
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
  /** Memory the watch has to keep; undefined when someone else does (the container engine). */
  readonly watchMemory: boolean
  /** It can start no other process: when it has ended, nothing of it is left. */
  readonly isAlone: boolean
  /** Of an isolated command, besides where it starts and its data folder. */
  readonly readable?: readonly string[]
  readonly writable?: readonly string[]
}

export interface LaunchSettings {
  readonly path: string
  /** Compiled code of built-in programs, one folder for each program. */
  readonly cacheFolder: string
  /** So that programs trust the authority of the stack: variables, and the folder with the files they name. Not for images. */
  readonly trust?: { readonly folder: string; readonly environment: Readonly<Record<string, string>> } | undefined
  /** Of an image. */
  readonly network: 'forwarder' | 'none' | 'engine'
}

/** Where a program finds `linked`: a name of its own data folder, so that the flags of a process do not depend on its job. */
export const linkedFolder = (folder: DataFolder): string => join(folder.root, 'kept')

export function launchOf(
  program: Program,
  folder: DataFolder,
  environment: Readonly<Record<string, string>>,
  memoryBytes: number,
  { path, cacheFolder, trust, network }: LaunchSettings,
): Launch {
  const own = { PATH: path, HOME: folder.tmp, TMPDIR: folder.tmp, LANG: 'C.UTF-8', ...trust?.environment }
  switch (program.kind) {
    case 'command':
      return {
        argv: program.command,
        // Python buffers its output without a terminal, and then a log shows nothing until the end.
        environment: { ...own, PYTHONUNBUFFERED: '1', ...environment, KBC_DATADIR: `${folder.data}/` },
        cwd: program.folder,
        watchMemory: true,
        isAlone: false,
        readable: [...(program.readable ?? []), ...(trust ? [trust.folder] : [])],
        writable: program.writable ?? [],
      }
    case 'image':
      return {
        argv: program.container.argv(network === 'engine' ? program.network : network, Object.keys(environment)),
        environment: { ...environment, ...engineEnvironment(path), TMPDIR: folder.tmp, KBC_DATADIR: '/data/' },
        cwd: folder.data,
        watchMemory: false,
        isAlone: false,
      }
    case 'node': {
      const cache = join(cacheFolder, program.entry.replace(/[^A-Za-z0-9]+/g, '-'))
      return {
        argv: [process.execPath, ...nodeFlags(program, folder, memoryBytes, cache), program.entry, ...program.arguments],
        environment: { ...own, ...environment, KBC_DATADIR: `${folder.data}/`, NODE_COMPILE_CACHE: cache },
        cwd: folder.data,
        watchMemory: true,
        isAlone: true, // by the permission model
      }
    }
  }
}

/** Old space is what grows with data; the rest of a Node process needs memory beside it. */
const HEAP_SHARE = 0.75

function nodeFlags(program: Program & { kind: 'node' }, folder: DataFolder, memoryBytes: number, cache: string): string[] {
  // The data folder of a process that waits for its job does not exist yet, but the one around it does.
  const roots = bothNames(dirname(folder.root)).map((path) => join(path, basename(folder.root)))
  const own = roots.flatMap((root) => ['data', 'tmp', 'kept'].map((name) => join(root, name)))
  const writable = [...own, ...[cache, ...(program.writable ?? [])].flatMap(bothNames)]
  const readable = [...[dirname(program.entry), ...program.readable].flatMap(bothNames), ...writable]
  return [
    '--permission',
    ...(program.hasNativeCode ? ['--allow-addons'] : []),
    '--disable-warning=SecurityWarning',
    `--max-old-space-size=${Math.max(32, Math.floor((memoryBytes * HEAP_SHARE) / 2 ** 20))}`,
    ...readable.map((path) => `--allow-fs-read=${path}/*`),
    ...writable.map((path) => `--allow-fs-write=${path}/*`),
  ]
}

/** A folder behind a link can be requested by either name. */
function bothNames(path: string): string[] {
  try {
    return [...new Set([path, realpathSync.native(path)])]
  } catch {
    return [path] // not there yet (a cache that is still to be filled)
  }
}
