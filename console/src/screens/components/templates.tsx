// Templates: pipelines made from a form, all of their parts or none, and what was made from them.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { effectiveConfiguration } from '../../../../contract/effective-configuration.ts'
import { WRITERS } from '../../facts/deliveries.ts'
import { runAction } from '../../facts/run-action.ts'
import { useTableIds } from '../../facts/storage-names.ts'
import { plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Suggestions } from '../../parts/suggestions.tsx'
import { api, branchName } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { type DeliveryAnswer, DeliverySample } from '../../views/delivery-sample.tsx'

const REPOSITORY = 'millrace'
const inBranch = () => ({ branch: branchName() })

interface Template {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly defaultVersion: string
  readonly categories?: readonly string[]
}

interface Input {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly kind: 'input' | 'hidden' | 'textarea' | 'confirm' | 'select' | 'multiselect'
  readonly type: string
  readonly default?: unknown
  readonly options?: readonly { readonly value: string; readonly label: string }[]
  readonly suggest?: 'tables'
}

interface Group {
  readonly id: string
  readonly description: string
  readonly required: 'all' | 'atLeastOne' | 'exactlyOne' | 'optional'
  readonly steps: readonly {
    readonly id: string
    readonly name: string
    readonly description?: string
    readonly inputs: readonly Input[]
  }[]
}

interface Instance {
  readonly instanceId: string
  readonly name: string
  readonly templateId: string
  readonly version: string
  readonly configurations?: readonly { readonly name: string; readonly componentId: string; readonly configId: string }[]
}

export function TemplatesScreen() {
  const query = useLoad('templates.list', { path: { repository: REPOSITORY }, query: {} })
  const [chosen, choose] = useState<Template>()
  const templates = (query.data?.templates ?? []) as unknown as readonly Template[] // described loosely
  return (
    <Page
      title="Templates"
      crumbs={[{ name: 'Templates' }]}
      say={query.data ? `${plural(templates.length, 'pipeline')} to begin with.` : 'Templates'}
      sub="A template creates configurations, flows and schedules from a few answers: all of them, or none."
    >
      <div className="stack-4">
        <Instances />
        <section className="card" aria-label="Templates">
          <Loaded query={query} skeleton={<Lines />}>
            {() => (
              <ul className="list">
                {templates.map((template) => (
                  <li key={template.id}>
                    <Icon name="wand" />
                    <div className="grow">
                      <p className="medium">{template.name}</p>
                      <p className="fine mute">{template.description}</p>
                    </div>
                    <ActButton needs="templates.use" className="button" onClick={() => choose(template)}>
                      Use<span className="visually-hidden"> {template.name}</span>
                    </ActButton>
                  </li>
                ))}
              </ul>
            )}
          </Loaded>
        </section>
      </div>
      {chosen ? <UseTemplate template={chosen} onClose={() => choose(undefined)} /> : null}
    </Page>
  )
}

