// Ids in paths. Something that is no id names no resource: 404, not 400 (spec storage 1.1).

import type { PlatformError } from '../kit/errors.ts'

export function idFrom(text: string, notFound: () => PlatformError): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw notFound()
  return Number(text)
}
