// What --json, --jq and --query print: the JSON of a command, some of its fields, or what an expression makes of it (ADR 0046).

import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import type * as JmesPath from '@jmespath-community/jmespath'
import { Command, Option } from 'commander'
import { UserError } from './output.ts'

interface JsonOptions {
  /** True or empty: everything; otherwise the names of fields with commas. */
  readonly json?: boolean | string
  readonly jq?: string
  readonly query?: string
}

const jsonOptionsOf = (command: Command): JsonOptions => {
  const { json, jq, jmespath } = command.optsWithGlobals<JsonOptions & { jmespath?: string }>()
  return {
    ...(json !== undefined && { json }),
    ...(jq !== undefined && { jq }),
    ...(jmespath !== undefined && { query: jmespath }),
  }
}

/** Whether the command prints JSON rather than text. */
export const wantsJson = (command: Command): boolean => Object.values(jsonOptionsOf(command)).some((value) => value !== false)

/** Prints a value: as JSON, or by `text`. */
export function print<T>(command: Command, value: T, text: (value: T) => string): void {
  process.stdout.write(wantsJson(command) ? jsonText(value, jsonOptionsOf(command)) : `${text(value)}\n`)
}

/** Prints output that is always JSON: its own text, unless fields or an expression choose something of it. */
export function printJson(command: Command, text: string): void {
  const { json, ...expression } = jsonOptionsOf(command)
  const isWhole = (json === undefined || json === true || json === '') && Object.keys(expression).length === 0
  process.stdout.write(isWhole ? text : jsonText(JSON.parse(text), { ...expression, ...(json !== undefined && { json }) }))
}

/** The text to print for a value, with its last line end. */
function jsonText(value: unknown, { json, jq, query }: JsonOptions): string {
  if (jq !== undefined && query !== undefined) throw new UserError('Use --jq or --jmespath, not both.')
  const chosen = typeof json === 'string' && json !== '' ? withFields(value, json.split(',')) : value
  if (jq !== undefined) return byJq(chosen, jq)
  return `${JSON.stringify(query === undefined ? chosen : byJmesPath(chosen, query), null, 2)}\n`
}

function withFields(value: unknown, fields: readonly string[]): unknown {
  const records = (Array.isArray(value) ? value : [value]).filter(isRecord)
  const known = [...new Set(records.flatMap((record) => Object.keys(record)))]
  const unknown = fields.filter((field) => !known.includes(field))
  if (unknown.length > 0 && records.length > 0)
    throw new UserError(`Unknown fields of --json: ${unknown.join(', ')}. Fields: ${known.toSorted().join(', ')}.`)
  const pick = (record: unknown) =>
    isRecord(record) ? Object.fromEntries(fields.map((field) => [field, record[field] ?? null])) : record
  return Array.isArray(value) ? value.map(pick) : pick(value)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** By the program of that name (ADR 0046). The space keeps an expression from being an option. */
function byJq(value: unknown, expression: string): string {
  const { error, status, stdout, stderr } = spawnSync('jq', ['--raw-output', ` ${expression}`], {
    input: JSON.stringify(value),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  // An expression that jq refuses ends it before it has read its input (EPIPE); its exit status has the reason.
  if (error && status === null)
    throw new UserError(
      `--jq needs the program jq on this machine (${(error as NodeJS.ErrnoException).code}). Install it, or use --jmespath, which is built in.`,
    )
  if (status !== 0) throw new UserError(`--jq: ${stderr.trim().split('\n')[0]}`)
  return stdout
}

function byJmesPath(value: unknown, expression: string): unknown {
  // Loaded here: loading takes longer than most commands run.
  const { search } = createRequire(import.meta.url)('@jmespath-community/jmespath') as typeof JmesPath
  try {
    return search(value as JmesPath.JSONValue, expression)
  } catch (error) {
    throw new UserError(`--jmespath: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const FIELDS = /^[A-Za-z_]\w*(,[A-Za-z_]\w*)*$/

/** A command with --json, --jq and --jmespath. */
export class JsonCommand extends Command {
  override createCommand(name?: string): Command {
    return new JsonCommand(name)
  }

  override parseOptions(args: string[]) {
    return super.parseOptions(this.commands.length === 0 ? withFieldsMarked(this, args) : args)
  }
}

/** Adds the options where they belong: with fields to commands that do something, without to those that only hold others. */
export function addJsonOptions(command: Command): void {
  const isLeaf = command.commands.length === 0
  const options = [
    isLeaf
      ? new Option('--json [fields]', 'print JSON: everything, or these fields with commas')
      : new Option('--json', 'print JSON instead of text').hideHelp(command.parent !== null),
    new Option('--jq <expression>', 'filter the JSON with jq').hideHelp(!isLeaf),
    new Option('--jmespath <expression>', 'filter the JSON with a JMESPath expression').hideHelp(!isLeaf),
  ]
  for (const option of options) command.addOption(option)
  for (const inner of command.commands) addJsonOptions(inner)
}

/**
 * `--json id,name` names fields, and `--json` before an argument of the command does not: a word is taken for fields when it looks like
 * them and the command has all its arguments without it. `--json=id,name` always names fields.
 */
function withFieldsMarked(command: Command, args: readonly string[]): string[] {
  const at = args.indexOf('--json')
  const next = args[at + 1]
  if (at < 0 || next === undefined) return [...args]
  const isArgument = !FIELDS.test(next) || !areEnough(command, args)
  return [...args.slice(0, at), ...(isArgument ? ['--json=', next] : [`--json=${next}`]), ...args.slice(at + 2)]
}

function areEnough(command: Command, args: readonly string[]): boolean {
  const probe = new Command().allowUnknownOption()
  for (const { flags, long } of command.options) probe.addOption(new Option(long === '--json' ? '--json' : flags))
  const { registeredArguments: all } = command
  return (
    !all.some(({ variadic }) => variadic) &&
    probe.parseOptions([...args]).operands.length > all.filter(({ required }) => required).length
  )
}
