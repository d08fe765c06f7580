// Ctrl K: find tables, buckets, configurations, or run a command of the console.

import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { useLoad } from '../load.tsx'
import { useModal } from '../parts/drawer.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { toggleTheme } from '../theme.ts'
import { useKey } from '../use-key.ts'

export function usePalette() {
  const [isOpen, setOpen] = useState(false)
  const open = () => setOpen(true)
  useKey('Ctrl k', 'Search or run', open)
  return { isOpen, open, close: () => setOpen(false) }
}

interface Entry {
  readonly key: string
  readonly icon: IconName
  readonly name: string
  readonly note: string
  readonly run: () => void
}

interface Found {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly componentId?: string | null
  readonly fullPath?: {
    readonly bucket?: { readonly id: string }
    readonly configuration?: { readonly id: string }
    readonly component?: { readonly id: string }
  }
}

const ICONS: Readonly<Record<string, IconName>> = {
  table: 'table',
  bucket: 'disk',
  configuration: 'plug',
  'configuration-row': 'plug',
  flow: 'flow',
}

export function Palette({ onClose }: { onClose: () => void }) {
  const modal = useModal(onClose)
  const [text, setText] = useState('')
  const [selected, setSelected] = useState(0)
  const query = useDeferredValue(text.trim())
  const search = useLoad(
    'globalSearch.search',
    { query: { query, limit: 20 } },
    { enabled: query.length > 0 && !query.startsWith('>') },
  )
  const entries = useEntries(query, (search.data?.items ?? []) as readonly Found[], onClose)
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
      <div className="row palette-input">
        <Icon name="search" />
        <input
          className="grow"
          placeholder="Search tables, configurations, or type > for commands"
          aria-label="Search"
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
            className="row palette-row"
            onClick={entry.run}
          >
            <Icon name={entry.icon} />
            <span className="med clip">{entry.name}</span>
            <span className="mute xs clip push">{entry.note}</span>
          </div>
        ))}
        {entries.length === 0 ? <p className="in mute">Nothing is called “{query}”.</p> : null}
      </div>
    </dialog>
  )
}

function useEntries(query: string, found: readonly Found[], onClose: () => void): readonly Entry[] {
  const navigate = useNavigate()
  const go = (to: string) => () => {
    onClose()
    void navigate({ to })
  }
  const commands: readonly Entry[] = [
    { key: 'upload', icon: 'upload', name: 'Upload data', note: 'command', run: go('/upload') },
    { key: 'sql', icon: 'sql', name: 'Ask by SQL', note: 'command', run: go('/sql') },
    { key: 'try', icon: 'play', name: 'Try it with the sample shop', note: 'command', run: go('/try') },
    { key: 'flows', icon: 'flow', name: 'Show flows', note: 'command', run: go('/flows') },
    { key: 'streams', icon: 'pulse', name: 'Show streams', note: 'command', run: go('/streams') },
    {
      key: 'notifications',
      icon: 'bell',
      name: 'Tell somebody when something fails',
      note: 'command',
      run: go('/notifications'),
    },
    { key: 'jobs', icon: 'jobs', name: 'Show jobs', note: 'command', run: go('/jobs') },
    { key: 'token', icon: 'key', name: 'Make a token', note: 'command', run: go('/tokens') },
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
  const asked = query.replace(/^>\s*/, '').toLowerCase()
  const matching = commands.filter(({ name }) => name.toLowerCase().includes(asked))
  if (query === '' || query.startsWith('>')) return matching
  const results = found.map((one) => ({
    key: `${one.type} ${one.fullPath?.configuration?.id ?? ''} ${one.id}`,
    icon: ICONS[one.type] ?? ('info' as const),
    name: one.name,
    note: `${one.type} ${one.id}`,
    run: go(addressOf(one)),
  }))
  return [...results, ...matching]
}

function addressOf({ type, id, componentId, fullPath }: Found): string {
  if (type === 'table') return `/storage/${encodeURIComponent(id)}`
  if (type === 'bucket') return `/storage?q=${encodeURIComponent(id)}`
  const component = fullPath?.component?.id ?? componentId ?? ''
  const configuration = fullPath?.configuration?.id ?? id
  return `/components/${encodeURIComponent(component)}/${encodeURIComponent(configuration)}`
}
