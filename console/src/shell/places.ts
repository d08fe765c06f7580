// The nouns of the product, in the order of the rail. A noun never moves.

import type { IconName } from '../parts/icon.tsx'

export interface Place {
  readonly to: string
  readonly name: string
  readonly icon: IconName
}

export const DATA: readonly Place[] = [
  { to: '/', name: 'Home', icon: 'home' },
  { to: '/storage', name: 'Storage', icon: 'table' },
  { to: '/files', name: 'Files', icon: 'file' },
  { to: '/sql', name: 'SQL', icon: 'sql' },
  { to: '/dashboards', name: 'Dashboards', icon: 'chart' },
]
export const WORK: readonly Place[] = [
  { to: '/components', name: 'Components', icon: 'plug' },
  { to: '/templates', name: 'Templates', icon: 'wand' },
  { to: '/flows', name: 'Flows', icon: 'flow' },
  { to: '/deliveries', name: 'Deliveries', icon: 'external' },
  { to: '/streams', name: 'Streams', icon: 'pulse' },
  { to: '/workspaces', name: 'Workspaces', icon: 'disk' },
  { to: '/apps', name: 'Data apps', icon: 'window' },
  { to: '/schedules', name: 'Schedules', icon: 'clock' },
  { to: '/jobs', name: 'Jobs', icon: 'jobs' },
]
/** For stack admins. */
export const OPERATED: readonly Place[] = [
  { to: '/projects', name: 'Projects', icon: 'disk' },
  { to: '/operations', name: 'Operations', icon: 'disk' },
]
export const STACK: readonly Place[] = [
  { to: '/people', name: 'People', icon: 'people' },
  { to: '/notifications', name: 'Notifications', icon: 'bell' },
  { to: '/tokens', name: 'Tokens', icon: 'key' },
  { to: '/agents', name: 'Agents', icon: 'wand' },
  { to: '/vault', name: 'Vault', icon: 'lock' },
  { to: '/usage', name: 'Usage', icon: 'history' },
  { to: '/settings', name: 'Settings', icon: 'gear' },
]
