// HTTP for merge requests (spec storage 2.3).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { JobView, jobView } from '../../../http/job-view.ts'
import { include, numberedId } from '../../../http/parameters.ts'
import type { Needs } from '../../../http/rights.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { activityView, mergeRequestDetail, mergeRequestView } from './merge-request-view.ts'
import { conflictError, conflictView, type Merging } from './merge-requests.jobs.ts'
import { MAX_REQUIRED_APPROVALS, type MergeRequests, mustManage } from './merge-requests.ts'

export interface MergeRequestsRoutesDeps {
  readonly mergeRequests: MergeRequests
  readonly merging: Merging
}

const PLACE = '/v2/storage/merge-request'
const SETTINGS = '/v2/storage/merge-request-settings'
const ById = Type.Object({ id: numberedId('merge request') })
const branch = (description: string) => Type.Integer({ minimum: 1, description })
const title = { minLength: 1, maxLength: 255, description: 'Title.' }
const fields = {
  title: Type.Optional(Type.String(title)),
  description: Type.Optional(Type.String({ maxLength: 65_536, description: 'Description of the change.' })),
  externalId: Type.Optional(
    Type.Union([Type.String({ maxLength: 255 }), Type.Null()], {
      description: 'Id in another system, such as a ticket. Null removes it.',
    }),
  ),
  autoMergeStrategy: Type.Optional(
    Type.Union([Type.Literal('immediately'), Type.Literal('scheduled'), Type.Literal('none')], {
      description: 'Automatic merge after the approval; `none` by default.',
    }),
  ),
  autoMergeAt: Type.Optional(
    Type.Union([Type.String({ maxLength: 40 }), Type.Null()], {
      description: 'Time of a scheduled merge, as ISO 8601. Null removes it.',
    }),
  ),
  reviewerIds: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 100, description: 'Ids of the tokens that are requested to review.' }),
  ),
}
const View = Type.Object(
  { id: Type.Integer(), title: Type.String(), state: Type.String() },
  { title: 'MergeRequest', additionalProperties: true },
)
const Settings = Type.Object({
  requiredApprovals: Type.Union([Type.Integer({ minimum: 1, maximum: MAX_REQUIRED_APPROVALS }), Type.Null()], {
    description:
      'Required number of approvals; branches can then be merged by approved requests only. Null: two approvals, or one if no second user of the project can approve, and a branch can also be merged directly.',
  }),
})
const config = (operation: string, summary: string, needs: Needs) =>
  ({ operation: `mergeRequests.${operation}`, summary, needs, branch: 'refused' }) as const

export function mergeRequestsRoutes({ mergeRequests, merging }: MergeRequestsRoutesDeps): FastifyPluginAsyncTypebox {
  const idOf = (text: string) => idFrom(text, () => new PlatformError('mergeRequest.notFound', { id: text.slice(0, 40) }))
  return async (app) => {
    app.get(
      PLACE,
      {
        config: config('list', 'List merge requests, newest first', 'branchRead'),
        schema: { response: { 200: Type.Array(View) } },
      },
      async (req) => (await mergeRequests.list(req.actor.projectId)).map(mergeRequestView),
    )

    app.post(
      PLACE,
      {
        config: config('create', 'Create a merge request', 'canManageDevBranches'),
        schema: {
          body: Type.Object({
            ...fields,
            title: Type.String(title),
            branchFromId: branch('Branch with the changes.'),
            branchIntoId: branch('Target branch: the default branch.'),
          }),
          response: { 201: View },
        },
      },
      async (req, reply) => reply.code(201).send(mergeRequestView(await mergeRequests.create(req.actor, req.body, req.origin))),
    )

    app.get(
      `${PLACE}/:id`,
      {
        config: config('get', 'One merge request', 'branchRead'),
        schema: {
          params: ById,
          querystring: Type.Object({ include: include('activityLog', 'approval') }),
          response: { 200: View },
        },
      },
      async (req) => {
        const request = await mergeRequests.get(req.actor.projectId, idOf(req.params.id))
        const included = (req.query.include ?? '').split(',')
        return {
          ...mergeRequestDetail(request),
          ...(included.includes('activityLog') && { activityLog: request.activity.map(activityView) }),
          ...(included.includes('approval') && { approvalRefusal: await mergeRequests.approvalRefusal(req.actor, request) }),
        }
      },
    )

    app.put(
      `${PLACE}/:id`,
      {
        config: config('update', 'Change title, description or reviewers; not in review', 'canManageDevBranches'),
        schema: { params: ById, body: Type.Object(fields), response: { 200: View } },
      },
      async (req) => {
        const request = await mergeRequests.update(req.actor, idOf(req.params.id), req.body)
        return mergeRequestView(await merging.mergeIfWanted(req, request))
      },
    )

    for (const step of ['request-review', 'approve', 'request-changes'] as const) {
      app.put(
        `${PLACE}/:id/${step}`,
        {
          config: config(step, `Move a merge request: ${step}`, 'canManageDevBranches'),
          schema: {
            params: ById,
            body: Type.Optional(
              Type.Object({
                reason: Type.Optional(
                  Type.String({ maxLength: 1000, description: 'Reason, recorded in the log of the request.' }),
                ),
              }),
            ),
            response: { 200: View },
          },
        },
        async (req) => {
          const request = await mergeRequests.advance(req.actor, idOf(req.params.id), step, req.origin, req.body?.reason)
          return mergeRequestView(await merging.mergeIfWanted(req, request))
        },
      )
    }

    app.get(
      `${PLACE}/:id/conflicts`,
      {
        config: config('conflicts', 'Configurations that changed on both sides', 'branchRead'),
        schema: { params: ById, response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) =>
        (await merging.conflictsOf(await mergeRequests.get(req.actor.projectId, idOf(req.params.id)))).map(conflictView),
    )

    app.put(
      `${PLACE}/:id/merge`,
      {
        config: config('merge', 'Merge an approved request (storage job)', 'canManageDevBranches'),
        schema: { params: ById, response: { 202: JobView } },
      },
      async (req, reply) => {
        const request = await mergeRequests.get(req.actor.projectId, idOf(req.params.id))
        if (!['approved', 'in_merge'].includes(request.state))
          throw new PlatformError('mergeRequest.notReady', { state: request.state })
        const conflicts = await merging.conflictsOf(request)
        if (conflicts.length > 0) throw conflictError(request.id, conflicts)
        mustManage(req.actor)
        const { job } = await merging.begin(req, request, 'merge')
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )

    app.get(
      SETTINGS,
      {
        config: config('settings', 'The merge request settings of the project', 'branchRead'),
        schema: { response: { 200: Settings } },
      },
      async (req) => mergeRequests.settings(req.actor.projectId),
    )

    app.put(
      SETTINGS,
      {
        config: { ...config('changeSettings', 'Change the merge request settings of the project', 'master'), role: 'admin' },
        schema: { body: Settings, response: { 200: Settings } },
      },
      async (req) => mergeRequests.changeSettings(req.actor, req.body.requiredApprovals),
    )
  }
}
