// Files and their tags in the metadata database. Every function takes the project; the sweep alone looks across projects.

import { type Expression, type ExpressionBuilder, type Generated, type Selectable, type SqlBool, sql } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { contains } from '../../../engines/metadata-db/like.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'
import type { FileProvider } from '../../../model/file-provider.ts'
import type { FileQuery } from './file-query.ts'

/**
 * reserved: an id and a key, not yet visible; becomes visible or is swept.
 * visible:  the file of the API, whether or not its bytes have arrived.
 * expired:  past its age; the list shows it on request. Its bytes are removed, again and again while credentials could write them.
 * swept:    expired for so long that its bytes are gone for good.
 * deleted:  invisible; kept until no credentials for its key can be valid any more.
 */
export type FileState = 'reserved' | 'visible' | 'expired' | 'swept' | 'deleted'

interface Tables {
  file: {
    id: Generated<number>
    project_id: number
    state: FileState
    name: string
    object_key: string
    content_type: string | null
    size_bytes: number | null
    is_size_confirmed: number
    is_public: number
    is_sliced: number
    is_encrypted: number
    provider: FileProvider
    notify: number
    max_age_days: number | null
    run_id: string | null
    more_run_ids: Generated<string>
    branch_id: number | null
    reader_token_ids: Generated<string>
    creator_token_id: number
    creator_description: string
    created_at: number
    expires_at: number | null
    state_changed_at: number
  }
  file_tag: { id: Generated<number>; project_id: number; file_id: number; tag: string }
}

export interface FileRecord {
  readonly id: number
  readonly projectId: number
  readonly state: FileState
  readonly name: string
  readonly key: string
  readonly contentType: string | undefined
  /** What the client announced until the bytes were seen, then what they are. */
  readonly sizeBytes: number | undefined
  readonly isSizeConfirmed: boolean
  readonly isPublic: boolean
  readonly isSliced: boolean
  readonly isEncrypted: boolean
  /** Of the project when the file was made; it stays, because its manifest is written for it. */
  readonly provider: FileProvider
  readonly notify: boolean
  readonly maxAgeDays: number | null
  readonly runId: string | null
  /** Runs that were given it again. */
  readonly moreRunIds: readonly string[]
  readonly creatorToken: { readonly id: number; readonly description: string }
  /** The development branch it belongs to; null: the default one. */
  readonly branchId: number | null
  /** Tokens that may read it besides its creator, because they could have made it. */
  readonly readerTokenIds: readonly number[]
  readonly createdAt: Date
  readonly expiresAt: Date | undefined
  readonly stateChangedAt: Date
  readonly tags: readonly string[]
}

export type NewFile = Omit<FileRecord, 'id' | 'key' | 'stateChangedAt' | 'moreRunIds' | 'readerTokenIds'>

export interface FileFilter {
  readonly limit: number
  readonly offset: number
  /** Files with any of these. */
  readonly tags: readonly string[]
  readonly query?: FileQuery
  readonly sinceId?: number
  readonly maxId?: number
  readonly isPublic?: boolean
  readonly runId?: string
  readonly creatorTokenId?: number
  /** Only of this branch; null is the default one. Absent: of any. */
  readonly branchId?: number | null
  readonly showExpired: boolean
  readonly now: Date
}

const insertFile = statement((db, row: ReturnType<typeof toRow>) =>
  withTables<Tables>(db).insertInto('file').values(row).returning('id'),
)

const setKey = statement((db, { projectId, id, key }: { projectId: number; id: number; key: string }) =>
  withTables<Tables>(db).updateTable('file').set({ object_key: key }).where('project_id', '=', projectId).where('id', '=', id),
)

const fileAt = statement((db, { projectId, id }: { projectId: number; id: number }) =>
  withTables<Tables>(db).selectFrom('file').selectAll().where('project_id', '=', projectId).where('id', '=', id),
)

