// Actions that only turn what they are given into something else. They reach no other system, so tokens that only propose may use them.

const OFFLINE: Readonly<Record<string, readonly string[]>> = {
  'keboola.ex-generic-v2': ['curlToConfig', 'openapiToConfig', 'harToConfig'],
  'platform.ex-manifest': ['manifestToConfig', 'configToManifest', 'catalogue', 'connector'],
}

const VAULT = /\{\{\s*vault\./

/**
 * The catalogue is that of the stack unless the parameters name another one, and a connector is one of its names unless it is a URL. Values
 * of the vault are for runs.
 */
export function isOfflineAction(componentId: string, action: string, configData: string): boolean {
  if (!OFFLINE[componentId]?.includes(action) || VAULT.test(configData)) return false
  if (action !== 'catalogue' && action !== 'connector') return true
  const { parameters } = JSON.parse(configData) as { parameters?: unknown } // an object: the route has checked it
  const { name = '', ...others } = (parameters ?? {}) as { name?: unknown } // an empty object where it is none
  return typeof name === 'string' && /^[\w.-]*$/.test(name) && Object.keys(others).length === 0
}
