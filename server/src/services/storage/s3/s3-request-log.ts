// One line in the log for each request to the object store.

import type { FastifyBaseLogger } from 'fastify'
import type { S3RequestLine } from './s3.server.ts'

export function logS3Request(log: FastifyBaseLogger, { error, operation, ...line }: S3RequestLine): void {
  if (error) log.error({ err: error, operation: `s3.${operation}`, ...line }, 'a request to the object store failed by our fault')
  else log.info({ operation: `s3.${operation}`, ...line }, 'request')
}
