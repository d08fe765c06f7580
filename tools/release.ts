// `npm run release -- --dry-run`: everything of a release except for publishing it, in dist/release: the npm package, the single executable
// of this system, what they consist of (CycloneDX), the notes from CHANGELOG.md, and the checksums. .github/workflows/release.yml runs it for a tag, and publishes the files.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makeExecutable } from './executable/executable.ts'
import { makePackage } from './package.ts'
import { billOfMaterials } from './package-licences.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CHECKSUMS = 'SHA256SUMS'

export interface ReleaseOrder {
  /** The files are written to the folder `release` in it. */
  readonly target: string
  /** Of git, `v0.2.0`; it must be the version, which then has a section in the changelog. */
  readonly tag?: string | undefined
  /** The address that the package names. */
  readonly repository?: string | undefined
  /** Of the single executable; 19 takes a minute of processor time and makes it 15 MB smaller than 3. */
  readonly compressionLevel?: number
}

/** The folder with the files. */
export async function makeRelease({ target, tag, repository, compressionLevel = 19 }: ReleaseOrder): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(`The tag ${tag} is not that of the version ${version} in package.json.`)
  const notes = notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version, tag !== undefined)
  const folder = join(target, 'release')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const archive = await makePackage(target, repository)
  renameSync(archive, join(folder, basename(archive)))
  const executable = await makeExecutable(target, compressionLevel)
  renameSync(executable, join(folder, basename(executable)))
  writeFileSync(join(folder, `millrace-${version}.cdx.json`), `${JSON.stringify(billOfMaterials(ROOT, version), null, 2)}\n`)
  writeFileSync(join(folder, 'notes.txt'), notes)
  const lines = readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    )
  writeFileSync(join(folder, CHECKSUMS), lines.join(''))
  return folder
}

/** The section of the version; before there is a tag also what is pending, so that a dry run shows what the notes will be. */
export function notesOf(changelog: string, version: string, isTagged: boolean): string {
  const sections = changelog.split(/^## /m).slice(1)
  const find = (name: string) => sections.find((section) => /^[^\s,]+/.exec(section)?.[0] === name)
  const found = find(version) ?? (isTagged ? undefined : find('Pending'))
  if (found === undefined) throw new Error(`CHANGELOG.md has no section for ${version}.`)
  return `${found.slice(found.indexOf('\n')).trim()}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = { 'dry-run': { type: 'boolean' }, tag: { type: 'string' }, repository: { type: 'string' } } as const
  const { values } = parseArgs({ options })
  if (!values['dry-run']) {
    console.error(
      'Publishing is done by .github/workflows/release.yml when a tag is pushed. Use --dry-run to make its files here.',
    )
    process.exit(1)
  }
  const folder = await makeRelease({ target: join(ROOT, 'dist'), tag: values.tag, repository: values.repository })
  for (const name of readdirSync(folder)) console.log(relative(process.cwd(), join(folder, name)))
}
