// HTTP for rehearsals of proposals (spec storage 2.3a).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { Nullable, numberedId } from '../../../http/parameters.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Rehearsals, RehearsalView } from './rehearsals.ts'

const PLACE = '/v2/storage/proposals/:id/rehearsal'
const ById = Type.Object({ id: numberedId('proposal') })
const PLACE_OF = { componentId: Type.String(), configurationId: Type.String() }
const Values = Nullable(Type.Array(Nullable(Type.String())))
const View = Type.Object(
  {
    id: Nullable(Type.Integer()),
    proposalId: Type.Integer(),
    state: Type.String({ description: '`none`, `running` or `finished`.' }),
    summary: Type.String({ description: 'Summary, such as "17 rows differ in 2 tables."' }),
    jobId: Nullable(Type.String()),
    created: Nullable(Type.String({ format: 'date-time' })),
    isCurrent: Type.Boolean({ description: 'True: the proposal has not changed since.' }),
    steps: Type.Array(Type.Object({ ...PLACE_OF, jobId: Type.String(), status: Type.String(), error: Nullable(Type.String()) })),
    notRun: Type.Array(Type.Object({ ...PLACE_OF, reason: Type.String() })),
    tables: Type.Array(
      Type.Object({
        id: Type.String(),
        rowsBefore: Type.Integer({ description: 'In production.' }),
        rowsAfter: Type.Integer(),
        added: Type.Integer(),
        removed: Type.Integer(),
        changed: Type.Integer({ description: 'Rows of the same primary key with other values.' }),
        addedColumns: Type.Array(Type.String()),
        removedColumns: Type.Array(Type.String()),
        columns: Type.Array(Type.String(), { description: 'Columns of the samples.' }),
        samples: Type.Array(Type.Object({ kind: Type.String(), before: Values, after: Values })),
        problem: Type.Optional(Type.String({ description: 'Why it was not compared.' })),
      }),
    ),
    tablesLeftOut: Type.Integer({ description: 'Tables beyond those that were compared.' }),
    hiddenTables: Type.Integer({ description: 'Number of different tables that the caller cannot read.' }),
    deliveries: Type.Array(
      Type.Object({
        ...PLACE_OF,
        tables: Type.Array(Type.String()),
        rows: Type.Integer({ description: 'Number of different rows that it would send.' }),
      }),
      { description: 'Configurations that would send changed tables to other systems. None of them ran.' },
    ),
  },
  { title: 'Rehearsal' },
)

export function rehearsalsRoutes(rehearsals: Pick<Rehearsals, 'start' | 'get'>): FastifyPluginAsyncTypebox {
  const idOf = (text: string) => idFrom(text, () => new PlatformError('proposals.notFound', { id: text.slice(0, 40) }))
  const shared = { needs: 'proposal', branch: 'refused', proposable: 'own' } as const
  return async (app) => {
    app.post(
      PLACE,
      {
        config: {
          ...shared,
          operation: 'proposals.rehearse',
          summary:
            'Rehearse a proposal: run the changed configurations offline in its branch, and compare the rows of all affected tables',
        },
        schema: { params: ById, response: { 202: View } },
      },
      async (req, reply) => reply.code(202).send(viewOf(await rehearsals.start(req, idOf(req.params.id)))),
    )

    app.get(
      PLACE,
      {
        config: { ...shared, operation: 'proposals.rehearsal', summary: 'The last rehearsal of a proposal' },
        schema: { params: ById, response: { 200: View } },
      },
      async (req) => viewOf(await rehearsals.get(req.actor, idOf(req.params.id))),
    )
  }
}

const viewOf = ({ created, ...view }: RehearsalView) =>
  ({ ...view, created: created && formatTimestamp(created) }) as unknown as Type.Static<typeof View> // lists are read-only inside
