// HTTP for the sample shop (spec platform 6.11).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { PlatformError } from '../../../kit/errors.ts'
import { REQUESTS_A_SECOND, SAMPLE_LOGIN, type SampleApi } from './sample-api.ts'

const Description = Type.Object({
  description: Type.String(),
  login: Type.Object({ username: Type.String(), password: Type.String() }),
  endpoints: Type.Record(Type.String(), Type.String()),
})
const Login = Type.Object({
  username: Type.String({ maxLength: 100, description: 'ada', examples: [SAMPLE_LOGIN.username] }),
  password: Type.String({ maxLength: 100, description: 'lovelace', examples: [SAMPLE_LOGIN.password] }),
})
const Session = Type.Object({ token: Type.String(), expiresIn: Type.Integer() })
const PAGE = 50
const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, description: `Most records of an answer; ${PAGE} if not given.` }),
)
const OrdersQuery = Type.Object({
  after: Type.Optional(Type.String({ maxLength: 100, description: '`next` of the page before.' })),
  since: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1e11, description: 'Only orders created at this time or later, in seconds since 1970.' }),
  ),
  limit,
  bad: Type.Optional(Type.Literal('yes', { description: 'The second order has a text where its items should be.' })),
})
const CustomersQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Which page; 1 if not given.' })),
  limit,
})
const Item = Type.Object({ sku: Type.String(), name: Type.String(), quantity: Type.Integer(), price: Type.Number() })
const Order = Type.Object({
  id: Type.Integer(),
  created: Type.String(),
  customerId: Type.Integer(),
  status: Type.String(),
  total: Type.Number(),
  items: Type.Union([Type.Array(Item), Type.String()]),
})
const Customer = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  email: Type.String(),
  address: Type.Object({ city: Type.String(), zip: Type.String() }),
})
const OrdersPage = Type.Object({ orders: Type.Array(Order), next: Type.Union([Type.String(), Type.Null()]) })
const CustomersPage = Type.Object({
  customers: Type.Array(Customer),
  page: Type.Integer(),
  pages: Type.Integer(),
  total: Type.Integer(),
})

export function sampleApiRoutes(sample: SampleApi): FastifyPluginAsyncTypebox {
  return async (app) => {
    if (!sample.isServed) return
    const config = (operation: string, summary: string) =>
      ({ operation: `sample.${operation}`, summary, needs: 'nothing' }) as const

    const admit = ({ headers }: FastifyRequest, reply: FastifyReply) => {
      if (sample.admit(String(headers['x-sample-session'] ?? ''))) return
      reply.header('retry-after', '1')
      throw new PlatformError('sample.tooManyRequests', { limit: REQUESTS_A_SECOND })
    }

    app.get(
      '/sample',
      { config: config('describe', 'What the sample shop has'), schema: { response: { 200: Description } } },
      async ({ baseUrl }) => ({
        description: `A shop to try the extractor on. At most ${REQUESTS_A_SECOND} requests a second; docs: ${baseUrl}/help/sample-api`,
        login: SAMPLE_LOGIN,
        endpoints: {
          'POST /sample/login': `${baseUrl}/sample/login`,
          'GET /sample/orders': `${baseUrl}/sample/orders`,
          'GET /sample/customers': `${baseUrl}/sample/customers`,
        },
      }),
    )

    app.post(
      '/sample/login',
      { config: config('logIn', 'Log in to the sample shop'), schema: { body: Login, response: { 200: Session } } },
      async ({ body }) => sample.logIn(body.username, body.password),
    )

    app.get(
      '/sample/orders',
      {
        config: config('orders', 'Orders of the sample shop, page after page by cursor'),
        schema: { querystring: OrdersQuery, response: { 200: OrdersPage } },
      },
      async (request, reply) => {
        admit(request, reply)
        const { bad, limit = PAGE, ...query } = request.query
        return { ...sample.orders({ ...query, limit, bad: bad === 'yes' }) }
      },
    )

    app.get(
      '/sample/customers',
      {
        config: config('customers', 'Customers of the sample shop, by page number'),
        schema: { querystring: CustomersQuery, response: { 200: CustomersPage } },
      },
      async (request, reply) => {
        admit(request, reply)
        const { page = 1, limit = PAGE } = request.query
        return { ...sample.customers(page, limit) }
      },
    )
  }
}
