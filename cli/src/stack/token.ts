// millrace token: tokens of a project, by the rules of the API on the data folder directly, so that a lost master token is no dead end;
// with --url or --profile over HTTP.

import { type Command, InvalidArgumentError } from 'commander'
import { defined } from '../../../server/src/kit/defined.ts'
import { NO_ORIGIN } from '../../../server/src/model/event.ts'
import { readConfig } from '../../../server/src/start/config.ts'
import { createClient, stackOptions } from '../client.ts'
import { confirm, confirmHere, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { withCore } from '../open-core.ts'
import { table, timeText, UserError } from '../output.ts'
import { stackOf } from '../stack-choice.ts'

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
  const token = program.command('token').description('tokens of a project of this installation')
  const withProject = (command: Command) =>
    stackOptions(command).option(
      '--project <id>',
      'project id, on the data folder; a stack named by --url or --profile has that of its token',
      wholeNumber,
      1,
    )

  withYes(withProject(token.command('create')))
    .description('create a token; its value is shown once')
    .option('--description <text>')
    .option('--expires-in <seconds>', 'seconds until it expires', wholeNumber)
    .option('--can-manage-buckets')
    .option('--can-manage-tokens')
    .option('--can-read-all-file-uploads')
    .option('--can-purge-trash')
    .option('--component <id...>', 'components whose configurations it may use')
    .option('--bucket <id=permission...>', 'bucket permissions, for example in.c-main=read')
    .action(async (options: CreateOptions, command: Command) => {
      const { project, component, bucket, description, expiresIn, canManageBuckets, canManageTokens } = options
      const { canReadAllFileUploads, canPurgeTrash } = options
      const request = {
        ...defined({ description, expiresIn, canManageBuckets, canManageTokens, canReadAllFileUploads, canPurgeTrash }),
        ...(component && { componentAccess: component }),
        ...(bucket && { bucketPermissions: Object.fromEntries(bucket.map(permissionOf)) }),
      }
      const answer = stackOf(command).isNamed ? await createThere(command, request) : await createHere(command, project, request)
      print(
        command,
        answer,
        () => `Token ${answer.id} "${answer.description}"\n${answer.token}\nStore it safely: it is shown only once.`,
      )
    })

  withProject(token.command('list'))
    .description('tokens of a project')
    .action(async ({ project }: CreateOptions, command: Command) => {
      const answer = stackOf(command).isNamed ? await listThere(command) : await listHere(project)
      print(command, answer, (rows) =>
        table(
          ['ID', 'DESCRIPTION', 'MASTER', 'EXPIRES'],
          rows.map((row) => [row.id, row.description, row.isMasterToken ? 'yes' : '', row.expires]),
        ),
      )
    })

  withYes(withProject(token.command('delete <id>')))
    .description('delete a token; it stops working immediately')
    .action(async (id: string, { project }: CreateOptions, command: Command) => {
      if (stackOf(command).isNamed) {
        await confirm(command, `Delete token ${id}`)
        await createClient(command).send('DELETE', `/v2/storage/tokens/${encodeURIComponent(id)}`)
      } else {
        const config = readConfig()
        await confirmHere(command, `Delete token ${id}`, config.dataDir)
        await withCore(config, async ({ tokens }) => tokens.remove(await tokens.masterActor(project), wholeNumber(id), NO_ORIGIN))
      }
      print(command, { id }, () => `Token ${id} is deleted.`)
    })

  withYes(withProject(token.command('reset-master')))
    .description('reset the master token of a project; the old one stops working')
    .action(async ({ project }: CreateOptions, command: Command) => {
      if (stackOf(command).isNamed)
        throw new UserError(
          'A master token is reset on the data folder: run the command on the machine of the stack, without --url and --profile.',
        )
      const config = readConfig()
      await confirmHere(command, `Reset the master token of project ${project}`, config.dataDir)
      const made = await withCore(config, async ({ tokens }) => {
        const master = await tokens.masterActor(project)
        return tokens.refresh(master, master.tokenId, NO_ORIGIN)
      })
      print(command, { token: made.value }, ({ token: value }) => `${value}\nStore it safely: it is shown only once.`)
    })
}

interface Created {
  readonly id: string
  readonly description: string
  readonly token: string
}

async function createHere(command: Command, project: number, request: object): Promise<Created> {
  const config = readConfig()
  await confirmHere(command, `Create a token of project ${project}`, config.dataDir)
  const { token, value } = await withCore(config, async ({ tokens }) =>
    tokens.create(await tokens.masterActor(project), request, NO_ORIGIN),
  )
  return { id: String(token.id), description: token.description, token: value }
}

async function createThere(command: Command, json: object): Promise<Created> {
  await confirm(command, 'Create a token')
  const { id, description, token } = await createClient(command).request<Created>('POST', '/v2/storage/tokens', { json })
  return { id: String(id), description, token }
}

interface Listed {
  readonly id: string
  readonly description: string
  readonly isMasterToken: boolean
  readonly expires: string | null
}

const listHere = async (project: number): Promise<Listed[]> => {
  const found = await withCore(readConfig(), async ({ tokens }) => tokens.list(await tokens.masterActor(project)))
  return found.map(({ id, description, isMasterToken, expiresAt }) => ({
    id: String(id),
    description,
    isMasterToken,
    expires: expiresAt ? timeText(expiresAt) : null,
  }))
}

const listThere = async (command: Command): Promise<Listed[]> => {
  const found = await createClient(command).request<Listed[]>('GET', '/v2/storage/tokens')
  return found.map(({ id, description, isMasterToken, expires }) => ({
    id: String(id),
    description,
    isMasterToken,
    expires: expires === null ? null : timeText(expires),
  }))
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It is a whole number.')
  return Number(text)
}

const permissionOf = (text: string): [string, string] => {
  const equals = text.lastIndexOf('=')
  return equals < 0 ? [text, 'read'] : [text.slice(0, equals), text.slice(equals + 1)]
}
