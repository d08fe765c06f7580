// config.json of a component and of a processor (spec platform 1.3), composed of texts: what the user wrote stays as written.

import { membersOf, withMember } from '../../../kit/text/json-text.ts'

/** Nodes of a configuration that a component never sees. */
const NOT_PASSED_ON = new Set(['processors', 'runtime', 'image_parameters', 'action'])
/** Nodes that PHP clients write as a list when they are empty. */
const OBJECTS = new Set(['parameters', 'storage', 'authorization'])

export interface ConfigFileParts {
  /** Effective configuration, secrets in clear. */
  readonly configuration: string
  /** JSON text, secrets in clear. */
  readonly imageParameters: string
  readonly action: string
  /** Becomes a member of `authorization` (spec platform 1.3). */
  readonly context?: string | undefined
}

export function configFile({ configuration, imageParameters, action, context }: ConfigFileParts): string {
  const nodes = new Map<string, string>([['parameters', '{}']])
  for (const [name, given] of membersOf(configuration)) {
    const value = OBJECTS.has(name) && isEmpty(given) ? '{}' : given
    if (NOT_PASSED_ON.has(name) || ((name === 'storage' || name === 'authorization') && isEmpty(value))) continue
    nodes.set(name, value)
  }
  if (context !== undefined)
    nodes.set('authorization', withMember(nodes.get('authorization') ?? '{}', 'context', JSON.stringify(context)))
  nodes.set('image_parameters', imageParameters)
  nodes.set('action', JSON.stringify(action))
  return `{${[...nodes].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

/** A processor sees its own parameters and nothing of the configuration it is part of. */
export const processorConfigFile = (parameters: string, imageParameters: string): string =>
  configFile({ configuration: `{"parameters":${parameters}}`, imageParameters, action: 'run' })

const isEmpty = (text: string): boolean => /^\s*(\{\s*\}|\[\s*\]|null)\s*$/.test(text)
