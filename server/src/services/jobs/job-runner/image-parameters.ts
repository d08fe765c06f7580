// What the operator gives a component beside its configuration (`image_parameters`, spec platform 1.3): opened for the
// run, hidden like every other secret, and cannot be revealed by a configuration.

import { visitScalarsBelowHash } from '../../../kit/text/json-text.ts'
import type { RunnableComponent, RunSecrets, SecretPlace } from '../../../model/run-ports.ts'
import { invalid } from './mapping/mapping.ts'
import type { RowPlan } from './run-configuration.ts'

export interface OpenedSecrets {
  /** JSON text, secrets in clear. */
  readonly text: string
  readonly values: readonly string[]
}

/** `#` values may be ciphers for the component, or clear: the description is a file of the stack. */
export async function openImageParameters(
  deps: { readonly secrets: RunSecrets },
  place: SecretPlace,
  { id, imageParameters }: RunnableComponent,
): Promise<OpenedSecrets> {
  const encrypt = await deps.secrets.encrypterOf(place.projectId)
  return deps.secrets.decrypt(
    { ...place, componentId: id, configurationId: undefined },
    encrypt(JSON.stringify(imageParameters), id),
  )
}

/**
 * A cipher for a component opens in every project. Copied into a configuration, into a field that the component sends somewhere, it
 * would reveal the secret to the author of that configuration.
 */
export function refuseSharedSecrets(values: readonly string[], { configuration }: Pick<RowPlan, 'configuration'>): void {
  const known = new Set(values)
  if (known.size === 0) return
  visitScalarsBelowHash(configuration, (literal, path) => {
    const value: unknown = JSON.parse(literal)
    if (typeof value === 'string' && known.has(value))
      throw invalid(`its "${path().join('.')}" has the value of a secret of the component, which a configuration cannot use`)
  })
}
