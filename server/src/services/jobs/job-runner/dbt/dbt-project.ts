// The files of a dbt project in the data folder of a run: from git, from a folder of the operator, or from a file of the project.

import { join } from 'node:path'
import type { EgressPolicy } from '../../../../../../contract/egress-rules.ts'
import { ALL_FILES } from '../../../../engines/git/file-rules.ts'
import type { FetchIntoOrder } from '../../../../engines/git/git-checkout.ts'
import { type CopyLimits, copyFolder } from '../../../../engines/runner/copy-folder.ts'
import { unpackFile } from '../../../../engines/runner/tar.ts'
import type { RunFiles, RunScope } from '../../../../model/run-ports.ts'
import { gone, invalid } from '../mapping/mapping.ts'
import type { DbtSettings } from './dbt-settings.ts'

export interface ProjectDeps {
  readonly files: RunFiles
  /** Folders that the operator named, by name. */
  readonly folders: Readonly<Record<string, string>>
  readonly egress: EgressPolicy
  readonly fetchOnce: (
    order: FetchIntoOrder,
    signal: AbortSignal,
  ) => Promise<{ readonly commit: string } | { readonly problem: string }>
}

export interface PlacedProject {
  /** The commit, for people who read the log. */
  readonly described: string
  /** A zip file beside the project, which the program unpacks. */
  readonly archive?: string
}

const FETCH_MS = 60_000
const MAX_FILES = 20_000
const MAX_BYTES = 512 * 2 ** 20
/** What dbt makes itself, and what is not of the project. */
const LIMITS: CopyLimits = {
  maxFiles: MAX_FILES,
  maxBytes: MAX_BYTES,
  leftOut: ['target', 'logs', '.git', '.venv', 'node_modules', '__pycache__'],
}

export async function placeProject(
  deps: ProjectDeps,
  scope: RunScope,
  { project }: DbtSettings,
  place: string,
  signal: AbortSignal,
): Promise<PlacedProject> {
  const folder = join(place, 'project')
  if (project.kind === 'folder') {
    const from = Object.hasOwn(deps.folders, project.name) ? deps.folders[project.name] : undefined
    if (from === undefined) throw unknownFolder(project.name, Object.keys(deps.folders))
    const problem = await copyFolder(from, folder, LIMITS, signal)
    if (problem === 'unreadable') throw gone('the folder that the operator named cannot be read', '/parameters/project/folder')
    if (problem === 'tooMuch')
      throw invalid(`the folder of the project has more than ${MAX_FILES} files or ${MAX_BYTES / 2 ** 20} MB`)
    return { described: `the folder ${project.name}` }
  }
  if (project.kind === 'file') return placeFile(deps, scope, project, place, signal)
  const { repository, ref, credentials } = project
  const answer = await deps.fetchOnce(
    {
      ...{ url: repository, ref: ref ?? '', credentials, policy: deps.egress, files: ALL_FILES, folder, timeoutMs: FETCH_MS },
      credentialsIn: 'parameters.project.git (username, #password)',
    },
    signal,
  )
  if ('problem' in answer) throw invalid(`the project cannot be fetched from ${repository}: ${answer.problem.replace(/\.$/, '')}`)
  return { described: `commit ${answer.commit} of ${repository}` }
}

const unknownFolder = (name: string, known: readonly string[]) =>
  gone(
    known.length === 0
      ? 'the operator of this stack has named no folder, with the variable MILLRACE_READ_FOLDERS'
      : `parameters.project.folder is "${name.slice(0, 60)}", and the operator of this stack has named ${known.join(', ')}`,
    '/parameters/project/folder',
  )

async function placeFile(
  { files }: ProjectDeps,
  scope: RunScope,
  { id, tags }: DbtSettings['project'] & { readonly kind: 'file' },
  place: string,
  signal: AbortSignal,
): Promise<PlacedProject> {
  const found = await files.list(scope, {
    ...{ fileIds: id === undefined ? undefined : [id], tags, withoutTags: [], query: undefined },
    ...{ createdSince: undefined, sinceId: undefined, limit: 1 },
  })
  const [file] = found
  if (!file) {
    const what = id === undefined ? `with the tags ${tags.join(', ')}` : String(id)
    throw gone(`the file ${what} does not exist, or the token may not read it`, '/parameters/project/file')
  }
  const described = `file ${file.id} (${file.name})`
  if (file.sizeBytes > MAX_BYTES)
    throw invalid(`${described} has more than the ${MAX_BYTES / 2 ** 20} MB that a project may have`)
  if (/\.zip$/i.test(file.name)) {
    await files.download(scope, file.id, join(place, 'project.zip'), signal)
    return { described, archive: 'project.zip' }
  }
  if (!/\.(tar\.gz|tgz)$/i.test(file.name))
    throw invalid(`${described} is no archive: the name of a project's file ends with .zip, .tar.gz or .tgz`)
  const archive = join(place, 'project.tar.gz')
  await files.download(scope, file.id, archive, signal)
  await unpackFile(join(place, 'project'), archive, MAX_BYTES, signal)
  return { described }
}
