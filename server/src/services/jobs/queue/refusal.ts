// A value of a request that the queue cannot use.

import { PlatformError } from '../../../kit/errors.ts'

export const refusal = (field: string, reason: string): PlatformError =>
  new PlatformError('validation.failed', { field, reason }, { errors: [{ key: field, message: reason }] })
