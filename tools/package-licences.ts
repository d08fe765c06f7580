// The licences of the packages that the npm package contains, as one text. Its dependencies, which npm installs, carry their own.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Locked {
  readonly version?: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly link?: boolean
}

/** Of everything in the lockfile that is neither for development nor installed beside the package. */
export function licencesOf(root: string, installed: readonly string[]): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }
  const bundled = Object.entries(packages).filter(
    ([place, { dev, optional, link }]) =>
      place.startsWith('node_modules/') && !dev && !optional && !link && !installed.includes(nameOf(place)),
  )
  const texts = bundled.map(([place, { version, license }]) => {
    const head = `${nameOf(place)} ${version} (${license ?? 'see below'})`
    return `${head}\n${'-'.repeat(head.length)}\n\n${licenceText(join(root, place))}\n`
  })
  return `Millrace contains the following packages, each under its own licence.\n\n${texts.join('\n\n')}`
}

const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)

function licenceText(folder: string): string {
  if (!existsSync(folder)) return ''
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  return files.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n')
}
