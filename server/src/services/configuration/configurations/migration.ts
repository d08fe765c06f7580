// Moves a configuration with its rows into another project of this stack, secrets included (spec platform 4.1). It is the only
// way a secret changes its project: opened with the keys of the one, sealed with the keys of the other, never shown in between.
//  (1) it requires the master tokens of both projects; their holder can already run the component with these secrets;
//  (2) state stays behind, as with every copy.

import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, isAdmin } from '../../../model/actor.ts'
import { NO_ORIGIN, type Origin } from '../../../model/event.ts'
import { addressOf, existing, stampOf, usableComponent } from './access.ts'
import { configurationFromEvent, createRecordChange } from './change-events.ts'
import { insertWhole, type WholeContent, wholeVersion } from './configuration-with-rows.ts'
import type { ConfigurationsDeps, SecretBox } from './configurations.ts'
import { findConfiguration, lockConfiguration } from './records/configurations.store.ts'
import type { ConfigurationRecord } from './records/records.ts'

/** What this module needs of encryption to move a secret. */
export interface OpenableSecrets extends SecretBox {
  decrypt(
    text: string,
    context: { readonly componentId: string; readonly configurationId: string; readonly branchType: 'default' | 'dev' },
  ): { readonly text: string }
}

export interface MigrationDeps extends ConfigurationsDeps {
  readonly secretsOf: (projectId: number) => Promise<OpenableSecrets>
  readonly authenticate: (token: string) => Actor | undefined | Promise<Actor | undefined>
  readonly resolveBranch: (
    projectId: number,
    name: string,
  ) => Promise<{ readonly id: number; readonly isDefault: boolean } | undefined>
}

export interface MigrationOrder {
  readonly sourceToken: string
  readonly destinationToken: string
  readonly componentId: string
  readonly configurationId: string
  /** Of the source; the default branch of the destination receives. */
  readonly branch: string
  /** Looks at everything and writes nothing. */
  readonly dryRun: boolean
}

export type Migrate = (order: MigrationOrder, origin?: Origin) => Promise<void>

export function createMigration(deps: MigrationDeps): Migrate {
  const { db, inTransaction, components, secretsOf, recordEvent, clock, newId, authenticate, resolveBranch } = deps
  const recordChange = createRecordChange(recordEvent)

  async function callerFor(token: string, branchName: string, origin: Origin) {
    const actor = await authenticate(token)
    if (!actor) throw new PlatformError('storage.tokenInvalid')
    if (!isAdmin(actor)) throw new PlatformError('encryption.migrationNeedsMasterTokens')
    const branch = await resolveBranch(actor.projectId, branchName)
    if (!branch) throw new PlatformError('devBranch.notFound', { id: branchName.slice(0, 60) })
    return { actor, branch, origin }
  }

  return async (order, origin = NO_ORIGIN) => {
    const source = await callerFor(order.sourceToken, order.branch, origin)
    const destination = await callerFor(order.destinationToken, 'default', origin)
    const component = usableComponent(components, source.actor, order.componentId)
    const from = addressOf(source, component, order.configurationId)
    const record = existing(await findConfiguration(db, from), order.configurationId)
    const content = await wholeVersion(db, record, record.version)
    const [opened, sealed] = [await secretsOf(from.projectId), await secretsOf(destination.actor.projectId)]
    const context = {
      componentId: component,
      configurationId: order.configurationId,
      branchType: source.branch.isDefault ? ('default' as const) : ('dev' as const),
    }
    const moved = mapTexts(content, (text) => sealed.encrypt(opened.decrypt(text, context).text, component))
    const into = addressOf(destination, component, order.configurationId)
    await inTransaction(async (trx) => {
      if (await lockConfiguration(trx, into)) throw new PlatformError('configurationAlreadyExists', { id: into.configurationId })
      if (order.dryRun) return
      const words = `Migrated from project ${from.projectId} configuration "${record.name}" (${from.configurationId}) version ${record.version}`
      const stamp = stampOf(destination.actor, clock.now().getTime())
      const made: ConfigurationRecord = await insertWhole(trx, { ...into, listedAs: record.listedAs }, moved, {
        stamp,
        changeDescription: words,
        describeRow: () => words,
        newId,
      })
      await recordChange(trx, destination, configurationFromEvent('Copied', made, record))
    })
  }
}

const mapTexts = (content: WholeContent, change: (text: string) => string): WholeContent => ({
  ...content,
  configuration: change(content.configuration),
  rows: content.rows.map((row) => ({ ...row, configuration: change(row.configuration) })),
})
