// The configuration of "try it with the sample shop": a login, a cursor, two rows. Made over the API, as a person would.

import { api } from '../session.ts'

export const COMPONENT = 'keboola.ex-generic-v2'
export const CONFIGURATION = 'sample-shop'
const ORDERS_ROW = 'orders'
export const TABLE = 'in.c-sample-shop.orders'
const place = { componentId: COMPONENT, configurationId: CONFIGURATION }

const root = () => ({
  parameters: {
    api: {
      baseUrl: `${location.origin}/sample/`,
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'login', method: 'POST', params: { username: 'ada', password: { attr: '#password' } } },
        apiRequest: { headers: { 'X-Sample-Session': { response: 'token' } } },
        expires: { response: 'expiresIn', relative: true },
      },
      pagination: {
        method: 'multiple',
        scrollers: {
          cursor: { method: 'response.param', responseParam: 'next', queryParam: 'after', includeParams: true },
          pages: { method: 'pagenum', pageParam: 'page', limitParam: 'limit', limit: 25, firstPageParams: true },
        },
      },
    },
    config: { '#password': 'lovelace', outputBucket: 'sample-shop' },
  },
})

const ordersRow = (params: Readonly<Record<string, unknown>>) => ({
  parameters: { config: { jobs: [{ endpoint: 'orders', dataField: 'orders', scroller: 'cursor', params }] } },
})
const customersRow = { parameters: { config: { jobs: [{ endpoint: 'customers', dataField: 'customers', scroller: 'pages' }] } } }

/** Makes the configuration with its two rows, unless it is there. */
export async function createSampleShop(): Promise<void> {
  const configurations = [{ componentId: COMPONENT, configurationId: CONFIGURATION }]
  const [known] = await api.call('configurations.names', { body: { configurations } })
  if (known?.name) return
  await api.call('configurations.create', {
    path: { componentId: COMPONENT },
    body: {
      configurationId: CONFIGURATION,
      name: 'Sample shop',
      description: 'Orders and customers of the sample shop',
      configuration: root(),
    },
  })
  await api.call('rows.create', {
    path: place,
    body: { rowId: ORDERS_ROW, name: 'orders', configuration: ordersRow({ limit: 50 }) },
  })
  await api.call('rows.create', {
    path: place,
    body: { rowId: 'customers', name: 'customers', configuration: customersRow },
  })
}

export async function runSampleShop(): Promise<string> {
  const job = await api.call('queue.create', { body: { component: COMPONENT, config: CONFIGURATION, mode: 'run' } })
  return job.id
}

/** Requests the one bad record of the shop. */
export const breakSampleShop = () =>
  api.call('rows.update', {
    path: { ...place, rowId: ORDERS_ROW },
    body: { configuration: ordersRow({ limit: 50, bad: 'yes' }), changeDescription: 'Request the bad record' },
  })
