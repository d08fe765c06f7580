// millrace token: tokens of a project, made by the rules of the API on the data folder directly, so that a lost master token is no dead end.

import { type Command, InvalidArgumentError } from 'commander'
import { NO_ORIGIN } from '../../server/src/model/event.ts'
import { readConfig } from '../../server/src/start/config.ts'
import { withExamples } from './help.ts'
import { withCore } from './open-core.ts'
import { print, table, timeText } from './output.ts'

interface CreateOptions {
  readonly project: number
  readonly description?: string
  readonly expiresIn?: number
  readonly canManageBuckets?: boolean
  readonly canManageTokens?: boolean
  readonly canReadAllFileUploads?: boolean
  readonly canPurgeTrash?: boolean
  readonly component?: string[]
  readonly bucket?: string[]
}

export function addTokenCommands(program: Command): void {
  const token = withExamples(
    program.command('token').description('tokens of a project of this installation'),
    'millrace token create --description reader --expires-in 86400',
    'millrace token reset-master',
  )
  const withProject = (command: Command) => command.option('--project <id>', 'project id', wholeNumber, 1)

  withProject(token.command('create'))
    .description('make a token; its value is shown once')
    .option('--description <text>')
    .option('--expires-in <seconds>', 'seconds until it expires', wholeNumber)
    .option('--can-manage-buckets')
    .option('--can-manage-tokens')
    .option('--can-read-all-file-uploads')
    .option('--can-purge-trash')
    .option('--component <id...>', 'components whose configurations it may use')
    .option('--bucket <id=permission...>', 'bucket permissions, for example in.c-main=read')
    .action(async (options: CreateOptions, command: Command) => {
      const { project, component, bucket, ...rest } = options
      const request = {
        ...rest,
        ...(component && { componentAccess: component }),
        ...(bucket && { bucketPermissions: Object.fromEntries(bucket.map(permissionOf)) }),
      }
      const made = await withCore(readConfig(), async ({ tokens }) =>
        tokens.create(await tokens.masterActor(project), request, NO_ORIGIN),
      )
      const answer = { id: String(made.token.id), description: made.token.description, token: made.value }
      print(
        command,
        answer,
        () => `Token ${answer.id} "${answer.description}"\n${answer.token}\nKeep it: it is shown only this once.`,
      )
    })

  withProject(token.command('list'))
    .description('tokens of a project')
    .action(async ({ project }: CreateOptions, command: Command) => {
      const tokens = await withCore(readConfig(), async ({ tokens: all }) => all.list(await all.masterActor(project)))
      const answer = tokens.map((one) => ({
        id: String(one.id),
        description: one.description,
        isMasterToken: one.isMasterToken,
        expires: one.expiresAt ? timeText(one.expiresAt) : null,
      }))
      print(command, answer, (rows) =>
        table(
          ['ID', 'DESCRIPTION', 'MASTER', 'EXPIRES'],
          rows.map((row) => [row.id, row.description, row.isMasterToken ? 'yes' : '', row.expires]),
        ),
      )
    })

  withProject(token.command('reset-master'))
    .description('give the master token of a project a new value; the old one stops working')
    .action(async ({ project }: CreateOptions, command: Command) => {
      const made = await withCore(readConfig(), async ({ tokens }) => {
        const master = await tokens.masterActor(project)
        return tokens.refresh(master, master.tokenId, NO_ORIGIN)
      })
      print(command, { token: made.value }, ({ token: value }) => `${value}\nKeep it: it is shown only this once.`)
    })
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It is a whole number.')
  return Number(text)
}

const permissionOf = (text: string): [string, string] => {
  const equals = text.lastIndexOf('=')
  return equals < 0 ? [text, 'read'] : [text.slice(0, equals), text.slice(equals + 1)]
}
