// What an operator may set for a project, by name and as text.

import { PlatformError } from '../../../kit/errors.ts'
import { BACKEND_NAMES } from '../../../model/backend.ts'
import { BRANCH_STORAGE } from '../../../model/branch-storage.ts'
import { FILE_PROVIDERS } from '../../../model/file-provider.ts'
import type { ProjectSettings } from './tokens.store.ts'

/** The values each setting may have. */
const CHOICES = { backend: BACKEND_NAMES, provider: FILE_PROVIDERS, branchStorage: BRANCH_STORAGE } as const satisfies Record<
  keyof ProjectSettings,
  readonly string[]
>

export const SETTING_NAMES = Object.keys(CHOICES)

export function settingsFrom(current: ProjectSettings, given: Readonly<Record<string, string>>): ProjectSettings {
  const settings: Record<string, string> = { ...current }
  for (const [name, value] of Object.entries(given)) {
    if (!isSetting(name)) throw refuse(`Setting "${name}" does not exist. Settings: ${SETTING_NAMES.join(', ')}.`)
    const choices: readonly string[] = CHOICES[name]
    if (value === '') delete settings[name]
    else if (choices.includes(value)) settings[name] = value
    else throw refuse(`"${value}" is not a value of ${name}. Values: ${choices.join(', ')}; empty for the default.`)
  }
  return settings // each value is one of its choices
}

const isSetting = (name: string): name is keyof ProjectSettings => Object.hasOwn(CHOICES, name)

const refuse = (reason: string) => new PlatformError('storage.validation', { field: 'settings', reason })