export function createFilesStore(database: Db) {
  const db = withTables<Tables>(database)

  async function withTags(rows: readonly Selectable<Tables['file']>[]): Promise<FileRecord[]> {
    if (rows.length === 0) return []
    const ids = rows.map((row) => row.id)
    const tags = await db.selectFrom('file_tag').select(['file_id', 'tag']).where('file_id', 'in', ids).orderBy('id').execute()
    const byFile = Map.groupBy(tags, (tag) => tag.file_id)
    return rows.map((row) =>
      toRecord(
        row,
        (byFile.get(row.id) ?? []).map((tag) => tag.tag),
      ),
    )
  }

  async function addTags(trx: Trx, projectId: number, id: number, tags: readonly string[]): Promise<void> {
    await withTables<Tables>(trx)
      .insertInto('file_tag')
      .values(tags.map((tag) => ({ project_id: projectId, file_id: id, tag })))
      .onConflict((c) => c.columns(['file_id', 'tag']).doNothing())
      .execute()
  }

  return {
    /** The key depends on the id, so the row is written first with an empty one; it is invisible before the transaction ends. */
    async insert(trx: Trx, file: NewFile, keyOf: (id: number) => string): Promise<FileRecord> {
      const [inserted] = await insertFile(trx, toRow(file))
      const { id } = inserted! // one row in, one row out
      const key = keyOf(id)
      await setKey(trx, { projectId: file.projectId, id, key })
      const tags = [...new Set(file.tags)]
      if (tags.length > 0) await addTags(trx, file.projectId, id, tags)
      return { ...file, id, key, tags, moreRunIds: [], readerTokenIds: [], stateChangedAt: file.createdAt }
    },

    async find(projectId: number, id: number): Promise<FileRecord | undefined> {
      return (await withTags(await fileAt(database, { projectId, id })))[0]
    },

    /** Files by a part of their name, newest first; of one token when it may not see all. */
    listContaining: (projectId: number, tokenId: number | undefined, text: string, limit: number, now: Date) =>
      db
        .selectFrom('file')
        .select(['id', 'name'])
        .where('project_id', '=', projectId)
        .where('state', '=', 'visible')
        .where('branch_id', 'is', null)
        .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now.getTime())]))
        .where((e) => contains(database, e.ref('name'), text))
        .$if(tokenId !== undefined, (query) => query.where('creator_token_id', '=', tokenId!)) // set, by the line itself
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),

    async list(projectId: number, filter: FileFilter): Promise<FileRecord[]> {
      let query = db
        .selectFrom('file')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('state', 'in', filter.showExpired ? ['visible', 'expired', 'swept'] : ['visible'])
        .orderBy('id', 'desc')
        .limit(filter.limit)
        .offset(filter.offset)
      if (!filter.showExpired)
        query = query.where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', filter.now.getTime())]))
      if (filter.tags.length > 0)
        query = query.where('id', 'in', (e) =>
          e.selectFrom('file_tag').select('file_id').where('project_id', '=', projectId).where('tag', 'in', filter.tags),
        )
      if (filter.sinceId !== undefined) query = query.where('id', '>', filter.sinceId)
      if (filter.maxId !== undefined) query = query.where('id', '<', filter.maxId)
      const { runId, isPublic } = filter
      if (isPublic !== undefined) query = query.where('is_public', '=', bit(isPublic))
      if (runId !== undefined)
        query = query.where((e) =>
          e.or([
            e('run_id', '=', runId),
            sql<SqlBool>`more_run_ids like ${`%${escapeLike(JSON.stringify(runId), false)}%`} escape '\\'`,
          ]),
        )
      if (filter.creatorTokenId !== undefined) query = query.where('creator_token_id', '=', filter.creatorTokenId)
      if (filter.branchId !== undefined) query = query.where('branch_id', filter.branchId === null ? 'is' : '=', filter.branchId)
      const { query: wanted } = filter
      if (wanted) query = query.where((e) => condition(e, wanted))
      return withTags(await query.execute())
    },

    /** The runs and tokens it is given to again: lists that only grow, also when several are given it at once. */
    async changeGivenTo(
      trx: Trx,
      projectId: number,
      id: number,
      change: (before: Pick<FileRecord, 'moreRunIds' | 'readerTokenIds'>) => Pick<FileRecord, 'moreRunIds' | 'readerTokenIds'>,
    ): Promise<void> {
      const update = () => withTables<Tables>(trx).updateTable('file').where('project_id', '=', projectId).where('id', '=', id)
      // Changes nothing, but holds the row until the transaction ends.
      const held = await update()
        .set((e) => ({ reader_token_ids: e.ref('reader_token_ids') }))
        .returningAll()
        .executeTakeFirst()
      if (!held) return
      const { moreRunIds, readerTokenIds } = change(toRecord(held, []))
      await update()
        .set({ more_run_ids: JSON.stringify(moreRunIds), reader_token_ids: JSON.stringify(readerTokenIds) })
        .execute()
    },

    /** Whether there was such a file in such a state. */
    async changeState(
      trx: Trx,
      { projectId, id }: Pick<FileRecord, 'projectId' | 'id'>,
      from: readonly FileState[],
      to: FileState,
      at: Date,
    ): Promise<boolean> {
      const result = await withTables<Tables>(trx)
        .updateTable('file')
        .set({ state: to, state_changed_at: at.getTime() })
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .where('state', 'in', from)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    /** Updates the attributes of a reserved file. */
    async describe(trx: Trx, file: FileRecord): Promise<void> {
      const tables = withTables<Tables>(trx)
      await tables
        .updateTable('file')
        .set({
          name: file.name,
          object_key: file.key,
          is_public: bit(file.isPublic),
          is_encrypted: bit(file.isEncrypted),
          notify: bit(file.notify),
          max_age_days: file.maxAgeDays,
          expires_at: file.expiresAt?.getTime() ?? null,
          branch_id: file.branchId,
        })
        .where('project_id', '=', file.projectId)
        .where('id', '=', file.id)
        .execute()
      if (file.tags.length > 0) await addTags(trx, file.projectId, file.id, file.tags)
    },

    async confirmSize(database: Db, projectId: number, id: number, sizeBytes: number): Promise<void> {
      await withTables<Tables>(database)
        .updateTable('file')
        .set({ size_bytes: sizeBytes, is_size_confirmed: 1 })
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .execute()
    },

    addTags,

    /** Does nothing to a file that is gone. */
    async tagPresent(trx: Trx, projectId: number, id: number, tags: readonly string[]): Promise<void> {
      for (const tag of tags) {
        await withTables<Tables>(trx)
          .insertInto('file_tag')
          .columns(['project_id', 'file_id', 'tag'])
          .expression((e) =>
            e
              .selectFrom('file')
              .select(['project_id', 'id', sql<string>`cast(${tag} as text)`.as('tag')])
              .where('project_id', '=', projectId)
              .where('id', '=', id),
          )
          .onConflict((c) => c.columns(['file_id', 'tag']).doNothing())
          .execute()
      }
    },

    async removeTag(trx: Trx, projectId: number, id: number, tag: string): Promise<boolean> {
      const result = await withTables<Tables>(trx)
        .deleteFrom('file_tag')
        .where('project_id', '=', projectId)
        .where('file_id', '=', id)
        .where('tag', '=', tag)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },

    /** For the sweep: visible files past their age, the oldest first. */
    async listPastAge(now: Date, limit: number): Promise<FileRecord[]> {
      const rows = await db
        .selectFrom('file')
        .selectAll()
        .where('state', '=', 'visible')
        .where('expires_at', '<=', now.getTime())
        .orderBy('expires_at')
        .limit(limit)
        .execute()
      return withTags(rows)
    },

    /** For the sweep: in a state since before a time. */
    async listSince(state: FileState, before: Date, afterId: number, limit: number): Promise<FileRecord[]> {
      const rows = await db
        .selectFrom('file')
        .selectAll()
        .where('state', '=', state)
        .where('state_changed_at', '<=', before.getTime())
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .execute()
      return withTags(rows)
    },

    async remove(trx: Trx, projectId: number, id: number): Promise<void> {
      const tables = withTables<Tables>(trx)
      await tables.deleteFrom('file_tag').where('project_id', '=', projectId).where('file_id', '=', id).execute()
      await tables.deleteFrom('file').where('project_id', '=', projectId).where('id', '=', id).execute()
    },

    /** Bytes of the files of all projects. */
    async totalBytes(): Promise<number> {
      const row = await db
        .selectFrom('file')
        .select((e) => e.fn.sum<number | string | null>('size_bytes').as('bytes'))
        .where('state', '=', 'visible')
        .executeTakeFirst()
      return Number(row?.bytes ?? 0)
    },

    async usageOfProject(projectId: number, at: Db = database): Promise<{ readonly files: number; readonly bytes: number }> {
      const row = await withTables<Tables>(at)
        .selectFrom('file')
        .select((e) => [e.fn.countAll<number>().as('files'), e.fn.sum<number | string | null>('size_bytes').as('bytes')])
        .where('project_id', '=', projectId)
        .where('state', '=', 'visible')
        .executeTakeFirst()
      return { files: Number(row?.files ?? 0), bytes: Number(row?.bytes ?? 0) }
    },

    async listOfProject(projectId: number): Promise<FileRecord[]> {
      return withTags(await db.selectFrom('file').selectAll().where('project_id', '=', projectId).orderBy('id').execute())
    },

    async listDeletedOfBranch(projectId: number, branchId: number): Promise<FileRecord[]> {
      const rows = await db
        .selectFrom('file')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('state', '=', 'deleted')
        .orderBy('id')
        .execute()
      return withTags(rows)
    },

    /** Everything of a development branch that can still be seen. */
    async deleteOfBranch(trx: Trx, projectId: number, branchId: number, at: Date): Promise<void> {
      await withTables<Tables>(trx)
        .updateTable('file')
        .set({ state: 'deleted', state_changed_at: at.getTime() })
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('state', 'in', ['reserved', 'visible', 'expired'])
        .execute()
    },

    async usageOf(projectId: number): Promise<{ count: number; sizeBytes: number }> {
      const row = await db
        .selectFrom('file')
        .select((e) => [e.fn.countAll<number>().as('count'), e.fn.sum<number | null>('size_bytes').as('size')])
        .where('project_id', '=', projectId)
        .where('state', '=', 'visible')
        .executeTakeFirstOrThrow()
      return { count: Number(row.count), sizeBytes: Number(row.size ?? 0) }
    },
  }
}

