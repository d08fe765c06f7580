// The workspace of a configuration, open for one of its runs.

import { saveText } from '../../../engines/sql/database-files.ts'
import type { SqlSession } from '../../../engines/sql/sql-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { ColumnOrigin } from '../../../model/lineage.ts'
import type { RunScope, RunWorkspace, RunWorkspaces, WorkspaceRelation } from '../../../model/run-ports.ts'
import type { Scope } from '../../../model/scope.ts'
import { identifier } from '../../../model/sql-columns.ts'

export interface RunWorkspacesDeps<W extends { readonly id: number }> {
  readonly find: (scope: Scope, of: { readonly componentId: string; readonly configurationId: string }) => Promise<W | undefined>
  /** Whether the caller may read everything that is built in it. */
  readonly mayUse: (actor: Actor, workspace: W) => boolean
  readonly create: (
    scope: Scope,
    of: { readonly componentId: string; readonly configurationId: string } | undefined,
  ) => Promise<W>
  readonly remove: (workspace: W) => Promise<void>
  readonly use: <T>(
    scope: Scope,
    workspace: W,
    work: (open: { readonly session: SqlSession; readonly signal: AbortSignal }) => Promise<T>,
    options: { readonly signal: AbortSignal },
  ) => Promise<T>
  readonly connect: (scope: Scope, workspace: W) => Promise<RunWorkspace['connection'] & { close(): void }>
  readonly listTables: (scope: Scope) => Promise<readonly { readonly schema: string; readonly name: string }[]>
  readonly traceRelations: (
    session: SqlSession,
    relations: Parameters<RunWorkspace['trace']>[0],
  ) => Promise<ReadonlyMap<string, readonly ColumnOrigin[]>>
}

export function createRunWorkspaces<W extends { readonly id: number }>(deps: RunWorkspacesDeps<W>): RunWorkspaces {
  async function open(run: RunScope, componentId: string, configurationId: string | null): Promise<RunWorkspace> {
    const scope: Scope = { actor: run.actor, branch: { id: run.branchId, isDefault: run.isDefaultBranch } }
    const of = configurationId === null ? undefined : { componentId, configurationId }
    const shared = of && (await deps.find(scope, of))
    if (shared && !deps.mayUse(run.actor, shared)) throw new PlatformError('workspace.ofOtherToken', { id: shared.id })
    const workspace = shared ?? (await deps.create(scope, of))
    const { close, ...connection } = await deps.connect(scope, workspace)

    async function restore(bucketId: string, schema: string, signal: AbortSignal): Promise<readonly string[]> {
      const tables = (await deps.listTables(scope)).filter((table) => table.schema === bucketId)
      return deps.use(
        scope,
        workspace,
        async ({ session, signal: either }) => {
          await session.execute(`CREATE SCHEMA IF NOT EXISTS ${identifier(schema)}`, { signal: either })
          for (const { name } of tables)
            await session.execute(
              `CREATE TABLE IF NOT EXISTS ${nameOf({ schema, name })} AS FROM ${nameOf({ schema: bucketId, name })}`,
              { signal: either },
            )
          return tables.map(({ name }) => name)
        },
        { signal },
      )
    }

    return {
      id: workspace.id,
      connection,
      restore,
      save: (relation, path, wanted, signal) =>
        deps.use(
          scope,
          workspace,
          async ({ session, signal: either }) => {
            const { columns } = await session.describe(`FROM ${nameOf(relation)}`)
            const own = new Set(columns.map(({ name }) => name.toLowerCase()))
            const absent = wanted.filter((name) => !own.has(name.toLowerCase()))
            const nulls = absent.map((name) => `, NULL AS ${identifier(name)}`).join('')
            const { bytes } = await session.copy(`SELECT *${nulls} FROM ${nameOf(relation)}`, 'csv', { signal: either })
            await saveText(path, bytes)
            return { columns: columns.map(({ name, type }) => ({ name, type })), absent }
          },
          { signal },
        ),
      trace: (relations, signal) =>
        deps.use(scope, workspace, ({ session }) => deps.traceRelations(session, relations), { signal }),
      close: async () => {
        close()
        if (!of) await deps.remove(workspace)
      },
    }
  }

  return { open }
}

const nameOf = ({ schema, name }: WorkspaceRelation): string => `${identifier(schema)}.${identifier(name)}`
