// Values that both formats can express: texts, members of the configuration, and texts joined of both.

import { type Dict, isDict, pyStr } from '../python/values.ts'

const MEMBER = /^\s*config(?:\.get\(\s*['"]([\w#-]+)['"]\s*\)|\.(\w+)|\[\s*['"]([\w#-]+)['"]\s*\])\s*$/

/** A template as a value of the extractor; undefined when the extractor cannot express it. `isSecret`: of a member of the configuration. */
export function toExtractorValue(template: unknown, isSecret: (name: string) => boolean): unknown {
  if (typeof template !== 'string') return template
  const parts: unknown[] = []
  let rest = template
  while (rest !== '') {
    const open = rest.indexOf('{{')
    if (open < 0) {
      parts.push(rest)
      break
    }
    const close = rest.indexOf('}}', open)
    if (close < 0) return undefined
    if (open > 0) parts.push(rest.slice(0, open))
    const member = MEMBER.exec(rest.slice(open + 2, close))
    const name = member?.[1] ?? member?.[2] ?? member?.[3]
    if (name === undefined) return undefined
    parts.push({ attr: isSecret(name) ? `#${name}` : name })
    rest = rest.slice(close + 2)
  }
  if (template.includes('{%')) return undefined
  if (parts.length === 1) return parts[0]
  return parts.length === 0 ? '' : { function: 'concat', args: parts }
}

/** A value of the extractor as a template; undefined when it is a function that manifests do not have. `use` is called for every member. */
export function toTemplate(value: unknown, use: (name: string) => void): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!isDict(value)) return undefined
  if (typeof value.attr === 'string') {
    use(value.attr)
    return `{{ config['${value.attr.replace(/^#/, '')}'] }}`
  }
  if (value.function !== 'concat' || !Array.isArray(value.args)) return undefined
  const parts = value.args.map((each) => toTemplate(each, use))
  return parts.some((part) => part === undefined) ? undefined : parts.map(pyStr).join('')
}

export function toTemplates(values: Dict, use: (name: string) => void, leftOut: (name: string) => void): Dict {
  const out: Dict = {}
  for (const [name, value] of Object.entries(values)) {
    const template = toTemplate(value, use)
    if (template === undefined) leftOut(name)
    else out[name] = template
  }
  return out
}
