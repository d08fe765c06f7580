// millrace template: configurations, flows and schedules from templates, and templates from configurations.

import { readFileSync } from 'node:fs'
import { text as readAll } from 'node:stream/consumers'
import type { Command } from 'commander'
import { type Client, createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table, UserError } from '../output.ts'
import { type ChosenConfiguration, makeTemplate, writeTemplate } from './template-make.ts'

interface Repository {
  readonly name: string
  readonly url: string
  readonly ref: string
  readonly commit?: string
  readonly problem?: string
}

interface Template {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly defaultVersion: string
  readonly components: readonly string[]
}

interface Input {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly type: string
  readonly kind: string
  readonly default?: unknown
}

interface StepGroup {
  readonly description: string
  readonly required: string
  readonly steps: readonly { readonly id: string; readonly name: string; readonly inputs: readonly Input[] }[]
}

interface Task {
  readonly id: string
  readonly outputs: {
    readonly instanceId: string
    readonly configId: string | null
    readonly configurations: readonly { readonly componentId: string; readonly configurationId: string; readonly name: string }[]
  }
}

interface UseOptions {
  readonly name?: string
  readonly repository: string
  readonly templateVersion: string
  readonly set: readonly string[]
  readonly step: readonly string[]
  readonly inputs?: string
  readonly branch: string
}

const repositoryOption = ['--repository <name>', 'the repository', 'millrace'] as const
const versionOption = ['--template-version <version>', 'the version', 'default'] as const
const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

export function addTemplateCommands(program: Command): void {
  const template = program.command('template').description('create configurations, flows and schedules from a form')

  stackOptions(template.command('list'))
    .description('templates of a repository')
    .option(...repositoryOption)
    .action(async ({ repository }: { repository: string }, command: Command) => {
      const { templates } = await createClient(command).request<{ templates: Template[] }>('GET', addressOf(repository))
      print(command, templates, (found) =>
        table(
          ['ID', 'VERSION', 'DESCRIPTION'],
          found.map((one) => [one.id, one.defaultVersion, one.description]),
        ),
      )
    })

  stackOptions(template.command('repositories'))
    .description('template repositories with their errors')
    .action(async (_options, command: Command) => {
      const { repositories } = await createClient(command).request<{ repositories: Repository[] }>(
        'GET',
        '/templates/v1/repositories',
      )
      print(command, repositories, (found) =>
        table(
          ['NAME', 'ADDRESS', 'COMMIT', 'PROBLEM'],
          found.map(({ name, url, ref, commit, problem }) => [
            name,
            `${url}${ref && `#${ref}`}`,
            commit?.slice(0, 10) ?? '',
            problem ?? '',
          ]),
        ),
      )
    })

  stackOptions(template.command('refresh <repository>'))
    .description('fetch a git repository of templates')
    .action(async (name: string, _options, command: Command) => {
      const address = `/templates/v1/repositories/${encodeURIComponent(name)}/refresh`
      const repository = await createClient(command).request<Repository>('POST', address)
      const { commit, problem } = repository
      if (problem !== undefined) throw new UserError(`The repository "${name}" could not be refreshed. ${problem}`)
      print(command, repository, () => `The repository "${name}" is at ${commit ?? 'the state of its folder'}.`)
    })

  stackOptions(template.command('show <template>'))
    .description('show the inputs of a template and the objects that it creates')
    .option(...repositoryOption)
    .option(...versionOption)
    .action(async (id: string, { repository, templateVersion }: UseOptions, command: Command) => {
      const client = createClient(command)
      const address = addressOf(repository, id, templateVersion)
      const detail = await client.request<{ readme: string; components: string[] }>('GET', address)
      const stepGroups = await inputsOf(client, address)
      print(command, { ...detail, stepGroups }, () => `${detail.readme.trim()}\n\n${inputTable(stepGroups)}`)
    })

  stackOptions(template.command('use <template>'))
    .description('create everything that a template describes, or nothing')
    .option('--name <name>', 'name of the instance; by default the id of the template')
    .option(...repositoryOption)
    .option(...versionOption)
    .option('--set <input=value>', 'fill in an input; may be repeated', collect, [])
    .option('--step <step>', 'fill in an optional step with its defaults; may be repeated', collect, [])
    .option('--inputs <file>', 'a JSON object of inputs and values, for secrets; - is standard input')
    .option('--branch <id>', 'the branch', 'default')
    .action(async (id: string, options: UseOptions, command: Command) => {
      const client = createClient(command)
      const address = addressOf(options.repository, id, options.templateVersion)
      const steps = fillIn(await inputsOf(client, address), await valuesOf(options), options.step)
      const json = { name: options.name ?? id, branch: options.branch, steps }
      const task = await client.request<Task>('POST', `${address}/use`, { json })
      print(command, task, ({ outputs }) => {
        const rows = outputs.configurations.map((one) => [one.componentId, one.configurationId, one.name])
        return `${table(['COMPONENT', 'CONFIGURATION', 'NAME'], rows)}\nInstance ${outputs.instanceId} created.`
      })
    })

  stackOptions(template.command('make <folder> <configurations...>'))
    .description('write a template from configurations: component/configuration; secrets become inputs')
    .option('--template-version <version>', 'the version', '1.0.0')
    .option('--name <name>', 'name of the template')
    .action(
      async (
        folder: string,
        names: string[],
        { templateVersion, name }: { templateVersion: string; name?: string },
        command: Command,
      ) => {
        const client = createClient(command)
        const chosen: ChosenConfiguration[] = []
        for (const text of names) chosen.push(await read(client, text))
        const manifest = makeTemplate(chosen)
        writeTemplate(folder, templateVersion, name ?? chosen[0]!.name, manifest)
        const asked = manifest.stepGroups.flatMap((group) => group.steps.flatMap((step) => step.inputs.map((input) => input.id)))
        const inputs = asked.length > 0 ? ` Its inputs: ${asked.join(', ')}.` : ''
        print(command, manifest, () => `The template is in ${folder}, version ${templateVersion}.${inputs}`)
      },
    )
}

