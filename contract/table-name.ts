// What a table may be called (spec storage 2.5.3). Pure.

const MAX_TABLE_NAME = 96
const ALLOWED = /^[A-Za-z0-9_-]+$/

/** Why a text is not the name of a table, as clients expect it; undefined when it is one. */
export function tableNameProblem(name: string): string | undefined {
  const shown = `'${name.slice(0, 120)}'`
  if (name === '') return 'it cannot be empty.'
  if (name.startsWith('_')) return `${shown} contains not allowed characters. Cannot start with underscore.`
  if (!ALLOWED.test(name))
    return `${shown} contains not allowed characters. Only alphanumeric characters dash and underscores are allowed.`
  return name.length > MAX_TABLE_NAME ? `${shown} is longer than ${MAX_TABLE_NAME} characters.` : undefined
}
