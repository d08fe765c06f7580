// Data tests and contracts of a proposal: they are kept in its branch, and become those of the default branch when it is accepted. By the
// id of their table and their name, as everywhere: the ids of tests differ between branches.

import { isDeepStrictEqual } from 'node:util'
import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type EventSource, NO_ORIGIN, type RecordEvent } from '../../../model/event.ts'
import type { AppliedStorageChange, ProposalPlace, StorageChange } from '../../../model/hooks.ts'
import { type Contracts, contractEvent } from './data-contracts.ts'
import type { DataTestRecord, DataTestsStore } from './data-tests.store.ts'
import { checkCount, nameTaken, testEvent } from './data-tests.ts'

export interface ProposedTestsDeps {
  readonly db: Db
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly tests: DataTestsStore
  readonly contracts: Contracts['store']
}

type Definition = Pick<DataTestRecord, 'description' | 'rule' | 'severity' | 'isEnabled'>

/** What a test requires, without where and when it was written. */
const definitionOf = ({ description, rule, severity, isEnabled }: DataTestRecord): Definition => ({
  ...{ description, rule, severity, isEnabled },
})

export function createProposedTests({ db, clock, recordEvent, tests, contracts }: ProposedTestsDeps) {
  /** Tests of the branch that differ from those of the default branch, with the one that each replaces. */
  async function changedTests(from: Db, { projectId, branchId, branchIntoId }: ProposalPlace) {
    const found: { readonly own: DataTestRecord; readonly home: DataTestRecord | undefined }[] = []
    for (const own of await tests.ofBranch(from, projectId, branchId)) {
      const home = await tests.findNamed(from, projectId, branchIntoId, own)
      if (!home || !isDeepStrictEqual(definitionOf(own), definitionOf(home))) found.push({ own, home })
    }
    return found
  }

  async function changedContracts(from: Db, { projectId, branchId, branchIntoId }: ProposalPlace) {
    const homes = new Map((await contracts.list(projectId, branchIntoId, from)).map((one) => [one.tableId, one]))
    return (await contracts.list(projectId, branchId, from)).flatMap((own) => {
      const home = homes.get(own.tableId)
      return own.text === home?.text ? [] : [{ own, home }]
    })
  }

  async function list(place: ProposalPlace): Promise<StorageChange[]> {
    const changed = (await changedTests(db, place)).map(({ own, home }) => ({
      ...{ kind: 'dataTest' as const, tableId: own.tableId, name: own.name },
      ...{ before: home && definitionOf(home), after: definitionOf(own), isConflict: home?.rule.type === 'dbt' },
    }))
    const agreed = (await changedContracts(db, place)).map(({ own, home }) => ({
      ...{ kind: 'dataContract' as const, tableId: own.tableId, name: own.tableId },
      ...{ before: home && { contract: home.text }, after: { contract: own.text }, isConflict: false },
    }))
    return [...changed, ...agreed]
  }

  async function apply(trx: Trx, source: EventSource, place: ProposalPlace): Promise<AppliedStorageChange[]> {
    const applied: AppliedStorageChange[] = []
    const { projectId, branchIntoId: branchId } = place
    const now = clock.now()
    for (const { own, home } of await changedTests(trx, place)) {
      const { tableId, name } = own
      if (home?.rule.type === 'dbt') throw new PlatformError('storage.dataTests.alreadyExists', { name, table: tableId })
      if (home) await write(trx, source, { ...home, ...definitionOf(own), updatedAt: now })
      else {
        checkCount(await tests.count(trx, projectId, branchId, tableId), tableId)
        const { id: _, ...test } = own
        const created = await tests
          .insert(trx, { ...test, branchId, createdAt: now, updatedAt: now })
          .catch(nameTaken(name, tableId))
        await recordEvent(trx, source, testEvent('storage.dataTestCreated', created), NO_ORIGIN)
      }
      const replaced = home ? definitionOf(home) : null
      applied.push({ kind: 'dataTest', tableId, name, replaced, applied: definitionOf(own) })
    }
    for (const { own, home } of await changedContracts(trx, place)) {
      const { tableId } = own
      const agreed = { ...own, branchId, createdAt: now, updatedAt: now }
      await contracts.save(trx, agreed)
      await recordEvent(trx, source, contractEvent('storage.dataContractSaved', agreed), NO_ORIGIN)
      applied.push({ kind: 'dataContract', tableId, name: tableId, replaced: home?.text ?? null, applied: own.text })
    }
    return applied
  }

  async function write(trx: Trx, source: EventSource, test: DataTestRecord): Promise<void> {
    await tests.update(trx, test)
    await recordEvent(trx, source, testEvent('storage.dataTestUpdated', test), NO_ORIGIN)
  }

  /** What was deleted since is left as it is, if it did not exist before. */
  async function undo(
    trx: Trx,
    source: EventSource,
    { id, branchIntoId }: { readonly id: number; readonly branchIntoId: number },
    all: readonly AppliedStorageChange[],
  ): Promise<void> {
    for (const one of all) {
      const { tableId, name } = one
      if (one.kind === 'dataTest') {
        const replaced = one.replaced as Definition | null // as `apply` wrote them
        const test = await tests.findNamed(trx, source.projectId, branchIntoId, { tableId, name })
        if (!test && !replaced) continue
        if (!test || !isDeepStrictEqual(definitionOf(test), one.applied))
          throw new PlatformError('proposals.storageChangedSince', { what: `data test "${name}"`, table: tableId, id })
        if (replaced) await write(trx, source, { ...test, ...replaced, updatedAt: clock.now() })
        else {
          await tests.remove(trx, source.projectId, test.id)
          await recordEvent(trx, source, testEvent('storage.dataTestDeleted', test), NO_ORIGIN)
        }
      } else if (one.kind === 'dataContract')
        await undoContract(trx, source, { id, branchId: branchIntoId, tableId, replaced: one.replaced, applied: one.applied })
    }
  }

  async function undoContract(
    trx: Trx,
    source: EventSource,
    place: {
      readonly id: number
      readonly branchId: number
      readonly tableId: string
      readonly replaced: unknown
      readonly applied: unknown
    },
  ): Promise<void> {
    const { id, branchId, tableId, replaced } = place
    const now = (await contracts.list(source.projectId, branchId, trx)).find((one) => one.tableId === tableId)
    if (!now && replaced === null) return
    if (!now || now.text !== place.applied)
      throw new PlatformError('proposals.storageChangedSince', { what: 'contract', table: tableId, id })
    if (typeof replaced === 'string') {
      await contracts.save(trx, { ...now, text: replaced, updatedAt: clock.now() })
      await recordEvent(trx, source, contractEvent('storage.dataContractSaved', now), NO_ORIGIN)
    } else {
      await contracts.remove(trx, source.projectId, branchId, tableId)
      await recordEvent(trx, source, contractEvent('storage.dataContractDeleted', now), NO_ORIGIN)
    }
  }

  return { list, apply, undo }
}
