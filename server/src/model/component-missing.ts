// Why a component id is unknown: it has no description, or the description is invalid.

import { PlatformError } from '../kit/errors.ts'

export interface ComponentProblems {
  problemOf(id: string): string | undefined
}

export function componentMissing(components: ComponentProblems, id: string): PlatformError {
  const reason = components.problemOf(id)
  return reason === undefined
    ? new PlatformError('storage.components.notFound', { id: id.slice(0, 130) })
    : new PlatformError('storage.components.descriptionInvalid', { id: id.slice(0, 130), reason: reason.slice(0, 1000) })
}
