// Which stack a command talks to, and with which token. The first that is given wins:
//
// 1. --url and --token
// 2. --profile
// 3. MILLRACE_URL and MILLRACE_TOKEN
// 4. MILLRACE_PROFILE
// 5. the profile in use (millrace profiles use)
// 6. the stack that runs on the data folder of this machine, or http://127.0.0.1:8000
//
// Address and token come from the same place: the token of a profile is sent to the address of that profile only.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readStackAddresses } from '../../server/src/start/admin-listener.ts'
import { profileNamed, readProfiles } from './profiles.ts'

export interface StackChoice {
  readonly url: string
  readonly token: string | undefined
  /** The profile that both come from. */
  readonly profile?: string
  /** Whether an option of the command names the stack, rather than the environment or a profile in use. */
  readonly isNamed: boolean
}

export interface StackOptions {
  readonly url?: string | undefined
  readonly token?: string | undefined
  readonly profile?: string | undefined
}

export const DEFAULT_URL = 'http://127.0.0.1:8000'

export const withoutSlash = (address: string): string => address.replace(/\/+$/, '')

/** The stack that the options of a command, its environment and the profiles mean. */
export const stackOf = (command: Command): StackChoice => chooseStack(command.optsWithGlobals<StackOptions>())

export function chooseStack({ url, token, profile }: StackOptions): StackChoice {
  const base = baseFor(profile)
  const address = withoutSlash(url ?? base.url)
  const isElsewhere = base.profile !== undefined && address !== base.url
  return {
    url: address,
    token: token ?? (isElsewhere ? undefined : base.token),
    ...(base.profile !== undefined && !isElsewhere && { profile: base.profile }),
    isNamed: url !== undefined || profile !== undefined,
  }
}

function baseFor(flag: string | undefined): Omit<StackChoice, 'isNamed'> {
  if (flag !== undefined) return ofProfile(flag)
  const { MILLRACE_URL, MILLRACE_TOKEN, MILLRACE_PROFILE } = process.env
  if (MILLRACE_URL || MILLRACE_TOKEN) return { url: MILLRACE_URL ?? localUrl(), token: MILLRACE_TOKEN }
  const name = MILLRACE_PROFILE || readProfiles().current
  return name === undefined ? { url: localUrl(), token: undefined } : ofProfile(name)
}

const ofProfile = (name: string): Omit<StackChoice, 'isNamed'> => {
  const { url, token } = profileNamed(name)
  return { url, token, profile: name }
}

const localUrl = (): string => readStackAddresses(resolve(process.env.MILLRACE_DATA_DIR ?? 'data'))?.localUrl ?? DEFAULT_URL

/** Whether the stack runs on this machine: its address is a loopback one. */
export function isLocal(url: string): boolean {
  const { hostname } = new URL(url)
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
