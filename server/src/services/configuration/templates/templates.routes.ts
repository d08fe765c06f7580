// HTTP for templates (spec platform 6.8). What public clients poll as a task is done when it is answered.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { optionalText } from '../../../http/parameters.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { RoutesServer } from '../../../model/module.ts'
import type { ListedRepository, TemplateSummary, TemplateVersion } from './catalogue.ts'
import type { FilledStep } from './inputs.ts'
import type { TemplateStepGroup } from './manifest.ts'
import type { InstanceRecord } from './templates.store.ts'
import type { Task, TemplateCaller, Templates } from './templates.ts'

export interface TemplatesRoutesDeps {
  readonly templates: Templates
  readonly findBranch: (
    projectId: number,
    name: string,
  ) => Promise<{ readonly id: number; readonly isDefault: boolean } | undefined>
}

const Loose = Type.Record(Type.String(), Type.Unknown())
const Repository = Type.String({ maxLength: 100, description: 'Name of the repository.' })
const TemplateId = Type.String({ maxLength: 100, description: 'Id of the template.' })
const Version = Type.String({ maxLength: 100, description: 'Version of the template, or `default`.' })
const Branch = Type.String({ maxLength: 64, description: 'Id of the branch, or `default`.' })
const InstanceId = Type.String({ maxLength: 100, description: 'Id of the instance.' })
const ofRepository = Type.Object({ repository: Repository })
const ofTemplate = Type.Object({ repository: Repository, template: TemplateId })
const ofVersion = Type.Object({ repository: Repository, template: TemplateId, version: Version })
const ofBranch = Type.Object({ branch: Branch })
const ofInstance = Type.Object({ branch: Branch, instance: InstanceId })
const ofUpgrade = Type.Object({ branch: Branch, instance: InstanceId, version: Version })
const Steps = Type.Array(
  Type.Object({
    id: Type.String({ maxLength: 100, description: 'Id of the step.' }),
    inputs: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String({ maxLength: 100, description: 'Id of the input.' }),
          value: Type.Optional(Type.Unknown({ description: 'Value of the type of the input.' })),
        }),
        { maxItems: 200, description: 'Inputs.' },
      ),
    ),
  }),
  { maxItems: 200, description: 'Steps that are used; others are omitted.' },
)
const StepsBody = Type.Object({ steps: Steps })
const UseBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the instance.' }),
  branch: optionalText('Id of the branch, or `default` (default).'),
  steps: Steps,
})
const TaskView = Type.Object({
  id: Type.String(),
  type: Type.String(),
  url: Type.String(),
  status: Type.String(),
  isFinished: Type.Boolean(),
  createdAt: Type.String(),
  finishedAt: Type.String(),
  duration: Type.Integer(),
  result: Type.String(),
  outputs: Loose,
})
const BASE = '/templates/v1'
const VERSION = `${BASE}/repositories/:repository/templates/:template/:version`
const INSTANCES = `${BASE}/project/:branch/instances`
const validationCode = 'validation.failed'

interface TemplateCalls {
  readonly templates: Templates
  /** In the branch of this name; in the default branch without one. */
  readonly callerOf: (req: FastifyRequest, name?: string) => Promise<TemplateCaller>
}

export function templatesRoutes({ templates, findBranch }: TemplatesRoutesDeps): FastifyPluginAsyncTypebox {
  async function callerOf({ actor, origin }: FastifyRequest, name = 'default'): Promise<TemplateCaller> {
    const branch = await findBranch(actor.projectId, name)
    if (!branch) throw new PlatformError('notFound', { what: `Branch "${name.slice(0, 60)}"` })
    return { actor, branch, origin }
  }
  const calls = { templates, callerOf }

  return async (app) => {
    app.get(
      `${BASE}`,
      {
        config: { operation: 'templates.service', summary: 'Description of the templates service', needs: 'nothing' },
        schema: { response: { 200: Type.Object({ api: Type.String(), documentation: Type.String() }) } },
      },
      async (req) => ({ api: 'templates', documentation: `${req.baseUrl}/docs` }),
    )

    app.get(
      '/templates/health-check',
      {
        config: {
          operation: 'templates.healthCheck',
          summary: 'Status of the templates service',
          needs: 'nothing',
          produces: ['text/plain'],
        },
        schema: { response: { 200: Type.String() } },
      },
      async (_req, reply) => reply.type('text/plain').send('OK\n'),
    )

    addRepositoryRoutes(app, calls)
    addUseRoutes(app, calls)
    addInstanceRoutes(app, calls)
    addUpgradeRoutes(app, calls)

    app.get(
      `${BASE}/tasks/:id`,
      {
        config: { operation: 'templates.task', summary: 'A task of the templates service', needs: 'component' },
        schema: {
          params: Type.Object({ id: Type.String({ maxLength: 100, description: 'Id of the task.' }) }),
          response: { 200: TaskView },
        },
      },
      async (req) => taskView(req, await templates.task(req.actor, req.params.id)),
    )
  }
}