function Instances() {
  const queries = useQueryClient()
  const query = useLoad('templates.listInstances', { path: inBranch() })
  const instances = (query.data?.instances ?? []) as unknown as readonly Instance[] // described loosely
  const remove = async (instance: string) => {
    await api.call('templates.deleteInstance', { path: { ...inBranch(), instance } })
    await queries.invalidateQueries()
    toast('Everything it created is in the trash; its schedules are deleted.')
  }
  if (instances.length === 0) return null
  return (
    <section className="card" aria-labelledby="made">
      <header>
        <h2 id="made">Created from templates</h2>
        <span className="count">{instances.length}</span>
      </header>
      <ul className="list">
        {instances.map((instance) => (
          <li key={instance.instanceId}>
            <div className="grow">
              <p className="body-text">
                <b className="strong">{instance.name}</b>{' '}
                <span className="identifier">
                  {instance.templateId} {instance.version}
                </span>
              </p>
              <p className="flex-row wrap fine">
                {(instance.configurations ?? []).map(({ name, componentId, configId }) => (
                  <Link
                    key={configId}
                    to="/components/$componentId/$configurationId"
                    params={{ componentId, configurationId: configId }}
                  >
                    {name}
                  </Link>
                ))}
              </p>
            </div>
            <ConfirmButton
              label="Delete"
              name={instance.name}
              ariaLabel={`Delete ${instance.name}`}
              needs="templates.deleteInstance"
              effect={
                <>
                  <p>
                    {plural((instance.configurations ?? []).length, 'configuration')} will be in the trash, where they can be
                    restored. Their schedules are deleted. Tables keep their rows.
                  </p>
                  <ul className="list">
                    {(instance.configurations ?? []).map(({ name, configId }) => (
                      <li key={configId}>{name}</li>
                    ))}
                  </ul>
                </>
              }
              act={() => remove(instance.instanceId)}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

type Answers = Readonly<Record<string, unknown>>

function UseTemplate({ template, onClose }: { template: Template; onClose: () => void }) {
  const queries = useQueryClient()
  const path = { repository: REPOSITORY, template: template.id, version: template.defaultVersion }
  const query = useLoad('templates.inputs', { path })
  const groups = (query.data?.stepGroups ?? []) as readonly Group[] // described loosely
  const [name, setName] = useState(template.name)
  const [answers, setAnswers] = useState<Answers>({})
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const isUsed = (group: Group, stepId: string) => group.required === 'all' || picked.has(stepId)
  const steps = groups.flatMap((group) => group.steps.filter((step) => isUsed(group, step.id)))
  const body = () => ({
    name,
    steps: steps.map(({ id, inputs }) => ({
      id,
      inputs: inputs.map((input) => ({ id: input.id, value: answerOf(input, answers[input.id]) })),
    })),
  })
  const secrets = steps.flatMap(({ inputs }) => inputs).filter(({ kind }) => kind === 'hidden')
  const preview = useMutation({
    mutationFn: async () => {
      const { outputs } = await api.call('templates.preview', { path, body: body() })
      const secret = secrets.map((input) => shown(answerOf(input, answers[input.id])))[0] ?? ''
      return previewDelivery(outputs as { readonly configurations: readonly Made[] }, secret) // described loosely
    },
  })
  const make = useMutation({
    mutationFn: () => api.call('templates.use', { path, body: body() }),
    onSuccess: async () => {
      await queries.invalidateQueries()
      onClose()
      toast(`${name} is created. Its configurations can be run now.`)
    },
  })
  const toggle = (id: string) =>
    setPicked((old) => (old.has(id) ? new Set([...old].filter((one) => one !== id)) : new Set([...old, id])))
  return (
    <Dialog title={template.name} onClose={onClose}>
      <Loaded query={query}>
        {() => (
          <Form onSubmit={() => make.mutate()}>
            <div className="field">
              <Label htmlFor="template-name">Name</Label>
              <input
                className="input"
                id="template-name"
                required
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            </div>
            {groups.map((group) => (
              <fieldset key={group.id} className="stack-3">
                <legend className="medium">{group.description}</legend>
                {group.steps.map((step) => (
                  <div key={step.id} className="stack-3">
                    {group.required === 'all' ? null : (
                      <label className="flex-row">
                        <input type="checkbox" checked={picked.has(step.id)} onChange={() => toggle(step.id)} />
                        {step.name}
                      </label>
                    )}
                    {isUsed(group, step.id)
                      ? step.inputs.map((input) => (
                          <Field
                            key={input.id}
                            input={input}
                            value={answers[input.id]}
                            onChange={(value) => setAnswers({ ...answers, [input.id]: value })}
                          />
                        ))
                      : null}
                  </div>
                ))}
              </fieldset>
            ))}
            {preview.error ? <Problem error={preview.error} /> : null}
            {preview.data ? <DeliverySample answer={preview.data} /> : null}
            {make.error ? <Problem error={make.error} /> : null}
            <div className="flex-row">
              <button type="submit" className="button primary" disabled={make.isPending}>
                Create
              </button>
              {template.categories?.includes(DELIVERY) ? (
                <ActButton
                  needs="syncActions.run"
                  className="button"
                  disabled={preview.isPending}
                  onClick={() => preview.mutate()}
                >
                  {preview.isPending ? 'Looking what would be sent ...' : 'Preview'}
                </ActButton>
              ) : null}
            </div>
          </Form>
        )}
      </Loaded>
    </Dialog>
  )
}

/** Templates whose first configuration is a writer. */
const DELIVERY = 'Delivery'

/** A configuration that a template would create; its secrets are masked. */
interface Made {
  readonly componentId: string
  readonly configuration: unknown
  readonly rows: readonly { readonly configuration: unknown }[]
}

const MASKED = '"***"'

/** What the writer would send. Templates of deliveries have one secret, which stands where the stack masks it. */
function previewDelivery({ configurations }: { readonly configurations: readonly Made[] }, secret: string) {
  const [writer] = configurations.filter(({ componentId }) => WRITERS.has(componentId))
  if (!writer) throw new Error('The template creates no writer.')
  const filled = (configuration: unknown) => JSON.stringify(configuration).replaceAll(MASKED, () => JSON.stringify(secret))
  const [row] = writer.rows
  const { text } = effectiveConfiguration(filled(writer.configuration), row && filled(row.configuration))
  return runAction<DeliveryAnswer>(writer.componentId, 'preview', text)
}

/** Numbers and lists are typed as text; what was left alone is the default of the template. */
function answerOf({ type, default: given }: Input, value: unknown): unknown {
  if (value === undefined) return given
  if ((type === 'int' || type === 'double') && typeof value === 'string') return value.trim() === '' ? given : Number(value)
  if (type === 'string[]' && typeof value === 'string') return value.split(',').map((part) => part.trim())
  if (type === 'object' && typeof value === 'string') return JSON.parse(value)
  return value
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))

interface FieldProps {
  readonly input: Input
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

function Field({ input, value, onChange }: FieldProps) {
  const id = `input-${input.id}`
  const current = value ?? input.default
  const offered = useTableIds(shown(current), { enabled: input.suggest === 'tables' })
  if (input.kind === 'confirm')
    return (
      <label className="flex-row">
        <input type="checkbox" checked={current === true} onChange={(event) => onChange(event.target.checked)} />
        {input.name}
      </label>
    )
  return (
    <div className="field">
      <Label htmlFor={id}>{input.name}</Label>
      {input.kind === 'select' ? (
        <select id={id} className="input" value={shown(current)} onChange={(event) => onChange(event.target.value)}>
          {(input.options ?? []).map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      ) : input.kind === 'textarea' ? (
        <textarea
          id={id}
          className="input mono"
          rows={4}
          value={shown(current)}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          id={id}
          className="input"
          type={input.kind === 'hidden' ? 'password' : 'text'}
          autoComplete="off"
          list={offered.length > 0 ? `${id}-offered` : undefined}
          value={shown(current)}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {offered.length > 0 ? <Suggestions id={`${id}-offered`} values={offered} /> : null}
      {input.description ? <p className="fine mute">{input.description}</p> : null}
    </div>
  )
}
