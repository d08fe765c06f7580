// Ctrl K: find anything of the project by a word, go to a place, or run a command of the console.

import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import type { Answer } from '../../../client/src/client.ts'
import { FLOW_COMPONENTS } from '../facts/names.ts'
import { useLoad } from '../load.tsx'
import { useModal } from '../parts/drawer.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { usePerson } from '../session.ts'
import { toggleTheme } from '../theme.ts'
import { useKey } from '../use-key.ts'
import { type Entry, useVerbs } from './palette-verbs.ts'
import { type Asked, readAsked } from './palette-words.ts'
import { DATA, OPERATED, STACK, WORK } from './places.ts'
import { startTour } from './tour.tsx'
import './shell.css'

export function usePalette() {
  const [isOpen, setOpen] = useState(false)
  const open = () => setOpen(true)
  useKey('Ctrl k', 'Search or run', open)
  return { isOpen, open, close: () => setOpen(false) }
}

type Found = Answer<'search.everything'>['items'][number]

/** The search refuses longer words. */
const MAX_CHARACTERS = 200

const ICONS: Readonly<Record<string, IconName>> = {
  table: 'table',
  column: 'table',
  bucket: 'disk',
  configuration: 'plug',
  row: 'plug',
  content: 'plug',
  file: 'file',
  job: 'jobs',
  schedule: 'clock',
  person: 'people',
}

export function Palette({ onClose }: { onClose: () => void }) {
  const modal = useModal(onClose)
  const [text, setText] = useState('')
  const [selected, setSelected] = useState(0)
  const query = useDeferredValue(text.trim())
  const asked = readAsked(query)
  const isSearch = asked.text.length > 0 && asked.verb === undefined && !query.startsWith('>')
  const { kinds, text: word } = asked
  const found = useLoad('search.everything', { query: { text: word, limit: 8, ...(kinds && { kinds }) } }, { enabled: isSearch })
  const isBucket = isSearch && (kinds === undefined || kinds[0] === 'table')
  const buckets = useLoad('globalSearch.search', { query: { query: word, types: 'bucket', limit: 8 } }, { enabled: isBucket })
  const verbs = useVerbs(query, asked, onClose)
  const isScheduleNamed = verbs.entries.some(({ icon }) => icon === 'clock')
  const others = useEntries(
    query,
    asked,
    isSearch
      ? [
          ...(found.data?.items ?? []).filter(({ kind }) => kind !== 'schedule' || !isScheduleNamed),
          ...(isBucket ? bucketsIn(buckets.data?.items ?? []) : []),
        ]
      : [],
    onClose,
  )
  const all = [...verbs.entries, ...others]
  // Nothing is shown in part: an answer that comes later would move what a person is about to click.
  const isSearching = text.trim() !== query || (isSearch && (found.isPending || (isBucket && buckets.isPending)))
  const entries = isSearching ? [] : all
  const move = (step: number) => setSelected((entries.length + selected + step) % Math.max(entries.length, 1))
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      move(step)
    }
    if (event.key === 'Enter') entries[selected]?.run()
  }
  return (
    <dialog {...modal} className="palette" aria-label="Search or run">
      <div className="flex-row palette-input">
        <Icon name="search" />
        <input
          className="grow"
          placeholder="Search everything, or type run, new, pause, t orders, job 2, >"
          aria-label="Search"
          maxLength={MAX_CHARACTERS}
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries[selected] ? `palette-${selected}` : undefined}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setSelected(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id="palette-list" role="listbox" aria-label="Found" className="palette-list">
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field runs the selected one
          <div
            key={entry.key}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === selected}
            className="flex-row palette-row"
            onClick={entry.run}
          >
            <Icon name={entry.icon} />
            <span className="medium clip">{entry.name}</span>
            <span className="mute fine clip push">{entry.note}</span>
          </div>
        ))}
        {verbs.error ? <Problem error={verbs.error} /> : null}
        {isSearching ? <p className="inset mute">Searching ...</p> : null}
        {entries.length === 0 && !isSearching ? <p className="inset mute">Nothing is called “{query}”.</p> : null}
      </div>
    </dialog>
  )
}

function useEntries(query: string, { verb, kinds }: Asked, found: readonly Found[], onClose: () => void): readonly Entry[] {
  const navigate = useNavigate()
  const isAdmin = usePerson()?.account.isStackAdmin ?? false
  const places = [...DATA, ...WORK, ...STACK, ...(isAdmin ? OPERATED : [])]
  const go = (to: string, search: Address['search'] = {}) => {
    onClose()
    void navigate({ to, search: search })
  }
  const tour = () => {
    onClose()
    startTour()
  }
  const commands: readonly Entry[] = [
    { key: 'upload', icon: 'upload', name: 'Upload data', note: 'command', run: () => go('/upload') },
    { key: 'sql', icon: 'sql', name: 'Query with SQL', note: 'command', run: () => go('/sql') },
    { key: 'try', icon: 'play', name: 'Try it with the sample shop', note: 'command', run: () => go('/try') },
    { key: 'tour', icon: 'wand', name: 'Start the tour', note: 'command', run: tour },
    { key: 'account', icon: 'people', name: 'Your account', note: 'command', run: () => go('/settings', { tab: 'you' }) },
    ...places.map(({ to, name, icon }) => ({ key: to, icon, name: `Go to ${name}`, note: 'place', run: () => go(to) })),
    {
      key: 'theme',
      icon: 'sun',
      name: 'Switch light and dark',
      note: 'command',
      run: () => {
        toggleTheme()
        onClose()
      },
    },
  ]
  const command = query.replace(/^>\s*/, '').toLowerCase()
  const matching = commands.filter(({ name }) => name.toLowerCase().includes(command))
  if (query === '' || query.startsWith('>')) return matching
  if (verb !== undefined) return []
  const results = found.map((one, index) => ({
    key: `${one.kind} ${one.id} ${index}`,
    icon: ICONS[one.kind] ?? ('info' as const),
    name: one.name,
    note: noteOf(one),
    run: () => {
      const { to, search } = addressOf(one)
      go(to, search)
    },
  }))
  return kinds ? results : [...results, ...matching]
}

/** What it is and where it belongs. */
function noteOf({ kind, id, configurationId }: Found): string {
  if (kind === 'content') return `inside configuration ${configurationId ?? id}`
  return kind === 'row' && configurationId ? `row of ${configurationId}` : `${kind} ${id}`
}

/** The search by a word has no buckets; the one over all branches describes what it finds loosely. */
const bucketsIn = (items: readonly unknown[]): readonly Found[] =>
  (items as readonly Omit<Found, 'kind'>[]).map(({ id, name }) => ({ kind: 'bucket', id, name }))

interface Address {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
}

function addressOf({ kind, id, tableId, componentId = '', configurationId = id, rowId }: Found): Address {
  if (kind === 'table' || kind === 'column') return { to: `/storage/${encodeURIComponent(tableId ?? id)}` }
  if (kind === 'bucket') return { to: '/storage', search: { q: id } }
  if (kind === 'file') return { to: '/files', search: { file: id } }
  if (kind === 'job') return { to: `/jobs/${encodeURIComponent(id)}` }
  if (kind === 'schedule') return { to: '/schedules' }
  if (kind === 'person') return { to: '/people' }
  const row = kind === 'row' ? id : rowId
  const address = `${encodeURIComponent(componentId)}/${encodeURIComponent(configurationId)}`
  if (FLOW_COMPONENTS.includes(componentId)) return { to: `/flows/${address}` }
  return { to: `/components/${address}`, search: row ? { row } : {} }
}
