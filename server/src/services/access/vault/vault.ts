// Rules of vault variables. A clear value of an encrypted one is never kept, and never given out.

import { createHash } from 'node:crypto'
import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { createVaultStore, type VaultFlag, type VaultVariable } from './vault.store.ts'

export interface VaultDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  /** A cipher that opens anywhere in the project; one that is a cipher already stays. */
  readonly encrypt: (projectId: number, value: string) => Promise<string>
}

export interface VariableRequest {
  readonly key: string
  readonly value: string
  readonly flags: readonly VaultFlag[]
  readonly attributes: Readonly<Record<string, string>>
}

export type Vault = ReturnType<typeof createVault>

const MAX_VARIABLES = 1_000

export function createVault({ db, inTransaction, clock, encrypt }: VaultDeps) {
  const store = createVaultStore(db)

  async function save(actor: Actor, { key, value, flags, attributes }: VariableRequest): Promise<VaultVariable> {
    refuseStrangers(actor)
    const stored = flags.includes('encrypted') ? await encrypt(actor.projectId, value) : value
    const variable = { hash: hashOf(key, attributes), key, value: stored, flags: [...new Set(flags)], attributes }
    const all = await store.list(actor.projectId)
    if (all.length >= MAX_VARIABLES && !all.some(({ hash }) => hash === variable.hash))
      throw new PlatformError('vault.full', { limit: MAX_VARIABLES })
    await inTransaction((trx) => store.save(trx, actor.projectId, variable, clock.now().getTime()))
    return variable
  }

  async function list(actor: Actor): Promise<readonly VaultVariable[]> {
    refuseStrangers(actor)
    return store.list(actor.projectId)
  }

  async function remove(actor: Actor, hash: string): Promise<void> {
    refuseStrangers(actor)
    if (!(await inTransaction((trx) => store.remove(trx, actor.projectId, hash))))
      throw new PlatformError('vault.notFound', { hash: hash.slice(0, 80) })
  }

  /** What holds in a branch, one for each key: a variable of the branch itself wins over one of the project. */
  async function inBranch(projectId: number, branchId: number): Promise<readonly VaultVariable[]> {
    const found = new Map<string, VaultVariable>()
    for (const variable of await store.list(projectId)) {
      const { branchId: only } = variable.attributes
      if (only === String(branchId) || (only === undefined && !found.has(variable.key))) found.set(variable.key, variable)
    }
    return [...found.values()]
  }

  return {
    save,
    list,
    remove,
    listInBranch: (actor: Actor, branchId: number): Promise<readonly VaultVariable[]> => {
      refuseStrangers(actor)
      return inBranch(actor.projectId, branchId)
    },
    /** For runs: values by name. */
    valuesIn: async (projectId: number, branchId: number): Promise<ReadonlyMap<string, string>> =>
      new Map((await inBranch(projectId, branchId)).map(({ key, value }) => [key, value])),
  }
}

const hashOf = (key: string, attributes: Readonly<Record<string, string>>): string =>
  createHash('sha256')
    .update(JSON.stringify([key, Object.entries(attributes).sort()]))
    .digest('hex')

/** They reach every configuration of the project, so they require the right to change every configuration. */
function refuseStrangers(actor: Actor): void {
  if (!actor.isMasterToken && !actor.canManageBuckets) throw new PlatformError('accessDenied')
}
