// Settings: of the project, of the stack, and the own ones. Each part names who may change it.

import { getRouteApi } from '@tanstack/react-router'
import { useProject } from '../../facts/project.ts'
import { useFirstLoads } from '../../load.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { usePerson } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { PersonalSettings } from './personal-settings.tsx'
import { ProjectSettings } from './project-settings.tsx'
import { StackSettings } from './stack-settings.tsx'

const route = getRouteApi('/settings')

const TABS = [
  { id: 'project', name: 'Project' },
  { id: 'stack', name: 'Stack' },
  { id: 'you', name: 'You' },
]

export function SettingsScreen() {
  const { tab = 'project' } = route.useSearch()
  const isFirst = useFirstLoads()
  const person = usePerson()
  const project = useProject()
  const say =
    tab === 'you'
      ? (person?.account.name ?? 'You are signed in with a token.')
      : tab === 'stack'
        ? 'Settings of the stack, for all projects.'
        : `Settings of ${project?.name ?? 'the project'}`
  return (
    <Page
      title="Settings"
      isLoading={isFirst}
      crumbs={[{ name: 'Settings' }]}
      say={say}
      tabs={<Tabs label="Settings" current={tab} tabs={TABS} />}
    >
      <div className="tab-body stack-4">
        {tab === 'you' ? <PersonalSettings /> : tab === 'stack' ? <StackSettings /> : <ProjectSettings />}
      </div>
    </Page>
  )
}
