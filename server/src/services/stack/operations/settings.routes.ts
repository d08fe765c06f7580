// HTTP for the settings of the stack (spec platform 6.10a). Only for stack admins.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { Nullable } from '../../../http/parameters.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { config } from './for-stack-admins.ts'
import { type SettingState, type Settings, shownOf } from './settings.ts'

const SettingView = Type.Object(
  {
    name: Type.String(),
    value: Nullable(Type.String({ description: 'Current value as text; null for a secret.' })),
    origin: Type.String({ description: '`changed` while the stack ran, `environment` or `default`.' }),
    default: Type.String(),
    description: Type.String(),
    isSecret: Type.Boolean(),
    isChangeable: Type.Boolean({ description: 'Whether it can be changed while the stack runs.' }),
    changedAt: Nullable(Timestamp),
    changedBy: Nullable(Type.String()),
  },
  { title: 'StackSetting' },
)
const ByName = Type.Object({
  name: Type.String({ maxLength: 100, description: 'Name of the setting.', examples: ['MILLRACE_WORKER_JOBS'] }),
})
const Value = Type.Object({
  value: Type.Union([Type.String({ maxLength: 1000 }), Type.Integer()], {
    description: 'Value as in the environment, with the same validation.',
  }),
})

export function settingsRoutes(settings: Settings): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/operations/settings',
      {
        config: config('settings', 'Settings of the stack with values and their origin (stack admin)'),
        schema: { response: { 200: Type.Array(SettingView) } },
      },
      async () => settings.list().map(view),
    )

    app.put(
      '/operations/settings/:name',
      {
        config: config('changeSetting', 'Change a setting while the stack runs, permanently and on all nodes (stack admin)'),
        schema: { params: ByName, body: Value, response: { 200: SettingView } },
      },
      async ({ person, params, body, origin }) => view(await settings.set(person, params.name, String(body.value), origin)),
    )

    app.delete(
      '/operations/settings/:name',
      {
        config: config('resetSetting', 'Revert a setting to its value in the environment (stack admin)'),
        schema: { params: ByName, response: { 200: SettingView } },
      },
      async ({ person, params, origin }) => view(await settings.reset(person, params.name, origin)),
    )
  }
}

function view(state: SettingState): Static<typeof SettingView> {
  const { setting, changed } = state
  return {
    name: setting.name,
    value: shownOf(state) ?? null,
    origin: changed ? 'changed' : setting.isGiven ? 'environment' : 'default',
    default: setting.default,
    description: setting.description,
    isSecret: setting.isSecret,
    isChangeable: setting.isLive,
    changedAt: changed ? formatTimestamp(new Date(Number(changed.changed_at))) : null,
    changedBy: changed?.changed_by ?? null,
  }
}
