// Profiles: addresses and tokens of several stacks, in the config folder of the user, readable for the user only.

import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { homeFolder } from '../../server/src/kit/machine/home-folder.ts'
import { UserError } from './output.ts'

export interface Profile {
  readonly url: string
  readonly token: string
  readonly project: { readonly id: number; readonly name: string }
}

export interface Profiles {
  /** The profile that commands use by default. */
  readonly current?: string
  readonly profiles: Readonly<Record<string, Profile>>
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Undefined for a user without a home folder. */
const profilesFile = (): string | undefined => {
  const { XDG_CONFIG_HOME, APPDATA } = process.env
  const home = homeFolder()
  const folder = XDG_CONFIG_HOME || (process.platform === 'win32' && APPDATA) || (home && join(home, '.config'))
  return folder && join(folder, 'millrace', 'profiles.json')
}

export function readProfiles(): Profiles {
  const file = profilesFile()
  if (file === undefined) return { profiles: {} }
  const mode = statSync(file, { throwIfNoEntry: false })?.mode
  if (mode === undefined) return { profiles: {} }
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new UserError(
      `${file} has mode ${(mode & 0o777).toString(8)}: other users can read the tokens in it. Run: chmod 600 ${file}`,
    )
  try {
    const read = JSON.parse(readFileSync(file, 'utf8')) as Profiles // written by writeProfiles
    return { ...read, profiles: { ...read.profiles } }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new UserError(`${file} is not valid JSON. Correct it, or remove it and log in again.`)
  }
}

export function writeProfiles(profiles: Profiles): void {
  const file = profilesFile()
  if (file === undefined) throw new UserError('This user has no home folder for profiles. Set HOME or XDG_CONFIG_HOME.')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  rmSync(`${file}.new`, { force: true })
  writeFileSync(`${file}.new`, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(`${file}.new`, file)
}

export function profileNamed(name: string, { profiles } = readProfiles()): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (found) return found
  const names = Object.keys(profiles)
  const others = names.length === 0 ? 'No profiles exist yet.' : `Profiles: ${names.join(', ')}.`
  throw new UserError(`Profile "${name}" does not exist. ${others} Create one with: millrace login ${name} --url <url>`)
}

export function checkProfileName(name: string): void {
  if (!NAME.test(name))
    throw new UserError(`"${name}" is not a name of a profile: use up to 64 letters, digits, dots, dashes and underscores.`)
}