type FileExpressions = ExpressionBuilder<Tables, 'file'>

function condition(e: FileExpressions, query: FileQuery): Expression<SqlBool> {
  switch (query.kind) {
    case 'and':
      return e.and(query.items.map((item) => condition(e, item)))
    case 'or':
      return e.or(query.items.map((item) => condition(e, item)))
    case 'not':
      return e.not(condition(e, query.item))
    case 'term':
      return termCondition(e, query)
  }
}

function termCondition(e: FileExpressions, term: Extract<FileQuery, { kind: 'term' }>): Expression<SqlBool> {
  const { field, value } = term
  // What the user writes is text, only * means anything; the search does not mind case.
  const pattern = (around: string) => `${around}${escapeLike(value, term.hasWildcard)}${around}`
  const like = (column: Expression<string | null>, text: string): Expression<SqlBool> =>
    sql<SqlBool>`lower(${column}) like lower(${text}) escape '\\'`
  const inName = () => like(e.ref('name'), pattern('%'))
  const inTags = () =>
    e.exists(
      e
        .selectFrom('file_tag')
        .select(sql.lit(1).as('one'))
        .whereRef('file_tag.file_id', '=', 'file.id')
        .where((tag) => like(tag.ref('file_tag.tag'), pattern(''))),
    )
  const isId = (): Expression<SqlBool> => (/^\d{1,15}$/.test(value) ? e('id', '=', Number(value)) : e.lit(false))
  const flag = (column: 'is_sliced' | 'is_public' | 'is_encrypted') =>
    e(column, '=', ['1', 'true'].includes(value.toLowerCase()) ? 1 : 0)
  switch (field) {
    case 'name':
      return inName()
    case 'tags':
      return inTags()
    case 'id':
      return isId()
    case 'runId':
      return like(e.ref('run_id'), pattern(''))
    case 'isSliced':
      return flag('is_sliced')
    case 'isPublic':
      return flag('is_public')
    case 'isEncrypted':
      return flag('is_encrypted')
    case undefined:
      return e.or([inName(), inTags(), isId()])
  }
}

