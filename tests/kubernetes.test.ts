// The manifests of deploy/kubernetes: the schemas that Kubernetes publishes accept them, and their names fit together. The schemas below hold
// the members that the manifests use, and our rules: not root, read-only, with limits and probes.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type TProperties, Type } from 'typebox'
import Schema from 'typebox/schema'
import { Value } from 'typebox/value'
import { parseAllDocuments } from 'yaml'
import { VARIABLES } from '../server/src/start/config.ts'

const FOLDER = new URL('../deploy/kubernetes/', import.meta.url)

const only = <T extends TProperties>(members: T) => Type.Object(members, { additionalProperties: false })
const Labels = Type.Record(Type.String(), Type.String({ pattern: '^[a-z0-9-]+$' }))
const Metadata = only({ name: Type.String({ pattern: '^[a-z0-9-]+$' }), labels: Type.Optional(Labels) })
const Selector = only({ matchLabels: Labels })
const Seconds = Type.Integer({ minimum: 1 })
const Quantity = Type.String({ pattern: '^\\d+(m|Mi|Gi)?$' })
const Probe = only({
  httpGet: only({ path: Type.Enum(['/health', '/ready']), port: Type.String() }),
  periodSeconds: Seconds,
  timeoutSeconds: Type.Optional(Seconds),
  failureThreshold: Type.Optional(Seconds),
})
const Resources = Type.Partial(only({ cpu: Quantity, memory: Quantity, storage: Quantity }))
const Variable = only({
  name: Type.String(),
  value: Type.Optional(Type.String()),
  valueFrom: Type.Optional(
    only({
      secretKeyRef: Type.Optional(only({ name: Type.String(), key: Type.String() })),
      fieldRef: Type.Optional(only({ fieldPath: Type.Literal('metadata.name') })),
    }),
  ),
})
const Container = only({
  name: Type.String(),
  image: Type.String({ pattern: ':\\d+\\.\\d+\\.\\d+$' }),
  ports: Type.Array(only({ name: Type.String(), containerPort: Type.Integer() })),
  env: Type.Array(Variable),
  startupProbe: Probe,
  livenessProbe: Probe,
  readinessProbe: Probe,
  resources: only({ requests: Resources, limits: Resources }),
  securityContext: only({
    allowPrivilegeEscalation: Type.Literal(false),
    readOnlyRootFilesystem: Type.Literal(true),
    capabilities: only({ drop: Type.Tuple([Type.Literal('ALL')]) }),
  }),
  volumeMounts: Type.Array(only({ name: Type.String(), mountPath: Type.String({ pattern: '^/' }) })),
})
const Pod = only({
  metadata: only({ labels: Labels }),
  spec: only({
    terminationGracePeriodSeconds: Seconds,
    automountServiceAccountToken: Type.Literal(false),
    securityContext: only({
      runAsNonRoot: Type.Literal(true),
      runAsUser: Seconds,
      runAsGroup: Seconds,
      fsGroup: Seconds,
      seccompProfile: only({ type: Type.Literal('RuntimeDefault') }),
    }),
    containers: Type.Array(Container, { minItems: 1 }),
    volumes: Type.Array(only({ name: Type.String(), emptyDir: only({}) })),
  }),
})
const workload = { replicas: Type.Integer({ minimum: 1 }), selector: Selector, template: Pod }
const KINDS = {
  Service: only({
    apiVersion: Type.Literal('v1'),
    kind: Type.Literal('Service'),
    metadata: Metadata,
    spec: only({
      selector: Labels,
      ports: Type.Array(only({ name: Type.String(), port: Type.Integer(), targetPort: Type.String() })),
    }),
  }),
  StatefulSet: only({
    apiVersion: Type.Literal('apps/v1'),
    kind: Type.Literal('StatefulSet'),
    metadata: Metadata,
    spec: only({
      ...workload,
      serviceName: Type.String(),
      volumeClaimTemplates: Type.Array(
        only({
          metadata: Metadata,
          spec: only({ accessModes: Type.Tuple([Type.Literal('ReadWriteOnce')]), resources: only({ requests: Resources }) }),
        }),
      ),
    }),
  }),
  Deployment: only({
    apiVersion: Type.Literal('apps/v1'),
    kind: Type.Literal('Deployment'),
    metadata: Metadata,
    spec: only({
      ...workload,
      strategy: only({
        type: Type.Literal('RollingUpdate'),
        rollingUpdate: only({ maxUnavailable: Type.Integer(), maxSurge: Type.Integer() }),
      }),
    }),
  }),
  PodDisruptionBudget: only({
    apiVersion: Type.Literal('policy/v1'),
    kind: Type.Literal('PodDisruptionBudget'),
    metadata: Metadata,
    spec: only({
      minAvailable: Type.Optional(Type.Integer()),
      maxUnavailable: Type.Optional(Type.Integer()),
      selector: Selector,
    }),
  }),
}

/** What Kubernetes itself accepts. */
const PUBLISHED = JSON.parse(readFileSync(new URL('./fixtures/kubernetes-1.37.json', import.meta.url), 'utf8')) as object
const publishedSchema = (kind: keyof typeof KINDS) => {
  const group = { Service: 'core.v1', StatefulSet: 'apps.v1', Deployment: 'apps.v1', PodDisruptionBudget: 'policy.v1' }[kind]
  return { ...PUBLISHED, $ref: `#/$defs/io.k8s.api.${group}.${kind}` }
}

