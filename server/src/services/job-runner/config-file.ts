// config.json of a component and of a processor (spec platform 1.3), put together from texts: what the user wrote stays as written.

import { PlatformError } from '../../kit/errors.ts'
import { membersOf } from '../../kit/json-text.ts'

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
    if (name === 'authorization') refuseBroker(value)
    nodes.set(name, value)
  }
  if (context !== undefined) nodes.set('authorization', withContext(nodes.get('authorization') ?? '{}', context))
  nodes.set('image_parameters', imageParameters)
  nodes.set('action', JSON.stringify(action))
  return `{${[...nodes].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

function withContext(authorization: string, context: string): string {
  const members = new Map([...membersOf(authorization), ['context', JSON.stringify(context)]])
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

/** A processor sees its own parameters and nothing of the configuration it is part of. */
export const processorConfigFile = (parameters: string, imageParameters: string): string =>
  configFile({ configuration: `{"parameters":${parameters}}`, imageParameters, action: 'run' })

const isEmpty = (text: string): boolean => /^\s*(\{\s*\}|\[\s*\]|null)\s*$/.test(text)

/** Credentials inside the configuration are passed on; those that a broker would hold cannot be fetched here. */
function refuseBroker(authorization: string): void {
  const oauth = membersOf(authorization).get('oauth_api')
  if (oauth !== undefined && membersOf(oauth).has('id') && !membersOf(oauth).has('credentials')) {
    throw new PlatformError('jobRunner.invalidConfiguration', {
      reason:
        'its authorization refers to the OAuth broker (authorization.oauth_api.id), which this stack does not have; put the credentials into authorization.oauth_api.credentials',
    })
  }
}