function addRepositoryRoutes(app: RoutesServer, { templates, callerOf }: TemplateCalls): void {
  app.get(
    `${BASE}/repositories`,
    {
      config: { operation: 'templates.listRepositories', summary: 'Repositories of templates', needs: 'token' },
      schema: { response: { 200: Type.Object({ repositories: Type.Array(Loose) }) } },
    },
    async () => ({ repositories: (await templates.catalogue.repositories()).map(repositoryView) }),
  )

  app.get(
    `${BASE}/repositories/:repository`,
    {
      config: { operation: 'templates.repository', summary: 'A repository of templates', needs: 'token' },
      schema: { params: ofRepository, response: { 200: Loose } },
    },
    async (req) => repositoryView(await templates.catalogue.listed(req.params.repository)),
  )

  app.post(
    `${BASE}/repositories/:repository/refresh`,
    {
      config: {
        operation: 'templates.refreshRepository',
        summary: 'Fetch a git repository of templates; `problem` contains the reason of a failure',
        needs: 'master',
      },
      schema: { params: ofRepository, response: { 200: Loose } },
    },
    async (req) => repositoryView(await templates.refreshRepository(await callerOf(req), req.params.repository)),
  )

  app.get(
    `${BASE}/repositories/:repository/templates`,
    {
      config: { operation: 'templates.list', summary: 'Templates of a repository', needs: 'token' },
      schema: {
        params: ofRepository,
        querystring: Type.Object({ filter: optionalText('Only templates that use this component.') }),
        response: { 200: Type.Object({ repository: Loose, templates: Type.Array(Loose) }) },
      },
    },
    async (req) => {
      const { filter } = req.query
      const { repository, templates: found } = await templates.catalogue.list(req.params.repository)
      const shown = found.filter(({ components }) => filter === undefined || components.includes(filter))
      return { repository: repositoryView(repository), templates: shown.map(templateView) }
    },
  )

  app.get(
    `${BASE}/repositories/:repository/templates/:template`,
    {
      config: { operation: 'templates.detail', summary: 'A template and its versions', needs: 'token' },
      schema: { params: ofTemplate, response: { 200: Loose } },
    },
    async (req) => {
      const { repository, template } = await templates.catalogue.template(req.params.repository, req.params.template)
      return { repository: repositoryView(repository), ...templateView(template) }
    },
  )

  app.get(
    VERSION,
    {
      config: { operation: 'templates.version', summary: 'A version of a template, with its readme', needs: 'token' },
      schema: { params: ofVersion, response: { 200: Loose } },
    },
    async (req) => versionView(await findVersion(templates, req.params)),
  )

  app.get(
    `${VERSION}/inputs`,
    {
      config: { operation: 'templates.inputs', summary: 'The inputs of a template, in groups of steps', needs: 'token' },
      schema: { params: ofVersion, response: { 200: Type.Object({ stepGroups: Type.Array(Type.Unknown()) }) } },
    },
    async (req) => ({ stepGroups: (await findVersion(templates, req.params)).manifest.stepGroups }),
  )
}