type Workload = Type.Static<typeof KINDS.Deployment> | Type.Static<typeof KINDS.StatefulSet>
type Budget = Type.Static<typeof KINDS.PodDisruptionBudget>
type Service = Type.Static<typeof KINDS.Service>
type Resource = Workload | Budget | Service

function resourcesOf(file: string): readonly Resource[] {
  return parseAllDocuments(readFileSync(new URL(file, FOLDER), 'utf8')).map((document) => {
    assert.deepEqual(document.errors, [], file)
    const resource = document.toJS() as Resource // compared with its schema below
    const schema = KINDS[resource.kind]
    const [problem] = schema === undefined ? [{ message: 'unknown' }] : Value.Errors(schema, resource)
    assert.equal(problem, undefined, `${file}, ${resource.kind} ${resource.metadata?.name}: ${JSON.stringify(problem)}`)
    const [isAccepted, problems] = Schema.Errors(publishedSchema(resource.kind), resource)
    assert.ok(isAccepted, `${file}, ${resource.kind} ${resource.metadata.name}: ${JSON.stringify(problems[0])}`)
    return resource
  })
}

const FILES = readdirSync(FOLDER)
const isWorkload = (resource: Resource): resource is Workload => 'template' in resource.spec
const labelsOf = ({ spec }: Workload) => spec.template.metadata.labels
const chooses = (selector: Readonly<Record<string, string>>, one: Workload) =>
  Object.entries(selector).every(([name, value]) => labelsOf(one)[name] === value)

for (const file of FILES) {
  test(`${file} has members that Kubernetes has, and names that fit together`, () => {
    const resources = resourcesOf(file)
    const workloads = resources.filter(isWorkload)
    assert.ok(workloads.length > 0)
    for (const one of workloads) {
      const { name } = one.metadata
      assert.ok(chooses(one.spec.selector.matchLabels, one), `${name} does not choose its own pods`)
      const [container] = one.spec.template.spec.containers
      const ports = container!.ports.map((port) => port.name)
      for (const probe of [container!.startupProbe, container!.livenessProbe, container!.readinessProbe])
        assert.ok(ports.includes(probe.httpGet.port), `${name} is probed at a port it does not have`)
      assert.deepEqual(
        [container!.livenessProbe, container!.readinessProbe].map(({ httpGet }) => httpGet.path),
        ['/health', '/ready'],
      )
      const claims = 'volumeClaimTemplates' in one.spec ? one.spec.volumeClaimTemplates.map(({ metadata }) => metadata.name) : []
      const volumes = [...claims, ...one.spec.template.spec.volumes.map((volume) => volume.name)].sort()
      assert.deepEqual(container!.volumeMounts.map((mount) => mount.name).sort(), volumes)
      assert.ok(container!.resources.limits.memory)
      for (const variable of container!.env) {
        assert.ok(Object.hasOwn(VARIABLES, variable.name), `${variable.name} is not a variable of the stack`)
        const { secret } = VARIABLES[variable.name as keyof typeof VARIABLES] as { secret?: true }
        if (secret) assert.ok(variable.valueFrom?.secretKeyRef, `${variable.name} is not taken from a secret`)
      }
    }
    const budgets = resources.filter((one): one is Budget => one.kind === 'PodDisruptionBudget')
    for (const one of workloads)
      assert.equal(
        budgets.filter(({ spec }) => chooses(spec.selector.matchLabels, one)).length,
        1,
        `budget of ${one.metadata.name}`,
      )
    for (const { spec } of resources.filter((one): one is Service => one.kind === 'Service')) {
      const chosen = workloads.filter((one) => chooses(spec.selector, one))
      assert.equal(chosen.length, 1)
      const ports = chosen[0]!.spec.template.spec.containers[0]!.ports.map(({ name }) => name)
      for (const { targetPort } of spec.ports) assert.ok(ports.includes(targetPort), targetPort)
    }
  })
}

test('the published schema refuses a misspelt member and a wrong type', () => {
  const [one] = resourcesOf('one-node.yaml').filter(isWorkload)
  const refusals = [
    { ...one, spec: { ...one!.spec, replica: 1 } },
    { ...one, spec: { ...one!.spec, replicas: 'one' } },
  ].map((resource) => Schema.Errors(publishedSchema('StatefulSet'), resource)[1][0]?.instancePath)
  assert.deepEqual(refusals, ['/spec/replica', '/spec/replicas'])
})

test('one node has one process on its volume, and several nodes keep nothing on theirs', () => {
  assert.deepEqual([...FILES].sort(), ['nodes.yaml', 'one-node.yaml'])
  const [one] = resourcesOf('one-node.yaml').filter(isWorkload)
  assert.deepEqual([one!.kind, one!.spec.replicas], ['StatefulSet', 1])
  const nodes = resourcesOf('nodes.yaml').filter(isWorkload)
  const rolesOf = ({ spec }: Workload) =>
    spec.template.spec.containers[0]!.env.find(({ name }) => name === 'MILLRACE_ROLES')?.value
  assert.deepEqual(nodes.map(rolesOf).join(), 'api,scheduler,worker')
  for (const { spec } of nodes) {
    const names = spec.template.spec.containers[0]!.env.map(({ name }) => name)
    for (const name of ['MILLRACE_DATABASE_URL', 'MILLRACE_S3_ENDPOINT', 'MILLRACE_ENCRYPTION_KEY', 'MILLRACE_PUBLIC_URL'])
      assert.ok(names.includes(name), name)
  }
})
