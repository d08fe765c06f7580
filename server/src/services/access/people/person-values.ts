// What a person may be called, and how they are found.

import { PlatformError } from '../../../kit/errors.ts'

const LONGEST_NAME = 120
const LONGEST_EMAIL = 254

export function nameFrom(text: string | undefined): string {
  const name = (text ?? '').trim().replace(/\s+/g, ' ')
  if (name === '' || name.length > LONGEST_NAME) throw invalid('name', `A name has 1 to ${LONGEST_NAME} characters.`)
  return name
}

/** In small letters, so that it is found however it is typed. */
export function emailFrom(text: string | undefined): string {
  const email = (text ?? '').trim().toLowerCase()
  if (email.length > LONGEST_EMAIL || !/^[^\s@<>"]+@[^\s@<>"]+$/.test(email))
    throw invalid('email', `"${email.slice(0, 60)}" is not an e-mail address.`)
  return email
}

const invalid = (field: string, reason: string) => new PlatformError('people.invalid', { field, reason })
