// Data contracts of tables: the text as it was imported, and what a load is tested for because of it. Kept by the id of the table, like
// tests; a branch has the contracts of the default branch unless it has its own.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { creatorTokenOf, tablePermissionOf } from '../../../model/actor.ts'
import { type EventSource, eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import { type Contract, draftOf, readContract, testsOf } from './contract-rules.ts'
import { type ContractRecord, createContractsStore } from './data-contracts.store.ts'
import type { TestPlace } from './data-tests.store.ts'
import { readerOfProject } from './data-tests.ts'
import type { DataTest, Outcome } from './run-tests.ts'
import type { TestRule } from './test-rules.ts'

export interface ContractsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly placeOf: (scope: Scope) => Promise<TestPlace>
  readonly checkRule: (scope: Scope, tableId: string, rule: TestRule) => Promise<void>
  /** Also checks whether the caller may read the table. */
  readonly readSnapshot: (scope: Scope, tableId: string) => Promise<TableSnapshot>
  /** Only in the branch of the scope; undefined if the branch has no such table. */
  readonly readOwnSnapshot: (scope: Scope, tableId: string) => Promise<TableSnapshot | undefined>
  /** The readers of a table, by lineage. */
  readonly usedBy: (scope: Scope, tableId: string) => Promise<Record<string, unknown>[]>
  /** Tests of a table over its current state. */
  readonly runOn: (scope: Scope, tableId: string, tests: readonly DataTest[], snapshot: TableSnapshot) => Promise<Outcome>
}

export interface ContractView {
  readonly tableId: string
  readonly contract: string
  /** Made from the table: none was imported. */
  readonly isDraft: boolean
  readonly isOfDefaultBranch: boolean
  readonly checks: { name: string; type: string; severity: string }[]
  readonly notChecked: string[]
  readonly updated: string | null
}

export type Contracts = ReturnType<typeof createContracts>

