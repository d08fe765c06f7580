// HTTP for the sample shop (spec platform 6.11).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { PlatformError } from '../../../kit/errors.ts'
import type { Written } from './contacts.ts'
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
const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: `Page size; ${PAGE} by default.` }))
const OrdersQuery = Type.Object({
  after: Type.Optional(Type.String({ maxLength: 100, description: '`next` of the previous page.' })),
  since: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1e11, description: 'Only orders created at this time or later, in seconds since 1970.' }),
  ),
  limit,
  bad: Type.Optional(Type.Literal('yes', { description: 'Returns an invalid second order: a string instead of its items.' })),
})
const CustomersQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Page number; 1 by default.' })),
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
const ContactBody = {
  email: Type.Optional(
    Type.String({ maxLength: 200, description: 'An e-mail without @ is refused with 422.', examples: ['ada@example.com'] }),
  ),
}
const NewContact = Type.Object({
  id: Type.Union([Type.String({ minLength: 1, maxLength: 100 }), Type.Integer()], {
    description: 'Chosen by the caller. An existing id is refused with 409.',
    examples: ['7'],
  }),
  ...ContactBody,
})
const ChangedContact = Type.Object(ContactBody)
const ContactPath = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100, description: 'Id of the contact.' }) })
const KeyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'The same key again returns the same answer and changes nothing.' }),
  ),
})
const Contact = Type.Object({ id: Type.String(), version: Type.Integer() })
const Contacts = Type.Object({ total: Type.Integer(), ids: Type.Array(Type.String()) })
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
      { config: config('describe', 'Overview of the sample shop'), schema: { response: { 200: Description } } },
      async ({ baseUrl }) => ({
        description: `A shop to try the extractor on. At most ${REQUESTS_A_SECOND} requests a second; docs: ${baseUrl}/help/sample-api`,
        login: SAMPLE_LOGIN,
        endpoints: {
          'POST /sample/login': `${baseUrl}/sample/login`,
          'GET /sample/orders': `${baseUrl}/sample/orders`,
          'GET /sample/customers': `${baseUrl}/sample/customers`,
          'POST /sample/contacts': `${baseUrl}/sample/contacts`,
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
        config: config('orders', 'List orders of the sample shop, by cursor'),
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
        config: config('customers', 'List customers of the sample shop, by page number'),
        schema: { querystring: CustomersQuery, response: { 200: CustomersPage } },
      },
      async (request, reply) => {
        admit(request, reply)
        const { page = 1, limit = PAGE } = request.query
        return { ...sample.customers(page, limit) }
      },
    )

    const answered = (reply: FastifyReply, { status, contact }: Written) => {
      void reply.code(status)
      return { ...contact }
    }

    app.get(
      '/sample/contacts',
      {
        config: config('contacts', 'List ids of contacts in the sample shop'),
        schema: { response: { 200: Contacts } },
      },
      async (request, reply) => {
        admit(request, reply)
        return sample.contacts.list()
      },
    )
    app.get(
      '/sample/contacts/:id',
      { config: config('contact', 'A contact of the sample shop'), schema: { params: ContactPath, response: { 200: Contact } } },
      async (request, reply) => {
        admit(request, reply)
        return { ...sample.contacts.find(request.params.id) }
      },
    )
    app.post(
      '/sample/contacts',
      {
        config: config('createContact', 'Create a contact of the sample shop'),
        schema: { headers: KeyHeader, body: NewContact, response: { 201: Contact } },
      },
      async (request, reply) => {
        admit(request, reply)
        const { id, email } = request.body
        return answered(reply, sample.contacts.create(String(id), email, request.headers['idempotency-key']))
      },
    )
    for (const [method, operation, summary] of [
      ['PUT', 'putContact', 'Create or change a contact of the sample shop'],
      ['PATCH', 'changeContact', 'Change a contact of the sample shop'],
    ] as const)
      app.route({
        method,
        url: '/sample/contacts/:id',
        config: config(operation, summary),
        schema: { params: ContactPath, headers: KeyHeader, body: ChangedContact, response: { 200: Contact, 201: Contact } },
        handler: async (request, reply) => {
          admit(request, reply)
          const key = request.headers['idempotency-key']
          return answered(reply, sample.contacts.change(request.params.id, request.body.email, method === 'PUT', key))
        },
      })
    app.delete(
      '/sample/contacts/:id',
      {
        config: config('deleteContact', 'Delete a contact of the sample shop'),
        schema: { params: ContactPath, headers: KeyHeader, response: { 204: Type.Null() } },
      },
      async (request, reply) => {
        admit(request, reply)
        sample.contacts.remove(request.params.id, request.headers['idempotency-key'])
        void reply.code(204)
        return null
      },
    )
  }
}