function addUseRoutes(app: RoutesServer, { templates, callerOf }: TemplateCalls): void {
  app.post(
    `${VERSION}/validate`,
    {
      config: {
        operation: 'templates.validate',
        summary: 'Validate the inputs',
        needs: 'token',
        validationCode,
        onlyReads: true,
      },
      schema: { params: ofVersion, body: StepsBody, response: { 200: Loose } },
    },
    async (req) => {
      const { valid, stepGroups } = await templates.validate(refOf(req.params), stepsOf(req.body.steps))
      return { valid, stepGroups }
    },
  )

  app.post(
    `${VERSION}/preview`,
    {
      config: {
        operation: 'templates.preview',
        summary: 'Preview the objects that a template creates',
        needs: 'component',
        validationCode,
      },
      schema: { params: ofVersion, body: UseBody, response: { 202: TaskView } },
    },
    async (req, reply) => {
      const { name, branch, steps } = req.body
      const caller = await callerOf(req, branch)
      return accepted(req, reply, await templates.preview(caller, refOf(req.params), name, stepsOf(steps)))
    },
  )

  app.post(
    `${VERSION}/use`,
    {
      config: {
        operation: 'templates.use',
        summary: 'Create the objects of a template, all or none',
        needs: 'component',
        validationCode,
      },
      schema: { params: ofVersion, body: UseBody, response: { 202: TaskView } },
    },
    async (req, reply) => {
      const { name, branch, steps } = req.body
      const caller = await callerOf(req, branch)
      return accepted(req, reply, await templates.use(caller, refOf(req.params), name, stepsOf(steps)))
    },
  )
}

function addInstanceRoutes(app: RoutesServer, { templates, callerOf }: TemplateCalls): void {
  app.get(
    INSTANCES,
    {
      config: { operation: 'templates.listInstances', summary: 'Instances of templates in a branch', needs: 'component' },
      schema: { params: ofBranch, response: { 200: Type.Object({ instances: Type.Array(Loose) }) } },
    },
    async (req) => {
      const { branch } = req.params
      const found = await templates.instances(await callerOf(req, branch))
      return { instances: found.map((one) => instanceView(one, branch)) }
    },
  )

  app.get(
    `${INSTANCES}/:instance`,
    {
      config: { operation: 'templates.instance', summary: 'An instance of a template', needs: 'component' },
      schema: { params: ofInstance, response: { 200: Loose } },
    },
    async (req) => {
      const { branch, instance } = req.params
      return instanceView(await templates.instance(await callerOf(req, branch), instance), branch)
    },
  )

  app.put(
    `${INSTANCES}/:instance`,
    {
      config: {
        operation: 'templates.renameInstance',
        summary: 'Rename an instance of a template',
        needs: 'component',
        validationCode,
      },
      schema: { params: ofInstance, body: Type.Pick(UseBody, ['name']), response: { 200: Loose } },
    },
    async (req) => {
      const { branch, instance } = req.params
      return instanceView(await templates.rename(await callerOf(req, branch), instance, req.body.name), branch)
    },
  )

  app.delete(
    `${INSTANCES}/:instance`,
    {
      config: {
        operation: 'templates.deleteInstance',
        summary: 'Delete an instance; its configurations go to the trash',
        needs: 'component',
      },
      schema: { params: ofInstance, response: { 202: TaskView } },
    },
    async (req, reply) => {
      const { branch, instance } = req.params
      return accepted(req, reply, await templates.remove(await callerOf(req, branch), instance))
    },
  )
}

function addUpgradeRoutes(app: RoutesServer, { templates, callerOf }: TemplateCalls): void {
  app.get(
    `${INSTANCES}/:instance/upgrade/:version/inputs`,
    {
      config: {
        operation: 'templates.upgradeInputs',
        summary: 'Inputs of an upgrade with the previous values',
        needs: 'component',
      },
      schema: { params: ofUpgrade, response: { 200: Type.Object({ stepGroups: Type.Array(Type.Unknown()) }) } },
    },
    async (req) => {
      const { branch, instance, version } = req.params
      const { found, steps } = await templates.upgradeInputs(await callerOf(req, branch), instance, version)
      return { stepGroups: withDefaults(found.manifest.stepGroups, steps) }
    },
  )

  app.post(
    `${INSTANCES}/:instance/upgrade/:version/preview`,
    {
      config: {
        operation: 'templates.upgradePreview',
        summary: 'Preview the changes of an upgrade',
        needs: 'component',
        validationCode,
      },
      schema: { params: ofUpgrade, body: StepsBody, response: { 202: TaskView } },
    },
    async (req, reply) => {
      const { branch, instance, version } = req.params
      const caller = await callerOf(req, branch)
      return accepted(req, reply, await templates.upgradePreview(caller, instance, version, stepsOf(req.body.steps)))
    },
  )

  app.post(
    `${INSTANCES}/:instance/upgrade/:version`,
    {
      config: {
        operation: 'templates.upgrade',
        summary: 'Upgrade an instance to a version of its template',
        needs: 'component',
        validationCode,
      },
      schema: { params: ofUpgrade, body: StepsBody, response: { 202: TaskView } },
    },
    async (req, reply) => {
      const { branch, instance, version } = req.params
      const caller = await callerOf(req, branch)
      return accepted(req, reply, await templates.upgrade(caller, instance, version, stepsOf(req.body.steps)))
    },
  )
}

