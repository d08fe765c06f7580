// The OpenAPI document for tests that walk through it: every `$ref` replaced by what it names.

export function withoutReferences(document: Record<string, unknown>): unknown {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    if ('$ref' in value) return resolve(named(document, String(value.$ref)))
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]))
  }
  return resolve(document)
}

function named(document: Record<string, unknown>, reference: string): unknown {
  const steps = reference.slice('#/'.length).split('/')
  const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document) // a path through objects
  if (found === undefined) throw new Error(`${reference} is not in the document.`)
  return found
}
