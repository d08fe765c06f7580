// The tables of template instances and their tasks.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'

interface TemplateTables {
  template_instance: {
    id: Generated<number>
    project_id: number
    branch_id: number
    instance_id: string
    name: string
    repository: string
    template_id: string
    version: string
    steps: string
    configurations: string
    main_configuration: string | null
    created_at: number
    created_by: string
    updated_at: number
    updated_by: string
  }
  template_task: { task_id: string; project_id: number; content: string; created_at: number }
}

/** How long the outcome of a task can be requested. */
const TASK_KEPT_MS = 7 * 86_400_000

interface Stamp {
  readonly at: number
  readonly tokenId: number
}

/** A configuration that an instance made. */
export interface MadeConfiguration {
  /** In the template. */
  readonly id: string
  readonly componentId: string
  readonly configurationId: string
  readonly name: string
}

export interface InstanceKey {
  readonly projectId: number
  readonly branchId: number
  readonly instanceId: string
}

export interface InstanceRecord extends InstanceKey {
  readonly name: string
  readonly repository: string
  readonly templateId: string
  readonly version: string
  /** Cipher of what was filled in. */
  readonly steps: string
  readonly configurations: readonly MadeConfiguration[]
  /** Id of the configuration in the template that people look at first. */
  readonly mainConfiguration: string | null
  readonly created: Stamp
  readonly updated: Stamp
}

export type TemplatesStore = ReturnType<typeof createTemplatesStore>

export function createTemplatesStore(database: Db) {
  const db = withTables<TemplateTables>(database)
  const tablesOf = (trx: Trx) => withTables<TemplateTables>(trx)

  return {
    async list(projectId: number, branchId: number): Promise<readonly InstanceRecord[]> {
      const rows = await db
        .selectFrom('template_instance')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .orderBy('id')
        .execute()
      return rows.map(toInstance)
    },

    async find({ projectId, branchId, instanceId }: InstanceKey): Promise<InstanceRecord | undefined> {
      const row = await db
        .selectFrom('template_instance')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('instance_id', '=', instanceId)
        .executeTakeFirst()
      return row && toInstance(row)
    },

    async save(trx: Trx, record: InstanceRecord): Promise<void> {
      const changed = {
        name: record.name,
        version: record.version,
        steps: record.steps,
        configurations: JSON.stringify(record.configurations),
        main_configuration: record.mainConfiguration,
        updated_at: record.updated.at,
        updated_by: String(record.updated.tokenId),
      }
      await tablesOf(trx)
        .insertInto('template_instance')
        .values({
          project_id: record.projectId,
          branch_id: record.branchId,
          instance_id: record.instanceId,
          repository: record.repository,
          template_id: record.templateId,
          created_at: record.created.at,
          created_by: String(record.created.tokenId),
          ...changed,
        })
        .onConflict((conflict) => conflict.columns(['project_id', 'branch_id', 'instance_id']).doUpdateSet(changed))
        .execute()
    },

    async remove(trx: Trx, { projectId, branchId, instanceId }: InstanceKey): Promise<boolean> {
      const removed = await tablesOf(trx)
        .deleteFrom('template_instance')
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('instance_id', '=', instanceId)
        .returning('id')
        .executeTakeFirst()
      return removed !== undefined
    },

    /** Expired ones of the project are deleted with it. */
    async saveTask(trx: Trx, projectId: number, taskId: string, content: object, now: number): Promise<void> {
      await tablesOf(trx)
        .deleteFrom('template_task')
        .where('project_id', '=', projectId)
        .where('created_at', '<', now - TASK_KEPT_MS)
        .execute()
      await tablesOf(trx)
        .insertInto('template_task')
        .values({ project_id: projectId, task_id: taskId, content: JSON.stringify(content), created_at: now })
        .execute()
    },

    async findTask<T>(projectId: number, taskId: string): Promise<T | undefined> {
      const row = await db
        .selectFrom('template_task')
        .select('content')
        .where('project_id', '=', projectId)
        .where('task_id', '=', taskId)
        .executeTakeFirst()
      return row && readStored<T>(row.content)
    },
  }
}

const toInstance = (row: Selectable<TemplateTables['template_instance']>): InstanceRecord => ({
  projectId: row.project_id,
  branchId: row.branch_id,
  instanceId: row.instance_id,
  name: row.name,
  repository: row.repository,
  templateId: row.template_id,
  version: row.version,
  steps: row.steps,
  configurations: readStored<MadeConfiguration[]>(row.configurations),
  mainConfiguration: row.main_configuration,
  created: { at: row.created_at, tokenId: Number(row.created_by) },
  updated: { at: row.updated_at, tokenId: Number(row.updated_by) },
})