export function createContracts(deps: ContractsDeps) {
  const { db, inTransaction, clock, recordEvent, placeOf, readSnapshot } = deps
  const store = createContractsStore(db)

  /** Virtual tests: their ids are below zero, so that they are no ids of tests. */
  function asTests(contract: Contract, snapshot: TableSnapshot): DataTest[] {
    return testsOf(contract, snapshot).map((one, i) => ({ ...one, id: -1 - i }))
  }

  async function testsFor(place: TestPlace, tableId: string, snapshot: TableSnapshot): Promise<readonly DataTest[]> {
    const found = await store.find(place, tableId)
    return found ? asTests(readContract(found.text, tableId), snapshot) : []
  }

  async function get(scope: Scope, tableId: string): Promise<ContractView> {
    const snapshot = await readSnapshot(scope, tableId)
    const found = await store.find(await placeOf(scope), tableId)
    const text = found?.text ?? draftOf(tableId, snapshot)
    return viewOf(tableId, text, snapshot, found, scope)
  }

  /** A contract that the table breaks already is refused, unless the caller requests it: then the next load has to fulfil it. */
  async function save(scope: Scope, tableId: string, text: string, isForced: boolean, origin: Origin): Promise<ContractView> {
    requireWrite(scope, tableId)
    const snapshot = await readSnapshot(scope, tableId)
    const contract = readContract(text, tableId)
    const tests = asTests(contract, snapshot)
    for (const { rule } of tests) if (rule.type === 'sql' || rule.type === 'pattern') await deps.checkRule(scope, tableId, rule)
    if (!isForced) {
      const { results } = await deps.runOn(scope, tableId, tests, snapshot)
      const broken = results.filter(({ status, severity }) => status !== 'passed' && severity === 'stop')
      if (broken.length > 0)
        throw new PlatformError('storage.contracts.contradicts', {
          table: tableId,
          reason: broken
            .slice(0, 5)
            .map(({ message }) => message)
            .join(' ')
            .slice(0, 1000),
        })
    }
    const now = clock.now()
    const record: ContractRecord = {
      ...{ projectId: scope.actor.projectId, branchId: scope.branch.id, tableId, text },
      ...{ creator: creatorTokenOf(scope.actor), createdAt: now, updatedAt: now },
    }
    await inTransaction(async (trx) => {
      await store.save(trx, record)
      await recordEvent(trx, scope.actor, contractEvent('storage.dataContractSaved', record), origin)
    })
    return viewOf(tableId, text, snapshot, record, scope)
  }

  async function remove(scope: Scope, tableId: string, origin: Origin): Promise<void> {
    requireWrite(scope, tableId)
    const { projectId } = scope.actor
    await inTransaction(async (trx) => {
      if (!(await store.remove(trx, projectId, scope.branch.id, tableId)))
        throw new PlatformError('storage.contracts.notFound', { table: tableId })
      const place = { projectId, branchId: scope.branch.id, tableId }
      await recordEvent(trx, scope.actor, contractEvent('storage.dataContractDeleted', place), origin)
    })
  }

  /** Tables of the branch that break a contract of the default branch, with who uses them: what a merge would bring. */
  async function breaks(scope: Scope) {
    const { defaultBranchId } = await placeOf(scope)
    const contracts = await store.list(scope.actor.projectId, defaultBranchId)
    const home: Scope = { ...scope, branch: { id: defaultBranchId, isDefault: true } }
    const found = []
    for (const { tableId, text } of contracts) {
      if (tablePermissionOf(scope.actor, tableId) === undefined) continue
      const snapshot = await deps.readOwnSnapshot(scope, tableId)
      if (!snapshot) continue
      const { results } = await deps.runOn(scope, tableId, asTests(readContract(text, tableId), snapshot), snapshot)
      const problems = results.flatMap(({ status, name, severity, message }) =>
        status === 'passed' ? [] : [{ name, severity, message: message ?? '' }],
      )
      if (problems.length > 0) found.push({ tableId, problems, usedBy: await deps.usedBy(home, tableId).catch(() => []) })
    }
    return found
  }

  /** Refuses a merge of a branch whose tables break contracts that the default branch has. */
  async function checkMerge(source: EventSource, branchId: number): Promise<void> {
    const found = await breaks({ actor: readerOfProject(source), branch: { id: branchId, isDefault: false } })
    const stopping = found.filter(({ problems }) => problems.some(({ severity }) => severity === 'stop'))
    if (stopping.length === 0) return
    const texts = stopping.slice(0, 5).map(({ tableId, problems, usedBy }) => {
      const users = usedBy.length === 0 ? '' : ` (used by ${usedBy.length} configurations)`
      return `${tableId}${users}: ${problems[0]?.message.replace(/\.$/, '') ?? ''}`
    })
    throw new PlatformError(
      'storage.contracts.mergeBreaks',
      { tables: texts.join('; ').slice(0, 1500) },
      { params: { breaks: stopping } },
    )
  }

  function viewOf(
    tableId: string,
    text: string,
    snapshot: TableSnapshot,
    record: ContractRecord | undefined,
    { branch }: Scope,
  ): ContractView {
    const contract = readContract(text, tableId)
    return {
      tableId,
      contract: text,
      isDraft: record === undefined,
      isOfDefaultBranch: record !== undefined && record.branchId !== branch.id,
      checks: testsOf(contract, snapshot).map(({ name, rule, severity }) => ({ name, type: rule.type, severity })),
      notChecked: [...contract.notChecked],
      updated: record?.updatedAt.toISOString() ?? null,
    }
  }

  return { get, save, remove, breaks, checkMerge, testsFor, store }
}

function requireWrite({ actor }: Scope, tableId: string): void {
  const permission = tablePermissionOf(actor, tableId)
  if (permission !== 'write' && permission !== 'manage') throw new PlatformError('accessDenied')
}

export const contractEvent = (
  event: 'storage.dataContractSaved' | 'storage.dataContractDeleted',
  { tableId, branchId }: Pick<ContractRecord, 'tableId' | 'branchId'>,
) => eventOf(event, {}, { objectId: tableId, objectName: tableId, branchId })
