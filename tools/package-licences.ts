// Which packages of others the npm package consists of: their licences as one text, and the list as a CycloneDX document.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Locked {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

interface Contained extends Omit<Locked, 'license'> {
  readonly name: string
  readonly folder: string
  readonly license: string | undefined
}

/** Folders of the lockfile whose programs are in the package. */
const CONTAINED = ['', 'cli', 'components/http-extractor', 'console']
/** Builds the console and the bundles, and is in neither. */
const BUILDER = 'vite'

/** Everything that the programs depend on, except for the packages that are named, and what only those need. */
function packagesOf(root: string, without: readonly string[]): readonly Contained[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }
  const places = new Map<string, string>()
  const add = (from: string): void => {
    for (const name of Object.keys(packages[from]?.dependencies ?? {})) {
      const place = placeOf(packages, from, name)
      if (name === BUILDER || without.includes(name) || place === undefined || places.has(place)) continue
      places.set(place, name)
      add(place)
    }
  }
  for (const folder of CONTAINED) add(folder)
  return [...places]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([place, name]) => {
      const folder = join(root, place)
      return { ...packages[place], name, folder, license: packages[place]?.license ?? olderLicence(folder) }
    })
}

/** Packages of long ago have a list, which the lockfile leaves out. */
function olderLicence(folder: string): string | undefined {
  const { licenses } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { licenses?: { type: string }[] }
  return licenses?.map(({ type }) => type).join(' OR ')
}

/** As Node looks for a package: in the folder itself, then in those around it. */
function placeOf(packages: Readonly<Record<string, Locked>>, from: string, name: string): string | undefined {
  for (let around = from; ; ) {
    const place = `${around === '' ? '' : `${around}/`}node_modules/${name}`
    if (packages[place]) return place
    if (around === '') return undefined // optional, and not in the lockfile
    around = around.slice(0, Math.max(0, around.lastIndexOf('node_modules/') - 1))
  }
}

/** Of what is in the package; its dependencies, which npm installs, carry their own. */
export function licencesOf(root: string, installed: readonly string[]): string {
  const texts = packagesOf(root, installed).map(({ name, version, license, folder }) => {
    const head = `${name} ${version} (${license ?? 'see below'})`
    return `${head}\n${'-'.repeat(head.length)}\n\n${licenceText(folder)}\n`
  })
  return `Millrace contains the following packages, each under its own licence.\n\n${texts.join('\n\n')}`
}

function licenceText(folder: string): string {
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  return files.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n')
}

/** CycloneDX 1.6, with what npm installs beside the package. The same lockfile gives the same text. */
export function billOfMaterials(root: string, version: string): object {
  // A package can be in two places.
  const unique = new Map(packagesOf(root, []).map((one) => [`${one.name}@${one.version}`, one]))
  const components = [...unique.values()].map(({ name, version: own = '', license, integrity }) => ({
    type: 'library',
    'bom-ref': `${name}@${own}`,
    name,
    version: own,
    purl: `pkg:npm/${name.replace('@', '%40')}@${own}`,
    ...(license !== undefined && {
      licenses: [/^[\w.-]+$/.test(license) ? { license: { id: license } } : { expression: license }],
    }),
    ...(integrity?.startsWith('sha512-') && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }],
    }),
  }))
  const own = {
    type: 'application',
    'bom-ref': `millrace@${version}`,
    name: 'millrace',
    version,
    purl: `pkg:npm/millrace@${version}`,
  }
  return { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata: { component: own }, components }
}
