// HTTP for components (spec storage 2.8.2).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ComponentDescription } from '../../../../../contract/component.ts'
import { includeFrom } from '../../../http/include.ts'
import { ComponentId, optionalFlag, optionalText } from '../../../http/parameters.ts'
import { sendJson } from '../../../http/send-json.ts'
import { rawJson, stringifyWithRaw } from '../../../kit/text/json-text.ts'
import { componentMissing } from '../../../model/component-missing.ts'
import type { Components } from './components.ts'

const INCLUDES = ['configuration', 'rows', 'state'] as const
export type ComponentInclude = Readonly<Record<(typeof INCLUDES)[number], boolean>>

export interface ComponentsRoutesDeps {
  readonly components: Components
  /** The configurations this request may see, as JSON texts by the id of their component that clients are shown. */
  readonly configurationsOf: (
    request: Pick<FastifyRequest, 'actor' | 'branch' | 'origin'>,
    isDeleted: boolean,
    include: ComponentInclude,
  ) => Promise<ReadonlyMap<string, readonly string[]>>
}

const ListQuery = Type.Object({
  include: Type.Optional(Type.String({ description: 'What to include, separated by commas: configuration, rows, state.' })),
  componentType: optionalText('Only components of this type, for example `extractor`.'),
  isDeleted: optionalFlag('True: only deleted configurations.'),
})

export function componentsRoutes({ components, configurationsOf }: ComponentsRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/components',
      {
        config: { operation: 'components.list', summary: 'List components with their configurations', needs: 'component' },
        schema: {
          querystring: ListQuery,
          response: {
            200: Type.Array(Type.Intersect([ComponentDescription, Type.Object({ configurations: Type.Array(Type.Unknown()) })])),
          },
        },
      },
      async (req, reply) => {
        const { componentType, isDeleted = false } = req.query
        const texts = await configurationsOf(req, isDeleted, includeOf(req.query.include))
        const shown = [...texts.keys()]
          .sort()
          .flatMap((id) => named(components, id) ?? [])
          .filter(({ type }) => componentType === undefined || type === componentType)
          .map((component) => ({ ...published(component, req.baseUrl), configurations: texts.get(component.id)!.map(rawJson) }))
        return sendJson(reply, stringifyWithRaw(shown))
      },
    )

    app.get(
      '/v2/storage/components/:componentId',
      {
        config: { operation: 'components.get', summary: 'Description of a component', needs: 'nothing' },
        schema: { params: Type.Object({ componentId: ComponentId }), response: { 200: ComponentDescription } },
      },
      async (req) => {
        const component = named(components, req.params.componentId)
        if (!component) throw componentMissing(components, req.params.componentId)
        return published(component, req.baseUrl)
      },
    )
  }
}

/** The description under the id that a client used, so that it finds what it looks for. */
function named(components: Components, id: string): ComponentDescription | undefined {
  const component = components.find(id)
  return component && { ...component, id: components.listedId(id) }
}

/** The description as clients see it: with its address, without what only the runner needs: how an image is pulled, what a command is. */
export function published(component: ComponentDescription, baseUrl: string): ComponentDescription {
  const { command: _command, repository: given, ...shown } = component.data.definition
  const { '#password': _secret, ...repository } = given
  const definition = { ...shown, repository }
  const image_parameters = withoutSecrets(component.data.image_parameters)
  const { ico32, ico64, ico128, documentationUrl, data } = component
  const whole = <T extends string | null>(address: T): T | string => (address?.startsWith('/') ? baseUrl + address : address)
  return {
    ...component,
    uri: `${baseUrl}/queue/${component.id}`,
    documentationUrl: whole(documentationUrl),
    ico32: whole(ico32),
    ico64: whole(ico64),
    ico128: whole(ico128),
    data: { ...data, definition, image_parameters },
  }
}

/** Members that start with `#` are left out at any depth, in clear or not. */
function withoutSecrets<T>(value: T): T {
  const strip = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(strip)
    if (typeof one !== 'object' || one === null) return one
    const shown = Object.entries(one).filter(([name]) => !name.startsWith('#'))
    return Object.fromEntries(shown.map(([name, inner]) => [name, strip(inner)]))
  }
  return strip(value) as T // the same shape, with fewer members
}

function includeOf(list: string | undefined): ComponentInclude {
  const words = includeFrom(list, INCLUDES)
  return { configuration: words.has('configuration'), rows: words.has('rows'), state: words.has('state') }
}
