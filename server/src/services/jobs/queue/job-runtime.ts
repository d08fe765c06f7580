// The runtime settings of a configuration (`runtime`, spec platform 1.3) as far as the queue decides by it.

import { kindOf, membersOf } from '../../../kit/text/json-text.ts'

export interface JobRuntime {
  /** Rows that may run side by side: a number above 0 as text, `infinity`, or null for one after the other. */
  readonly parallelism: string | null
  /** Of the image; undefined when the configuration leaves it to the component. */
  readonly tag: string | undefined
  /** The author of the configuration allows it to run in a development branch. */
  readonly isSafe: boolean
  /** What the node that runs it must have. */
  readonly labels: readonly string[]
}

/** `configuration` is JSON text. What has the wrong shape is left to the runner, which names it. */
export function runtimeOf(configuration: string): JobRuntime {
  const node = membersOf(configuration).get('runtime')
  const members = node !== undefined && kindOf(node) === 'object' ? membersOf(node) : new Map<string, string>()
  const value: unknown = JSON.parse(members.get('parallelism') ?? 'null')
  const isParallel = value === 'infinity' || (Number.isInteger(Number(value)) && Number(value) > 0)
  return {
    parallelism: isParallel ? String(value) : null,
    tag: textOf(members.get('tag')) ?? textOf(members.get('image_tag')),
    isSafe: members.get('safe') === 'true',
    labels: wordsOf(members.get('labels')),
  }
}

const textOf = (json: string | undefined): string | undefined => {
  const value: unknown = json === undefined ? undefined : JSON.parse(json)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function wordsOf(json: string | undefined): string[] {
  const value: unknown = json === undefined ? [] : JSON.parse(json)
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string' && word !== '') : []
}
