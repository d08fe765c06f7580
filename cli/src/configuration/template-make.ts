// A template from configurations: secrets become inputs, ids of the chosen configurations become references.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { UserError } from '../output.ts'

export interface ChosenConfiguration {
  readonly componentId: string
  readonly id: string
  readonly name: string
  readonly description: string
  readonly configuration: unknown
  readonly rows?: readonly {
    readonly id: string
    readonly name: string
    readonly description: string
    readonly isDisabled: boolean
    readonly configuration: unknown
  }[]
}

interface HiddenInput {
  readonly id: string
  readonly name: string
  readonly type: 'string'
  readonly kind: 'hidden'
}

export function makeTemplate(chosen: readonly ChosenConfiguration[]) {
  const names = new Map(chosen.map(({ id }, i) => [id, `configuration-${i + 1}`]))
  const inputs = new Map<string, HiddenInput>()

  /** The name of the member, with a number when several configurations have one of that name. */
  const ask = (path: string, member: string): { readonly $input: string } => {
    const name = member.replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '') || 'secret'
    let id = name
    for (let n = 2; inputs.has(id); n++) id = `${name}-${n}`
    inputs.set(id, { id, name: `Secret ${path}`, type: 'string', kind: 'hidden' })
    return { $input: id }
  }

  function replaced(value: unknown, path: string): unknown {
    if (typeof value === 'string') return names.has(value) ? { $configuration: names.get(value) } : value
    if (Array.isArray(value)) return value.map((item, i) => replaced(item, `${path}.${i}`))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const at = `${path}.${name}`
        const isSecret = name.startsWith('#') && typeof member === 'string' && member !== ''
        return [name, isSecret ? ask(at, name) : replaced(member, at)]
      }),
    )
  }

  const configurations = chosen.map((one) => {
    const id = names.get(one.id)!
    return {
      id,
      componentId: one.componentId,
      name: one.name,
      description: one.description,
      configuration: replaced(one.configuration, id),
      rows: (one.rows ?? []).map((row) => ({
        id: row.id,
        name: row.name,
        description: row.description,
        isDisabled: row.isDisabled,
        configuration: replaced(row.configuration, `${id}.${row.id}`),
      })),
    }
  })
  const steps = [{ id: 'secrets', name: 'Secrets', inputs: [...inputs.values()] }]
  return {
    description: 'Created from configurations.',
    mainConfiguration: configurations.at(-1)?.id,
    stepGroups: inputs.size === 0 ? [] : [{ id: 'access', description: 'Access', required: 'all', steps }],
    configurations,
  }
}

export type MadeTemplate = ReturnType<typeof makeTemplate>

/** Never over an existing version: it may be in use. */
export function writeTemplate(folder: string, version: string, name: string, manifest: MadeTemplate): void {
  const file = join(folder, version, 'manifest.json')
  if (existsSync(file)) throw new UserError(`${file} already exists. Choose another version with --template-version.`)
  mkdirSync(join(folder, version), { recursive: true })
  writeNew(join(dirname(folder), 'repository.json'), { name: basename(dirname(folder)).replace(/[^A-Za-z0-9.-]/g, '-') || 'own' })
  writeNew(join(folder, 'template.json'), { name, description: name })
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(folder, version, 'README.md'), `# ${name}\n`)
}

function writeNew(file: string, value: object): void {
  if (!existsSync(file)) writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
