// millrace login and millrace profiles: addresses and tokens of several stacks, saved for later commands. No token is ever printed.

import { hostname } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import type { Command } from 'commander'
import { clientOf } from '../client.ts'
import { print } from '../json-output.ts'
import { table, UserError } from '../output.ts'
import { checkProfileName, type Profile, profileNamed, readProfiles, writeProfiles } from '../profiles.ts'
import { chooseStack, isLocal, withoutSlash } from '../stack-choice.ts'

interface LoginOptions {
  readonly url?: string
  readonly email?: string
  readonly code?: string
  readonly project?: string
  readonly keep?: boolean
}

interface Owner {
  readonly owner: { readonly id: number; readonly name: string }
}

const DEFAULT_NAME = 'default'

export function addLoginCommands(program: Command): void {
  program
    .command('login [name]')
    .description(
      'save a stack and a token as a profile and use it from now on; the token is prompted for, or read from standard input, and verified',
    )
    .option('--url <url>', 'URL of the stack (default: $MILLRACE_URL, or the stack of this machine)')
    .option(
      '--email <address>',
      'sign in as this admin of the project and create a token; the password is prompted for, or read from standard input',
    )
    .option('--code <code>', 'with --email: code of the authenticator')
    .option('--project <id>', 'with --email: the project')
    .option('--keep', 'save only: do not switch to this profile')
    .action(async (name: string = DEFAULT_NAME, options: LoginOptions, command: Command) => {
      checkProfileName(name)
      const url = addressFrom(options.url ?? chooseStack({}).url)
      const secret = await readSecret(options.email === undefined ? 'Storage token' : 'Password')
      const token = options.email === undefined ? secret : await tokenBySignIn(url, secret, options)
      const { owner } = await clientOf(url, token).request<Owner>('GET', '/v2/storage/tokens/verify')
      const profile: Profile = { url, token, project: { id: owner.id, name: owner.name } }
      const before = readProfiles()
      const current = options.keep ? before.current : name
      writeProfiles({ ...(current !== undefined && { current }), profiles: { ...before.profiles, [name]: profile } })
      print(command, shown(name, profile, current), () => `Profile ${name}: project ${owner.id} "${owner.name}" at ${url}`)
    })

  const profiles = program.command('profiles').description('stacks and tokens that millrace login saved')

  profiles
    .command('list', { isDefault: true })
    .description('all profiles; the one in use is marked')
    .action((_options, command: Command) => {
      const { current, profiles: all } = readProfiles()
      const found = Object.entries(all).map(([name, profile]) => shown(name, profile, current))
      print(command, found, (rows) =>
        table(
          ['NAME', 'IN USE', 'ADDRESS', 'PROJECT'],
          rows.map((row) => [row.name, row.isInUse ? 'yes' : '', row.url, `${row.project.id} ${row.project.name}`]),
          'no profiles yet; create one with: millrace login',
        ),
      )
    })

  profiles
    .command('use <name>')
    .description('use this profile where no option and no variable names another stack')
    .action((name: string, _options, command: Command) => {
      const all = readProfiles()
      const profile = profileNamed(name, all)
      writeProfiles({ ...all, current: name })
      print(command, shown(name, profile, name), () => `Profile ${name} is in use: ${profile.url}`)
    })

  profiles
    .command('remove <name>')
    .description('forget a profile; its token stays valid on the stack')
    .action((name: string, _options, command: Command) => {
      const { current, profiles: all } = readProfiles()
      const profile = profileNamed(name, { profiles: all })
      const { [name]: _, ...others } = all
      writeProfiles({ ...(current !== undefined && current !== name && { current }), profiles: others })
      print(command, shown(name, profile, undefined), () => `Profile ${name} is removed.`)
    })
}

const shown = (name: string, { url, project }: Profile, current: string | undefined) => ({
  name,
  isInUse: name === current,
  url,
  project,
})

function addressFrom(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new UserError(`"${text}" is not the URL of a stack. Use one such as https://millrace.example.com.`)
  const address = new URL(text)
  if (address.username !== '' || address.password !== '') throw new UserError('The URL must not contain a user or a password.')
  if (address.protocol === 'http:' && !isLocal(text))
    process.stderr.write(`millrace: ${address.origin} is not encrypted: others on the network can read the token.\n`)
  return withoutSlash(text)
}

/** A session that lasts as long as it takes to create the token. */
async function tokenBySignIn(url: string, password: string, { email = '', code, project }: LoginOptions): Promise<string> {
  if (project === undefined) throw new UserError('A sign-in requires the project to create a token for: use --project.')
  const { send, request } = clientOf(url, '')
  const headers = { Origin: new URL(url).origin }
  const signedIn = await send('POST', '/sign-in/password', { json: { email, password, ...(code && { code }) }, headers })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  const session = { ...headers, Cookie: cookie }
  try {
    const json = {
      description: `millrace login on ${hostname()}`,
      canManageBuckets: true,
      canReadAllFileUploads: true,
      canManageTokens: true,
      canPurgeTrash: true,
    }
    const path = `/manage/projects/${encodeURIComponent(project)}/tokens`
    return (await request<{ token: string }>('POST', path, { json, headers: session })).token
  } finally {
    await send('POST', '/account/sign-out', { json: {}, headers: session }).catch(() => {}) // the session expires by itself
  }
}

async function readSecret(what: string): Promise<string> {
  const secret = (process.stdin.isTTY ? await askHidden(`${what}: `) : await readAll(process.stdin)).trim()
  if (secret === '') throw new UserError(`${what}: nothing was given. Enter it, or pass it on standard input.`)
  return secret
}

/** What is typed is not shown. */
async function askHidden(question: string): Promise<string> {
  process.stderr.write(question)
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const line = createInterface({ input: process.stdin, output, terminal: true })
  try {
    return await line.question('')
  } finally {
    line.close()
    process.stderr.write('\n')
  }
}