const escapeLike = (text: string, hasWildcard: boolean): string => {
  const escaped = text.replace(/[\\%_]/g, '\\$&')
  return hasWildcard ? escaped.replaceAll('*', '%') : escaped
}

const bit = (flag: boolean): number => (flag ? 1 : 0)

const toRow = (file: NewFile) => ({
  project_id: file.projectId,
  state: file.state,
  name: file.name,
  object_key: '',
  content_type: file.contentType ?? null,
  size_bytes: file.sizeBytes ?? null,
  is_size_confirmed: bit(file.isSizeConfirmed),
  is_public: bit(file.isPublic),
  is_sliced: bit(file.isSliced),
  is_encrypted: bit(file.isEncrypted),
  provider: file.provider,
  notify: bit(file.notify),
  max_age_days: file.maxAgeDays,
  run_id: file.runId,
  branch_id: file.branchId,
  creator_token_id: file.creatorToken.id,
  creator_description: file.creatorToken.description,
  created_at: file.createdAt.getTime(),
  expires_at: file.expiresAt?.getTime() ?? null,
  state_changed_at: file.createdAt.getTime(),
})

const toRecord = (row: Selectable<Tables['file']>, tags: readonly string[]): FileRecord => ({
  id: row.id,
  projectId: row.project_id,
  state: row.state,
  name: row.name,
  key: row.object_key,
  contentType: row.content_type ?? undefined,
  sizeBytes: row.size_bytes ?? undefined,
  isSizeConfirmed: row.is_size_confirmed === 1,
  isPublic: row.is_public === 1,
  isSliced: row.is_sliced === 1,
  isEncrypted: row.is_encrypted === 1,
  provider: row.provider,
  notify: row.notify === 1,
  maxAgeDays: row.max_age_days,
  runId: row.run_id,
  moreRunIds: JSON.parse(row.more_run_ids) as string[], // written by this file
  creatorToken: { id: row.creator_token_id, description: row.creator_description },
  branchId: row.branch_id,
  readerTokenIds: JSON.parse(row.reader_token_ids) as number[], // written by this file
  createdAt: new Date(row.created_at),
  expiresAt: row.expires_at === null ? undefined : new Date(row.expires_at),
  stateChangedAt: new Date(row.state_changed_at),
  tags,
})