const addressOf = (repository: string, id?: string, version?: string): string =>
  ['templates/v1/repositories', repository, 'templates', ...(id === undefined ? [] : [id, version ?? 'default'])]
    .map((part) => (part.includes('/') ? part : encodeURIComponent(part)))
    .join('/')

const inputsOf = async (client: Client, address: string): Promise<readonly StepGroup[]> =>
  (await client.request<{ stepGroups: StepGroup[] }>('GET', `${address}/inputs`)).stepGroups

const inputTable = (groups: readonly StepGroup[]): string =>
  table(
    ['STEP', 'INPUT', 'TYPE', 'DEFAULT', 'DESCRIPTION'],
    groups.flatMap(({ required, steps }) =>
      steps.flatMap((step) =>
        step.inputs.map((input) => [
          `${step.id}${required === 'all' ? '' : ` (${required})`}`,
          input.id,
          input.kind === 'hidden' ? 'secret' : input.type,
          input.default === undefined ? '' : JSON.stringify(input.default),
          input.description ?? input.name,
        ]),
      ),
    ),
    'It has no inputs.',
  )

/** The inputs of `--set` and `--inputs`; `--set` wins. */
async function valuesOf({ set, inputs }: UseOptions): Promise<ReadonlyMap<string, unknown>> {
  const values = new Map<string, unknown>(Object.entries(inputs === undefined ? {} : await readObject(inputs)))
  for (const pair of set) {
    const at = pair.indexOf('=')
    if (at < 1) throw new UserError(`--set ${pair}: write it as input=value.`)
    values.set(pair.slice(0, at), pair.slice(at + 1))
  }
  return values
}

async function readObject(file: string): Promise<object> {
  const text = file === '-' ? await readAll(process.stdin) : readFileSync(file, 'utf8')
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // reported below
  }
  throw new UserError(`${file === '-' ? 'Standard input' : file} is not a JSON object of inputs and values.`)
}

/** Steps that are needed, that were requested, or that have an input which was set. */
function fillIn(
  groups: readonly StepGroup[],
  values: ReadonlyMap<string, unknown>,
  wanted: readonly string[],
): readonly object[] {
  const steps = groups.flatMap(({ required, steps }) => steps.map((step) => ({ ...step, required })))
  const known = new Set(steps.flatMap(({ inputs }) => inputs.map(({ id }) => id)))
  const unknown = [...values.keys()].find((id) => !known.has(id))
  if (unknown !== undefined)
    throw new UserError(`The template has no input "${unknown}". It has: ${[...known].join(', ') || 'none'}.`)
  const missing = wanted.find((id) => !steps.some((step) => step.id === id))
  if (missing !== undefined) throw new UserError(`The template has no step "${missing}".`)
  return steps
    .filter(({ id, required, inputs }) => required === 'all' || wanted.includes(id) || inputs.some((one) => values.has(one.id)))
    .map(({ id, inputs }) => ({
      id,
      inputs: inputs.flatMap((input) =>
        values.has(input.id) ? [{ id: input.id, value: typed(input, values.get(input.id)) }] : [],
      ),
    }))
}

/** A text of the command line in the type of its input; the stack reports what does not fit. */
function typed({ type }: Input, value: unknown): unknown {
  if (typeof value !== 'string' || type === 'string') return value
  if (type === 'string[]') return value.split(',')
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

async function read(client: Client, text: string): Promise<ChosenConfiguration> {
  const at = text.indexOf('/')
  if (at < 1) throw new UserError(`"${text}": write it as component/configuration.`)
  const [componentId, id] = [text.slice(0, at), text.slice(at + 1)]
  const found = await client.request<Omit<ChosenConfiguration, 'componentId'>>(
    'GET',
    `v2/storage/components/${encodeURIComponent(componentId)}/configs/${encodeURIComponent(id)}`,
  )
  return { ...found, componentId }
}
