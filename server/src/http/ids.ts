// Ids in paths. Something that is no id names no resource: 404, not 400 (spec storage 1.1).

import { PlatformError } from '../kit/errors.ts'

export function idFrom(text: string, notFound: () => PlatformError): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw notFound()
  return Number(text)
}

/** Of the management API: a project that does not exist is answered as one the person does not belong to. */
export const projectFrom = (text: string): number =>
  idFrom(text, () => new PlatformError('people.notMember', { project: `project ${text}` }))
