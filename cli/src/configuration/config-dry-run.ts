// millrace config dry-run: what a SQL transformation would do, without running it.

import type { Command } from 'commander'
import { createClient } from '../client.ts'
import { print } from '../json-output.ts'
import { type Chosen, withBranch } from './config-requests.ts'

interface Column {
  readonly name: string
  readonly type: string
  readonly from?: readonly { readonly tableId: string; readonly column: string }[] | null
}

interface DryRun {
  readonly statements: readonly {
    readonly block: string
    readonly code: string
    readonly statement: number
    readonly sql: string
    readonly columns: readonly Column[]
    readonly plan: string | null
  }[]
  readonly outputs: readonly { readonly source: string; readonly destination: string; readonly columns: readonly Column[] }[]
}

export function addDryRunCommand(config: Command): void {
  withBranch(config.command('dry-run'))
    .description('statements of a SQL transformation with their plans and columns, and the tables it would write; runs nothing')
    .argument('<component>')
    .argument('<id>')
    .option('--row <id>', 'a row of the configuration')
    .option('--no-plans', 'leave the plans out')
    .action(async (component: string, id: string, options: Chosen & { row?: string; plans: boolean }, command: Command) => {
      const client = createClient(command)
      const branch = options.branch === undefined ? {} : { branchId: options.branch }
      const { configuration } = await client.request<{ configuration: unknown }>('POST', '/sync-actions/configuration/resolve', {
        json: { componentId: component, configId: id, ...branch, ...(options.row !== undefined && { configRowId: options.row }) },
      })
      const tried = await client.request<DryRun>('POST', '/sync-actions/actions', {
        json: { componentId: component, action: 'dryRun', configData: configuration, ...branch },
      })
      print(command, tried, () => text(tried, options.plans))
    })
}

function text({ statements, outputs }: DryRun, withPlans: boolean): string {
  return [
    ...statements.flatMap(({ block, code, statement, sql, columns, plan }) => [
      `${block} / ${code} / ${statement}: ${firstLine(sql)}`,
      ...columns.map((column) => `  ${named(column)}`),
      ...(withPlans && plan !== null ? [plan.trimEnd()] : []),
    ]),
    ...outputs.flatMap(({ source, destination, columns }) => [
      `${source} becomes ${destination}:`,
      ...columns.map((column) => `  ${named(column)}${origin(column)}`),
    ]),
    'nothing was run',
  ].join('\n')
}

const named = ({ name, type }: Column): string => `${name} ${type}`

function origin({ from }: Column): string {
  if (!from || from.length === 0) return ''
  return ` <- ${from.map(({ tableId, column }) => `${tableId}.${column}`).join(', ')}`
}

function firstLine(sql: string): string {
  const [line = ''] = sql.split('\n')
  return line.length > 100 || line !== sql ? `${line.slice(0, 100)} ...` : line
}
