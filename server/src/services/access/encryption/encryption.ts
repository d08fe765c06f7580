// Encryption of secrets: what other modules and the encrypt endpoint use. No HTTP operation returns a clear value.

import { PlatformError } from '../../../kit/errors.ts'
import { readJson } from '../../../kit/text/json-text.ts'
import type { KeyRing } from './key-ring.ts'
import type { Scope } from './scope.ts'
import { type Decrypted, decryptSecrets, decryptValue, encryptSecrets, encryptValue, type Scopes } from './secrets.ts'

/** Where a secret of a configuration is used. */
export interface SecretContext {
  readonly componentId: string
  readonly configurationId?: string | undefined
  readonly branchType?: 'default' | 'dev'
}

/** The secrets of one project, without waiting: for use inside a transaction. */
export interface ProjectSecrets {
  /** Encrypts clear `#` values of a JSON text for the project and component; see `encryptSecrets` for `previous`. */
  encrypt(text: string, componentId: string, previous?: string): string
  decrypt(text: string, context: SecretContext): Decrypted
}

export interface Encryption {
  secretsOf(projectId: number): Promise<ProjectSecrets>
  /** Opens the secrets of a configuration for a run of it. */
  decryptForRun(place: RunPlace, text: string): Promise<Decrypted>
  encrypterOf(projectId: number): Promise<(text: string, componentId: string) => string>
  /** The endpoint: `body` is JSON whose `#` values are encrypted, or a text that is encrypted whole. */
  encryptBody(body: string, isJson: boolean, scope: Scope): Promise<string>
  /** A text that `encryptBody` encrypted for the same scope; for secrets that other modules keep. */
  decryptBody(cipher: string, scope: Scope): Promise<string>
  /** The same for the project alone. */
  decryptForProject(projectId: number, cipher: string): Promise<string>
  rotate: KeyRing['rotate']
}

/** Where a configuration runs: what its secrets may be bound to. */
interface RunPlace {
  readonly projectId: number
  readonly componentId: string
  readonly configurationId: string | undefined
  readonly isDefaultBranch: boolean
}

export interface EncryptionDeps {
  readonly keyRing: KeyRing
  /** Every id of a component, its own first: they share their ciphers, also those made when another id was its own. */
  readonly componentNames: (id: string) => readonly string[]
}

export function createEncryption({ keyRing, componentNames }: EncryptionDeps): Encryption {
  const underEachName = (scope: Scope): Scopes => {
    if (scope.componentId === undefined) return [scope]
    const [own = scope.componentId, ...others] = componentNames(scope.componentId)
    return [{ ...scope, componentId: own }, ...others.map((componentId) => ({ ...scope, componentId }))]
  }

  async function secretsOf(projectId: number): Promise<ProjectSecrets> {
    const project = String(projectId)
    const keys = await keyRing.keysOf(project)
    return {
      encrypt: (text, componentId, previous) =>
        encryptSecrets(keys, underEachName({ componentId, projectId: project }), text, previous),
      decrypt: (text, { componentId, configurationId, branchType = 'default' }) =>
        decryptSecrets(keys, underEachName({ componentId, projectId: project, configId: configurationId, branchType }), text),
    }
  }

  async function encryptBody(body: string, isJson: boolean, given: Scope): Promise<string> {
    const scopes = underEachName(given)
    const [scope] = scopes
    const keys = await keyRing.keysOf(scope.projectId)
    if (!isJson) return encryptValue(keys, scope, body)
    const read = readJson(body)
    if (!read.ok) throw new PlatformError('malformedRequest', { reason: `the body cannot be used because ${read.reason}.` })
    const whole: unknown = /^\s*"/.test(body) ? JSON.parse(body) : undefined
    // A JSON text on its own is one secret, as a plain text is: sent back as it came it would look encrypted and not be.
    if (typeof whole === 'string') return JSON.stringify(encryptValue(keys, scope, whole))
    encryptValue(keys, scope, '') // a wrong scope is refused also when nothing is there to encrypt
    return encryptSecrets(keys, scopes, body)
  }

  async function decryptForRun({ projectId, componentId, configurationId, isDefaultBranch }: RunPlace, text: string) {
    const secrets = await secretsOf(projectId)
    return secrets.decrypt(text, { componentId, configurationId, branchType: isDefaultBranch ? 'default' : 'dev' })
  }

  async function encrypterOf(projectId: number) {
    const secrets = await secretsOf(projectId)
    return (text: string, componentId: string) => secrets.encrypt(text, componentId)
  }

  async function decryptBody(cipher: string, scope: Scope): Promise<string> {
    const clear = decryptValue(await keyRing.keysOf(scope.projectId), underEachName(scope), cipher)
    if (clear === undefined) throw new PlatformError('encryption.foreignCipher', { path: '' })
    return clear
  }

  const decryptForProject = (projectId: number, cipher: string): Promise<string> =>
    decryptBody(cipher, { projectId: String(projectId) })

  return { secretsOf, decryptForRun, encrypterOf, encryptBody, decryptBody, decryptForProject, rotate: keyRing.rotate }
}
