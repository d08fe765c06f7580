// Connections of the drivers, over a way that is open already.

import { isIP } from 'node:net'
import type mysql from 'mysql2'
import type pg from 'pg'
import { asSocket } from './as-socket.ts'
import { CONNECT_MS, type Way } from './connect.ts'
import type { ServerSettings } from './connection.ts'

export function postgresqlOptions({ host, user, password, database, tls }: ServerSettings, way: Way): pg.ClientConfig {
  return {
    stream: () => asSocket(way.stream),
    ...{ host, user, password, database },
    ssl: tls ? { ca: tls.ca, cert: tls.cert, key: tls.key, rejectUnauthorized: tls.verify, servername: host } : false,
    application_name: 'millrace',
    connectionTimeoutMillis: CONNECT_MS,
    types: { getTypeParser: () => (value: unknown) => value }, // every value as the server writes it
  }
}

export function mysqlOptions({ host, user, password, database, tls }: ServerSettings, way: Way): mysql.ConnectionOptions {
  return {
    stream: () => asSocket(way.stream),
    ...{ host, user, password, database },
    ...(tls && {
      ssl: {
        ...(tls.ca && { ca: tls.ca }),
        ...(tls.cert && { cert: tls.cert }),
        ...(tls.key && { key: tls.key }),
        rejectUnauthorized: tls.verify,
        // The driver compares certificates with names only.
        verifyIdentity: tls.verify && isIP(host) === 0,
      },
    }),
    charset: 'utf8mb4',
    connectTimeout: CONNECT_MS,
    rowsAsArray: true,
  }
}