const findVersion = (
  { catalogue }: Templates,
  { repository, template, version }: { repository: string; template: string; version: string },
) => catalogue.version(repository, template, version)

const refOf = ({ repository, template, version }: { repository: string; template: string; version: string }) => ({
  repository,
  templateId: template,
  version,
})

const stepsOf = (steps: readonly { id: string; inputs?: readonly { id: string; value?: unknown }[] }[]): FilledStep[] =>
  steps.map(({ id, inputs = [] }) => ({ id, inputs }))

const accepted = (req: FastifyRequest, reply: FastifyReply, task: Task) => reply.code(202).send(taskView(req, task))

const RESULTS: Readonly<Record<string, string>> = {
  preview: 'Previewed.',
  use: 'Made.',
  upgrade: 'Upgraded.',
  'upgrade-preview': 'Compared.',
  delete: 'Deleted.',
}

const taskView = (req: FastifyRequest, { id, type, createdAt, finishedAt, outputs }: Task) => ({
  id,
  type,
  url: `${req.baseUrl}${BASE}/tasks/${id}`,
  status: 'success',
  isFinished: true,
  createdAt,
  finishedAt,
  duration: new Date(finishedAt).getTime() - new Date(createdAt).getTime(),
  result: RESULTS[type] ?? 'Done.',
  outputs,
})

const repositoryView = ({ head, source, commit, refreshedAt, problem }: ListedRepository) => ({
  name: head.name,
  url: source.url,
  ref: source.ref,
  author: { name: head.author?.name ?? '', url: head.author?.url ?? '' },
  commit,
  refreshedAt: refreshedAt && formatTimestamp(refreshedAt),
  problem,
})

const templateView = (template: TemplateSummary) => ({
  id: template.id,
  name: template.name,
  deprecated: template.deprecated ?? false,
  author: { name: template.author?.name ?? '', url: template.author?.url ?? '' },
  description: template.description,
  defaultVersion: template.defaultVersion,
  categories: template.categories ?? [],
  components: template.components,
  versions: template.versions,
})

const versionView = ({ repository, template, version, manifest, readme }: TemplateVersion) => ({
  repository: repositoryView(repository),
  template: templateView(template),
  version,
  stable: manifest.stable ?? true,
  description: manifest.description,
  longDescription: manifest.longDescription ?? '',
  readme,
  components: [...new Set(manifest.configurations.map(({ componentId }) => componentId))],
})

const instanceView = (record: InstanceRecord, branch: string) => ({
  instanceId: record.instanceId,
  name: record.name,
  branch,
  repositoryName: record.repository,
  templateId: record.templateId,
  version: record.version,
  created: { date: new Date(record.created.at).toISOString(), tokenId: String(record.created.tokenId) },
  updated: { date: new Date(record.updated.at).toISOString(), tokenId: String(record.updated.tokenId) },
  mainConfig: mainOf(record),
  configurations: record.configurations.map(({ name, configurationId, componentId }) => ({
    name,
    configId: configurationId,
    componentId,
  })),
})

function mainOf({ configurations, mainConfiguration }: InstanceRecord) {
  const main = configurations.find(({ id }) => id === mainConfiguration)
  return main ? { configId: main.configurationId, componentId: main.componentId } : null
}

/** Filled-in values replace the defaults. */
const withDefaults = (groups: readonly TemplateStepGroup[], filled: readonly FilledStep[]) =>
  groups.map((group) => ({
    ...group,
    steps: group.steps.map((step) => {
      const values = new Map(filled.find(({ id }) => id === step.id)?.inputs.map(({ id, value }) => [id, value]))
      return {
        ...step,
        inputs: step.inputs.map((input) => (values.has(input.id) ? { ...input, default: values.get(input.id) } : input)),
      }
    }),
  }))
