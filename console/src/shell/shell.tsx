// Rail, screen and status line. The rail names the nouns of the product; a noun never moves.

import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useMe } from '../facts/me.ts'
import { useTrouble } from '../facts/trouble.ts'
import { dayAndTime, zone } from '../format.ts'
import { useIsConnected, useLiveChanges } from '../live.ts'
import { useLoad } from '../load.tsx'
import { Drawer } from '../parts/drawer.tsx'
import { Icon, type IconName, Logo } from '../parts/icon.tsx'
import { Key } from '../parts/key.tsx'
import { useRole } from '../rights.ts'
import { signOut, usePerson } from '../session.ts'
import { findBinding } from '../use-key.ts'
import { Keyboard } from './keyboard.tsx'
import { Palette, usePalette } from './palette.tsx'
import { DATA, OPERATED, type Place, STACK, WORK } from './places.ts'
import { ProjectSwitch } from './project-switch.tsx'
import { Queries } from './queries.tsx'
import { ThemeButton } from './theme-button.tsx'
import { Toast } from './toast.tsx'
import { Tour } from './tour.tsx'
import './shell.css'

export const Shell = () => (
  <Queries>
    <Frame />
  </Queries>
)

function Frame() {
  const palette = usePalette()
  useLiveChanges()
  return (
    <div className="app-frame">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Rail onSearch={palette.open} />
      <div className="page">
        <Outlet />
      </div>
      <StatusLine />
      <Tabbar />
      <Keyboard />
      <Tour />
      <Toast />
      {palette.isOpen ? <Palette onClose={palette.close} /> : null}
    </div>
  )
}

const useRunning = () =>
  useLoad('queue.search', { query: { status: ['created', 'waiting', 'processing', 'terminating'], limit: 100 } })

function Rail({ onSearch }: { onSearch: () => void }) {
  const me = useMe()
  const person = usePerson()
  const running = useRunning().data?.filter(({ status }) => status === 'processing').length ?? 0
  const { failing, late } = useTrouble()
  return (
    <nav className="rail" aria-label="Main">
      <Link className="brand" to="/">
        <Logo />
        <span>Millrace</span>
      </Link>
      <ProjectSwitch />
      <button type="button" className="find" onClick={onSearch}>
        <Icon name="search" />
        <span>Search or run</span>
        <kbd className="push">Ctrl K</kbd>
      </button>
      <Places places={DATA} counts={{ '/': { value: failing.length + late.length, what: 'need you', tone: 'failed' } }} />
      <p className="places-heading">Build and run</p>
      <Places places={WORK} counts={{ '/jobs': { value: running, what: 'running', tone: 'running' } }} />
      <p className="places-heading">Stack</p>
      <Places className="places stack-places" places={person?.account.isStackAdmin ? [...STACK, ...OPERATED] : STACK} />
      <div className="signed-in">
        <span className="avatar" aria-hidden="true">
          {(me?.description ?? '?').slice(0, 1).toUpperCase()}
        </span>
        <span className="grow column">
          <span className="medium clip">
            {person ? (
              <Link to="/settings" search={{ tab: 'you' }}>
                {person.account.name}
              </Link>
            ) : (
              (me?.description ?? '')
            )}
          </span>
          <button type="button" className="link fine" onClick={signOut}>
            Sign out
          </button>
        </span>
        <ThemeButton />
        <button type="button" className="button icon ghost only-narrow" aria-label="Sign out" title="Sign out" onClick={signOut}>
          <Icon name="leave" />
        </button>
      </div>
    </nav>
  )
}

/** The builder edits configurations, which belong to the components. */
const useIsOf = () => {
  const path = useLocation({ select: ({ pathname }) => pathname })
  return (to: string): { 'aria-current'?: 'page' } =>
    to === '/components' && path.startsWith('/builder') ? { 'aria-current': 'page' } : {}
}

/** What needs a person, or moves; nothing else is counted in the rail. */
interface Count {
  readonly value: number
  readonly what: string
  readonly tone: 'failed' | 'running'
}

const CountMark = ({ value, what, tone }: Count) =>
  value === 0 ? null : (
    <span className={`count ${tone}`} title={`${value} ${what}`}>
      {value}
      <span className="visually-hidden"> {what}</span>
    </span>
  )

interface PlacesProps {
  readonly places: readonly Place[]
  readonly counts?: Readonly<Record<string, Count>>
  readonly className?: string
}

function Places({ places, counts = {}, className = 'places' }: PlacesProps) {
  const isOf = useIsOf()
  return (
    <div className={className}>
      {places.map(({ to, name, icon }) => (
        <Link
          key={to}
          to={to}
          {...isOf(to)}
          activeOptions={{ exact: to === '/' }}
          activeProps={{ 'aria-current': 'page' }}
          title={name}
        >
          <Icon name={icon} />
          <span>{name}</span>
          {counts[to] ? <CountMark {...counts[to]} /> : null}
        </Link>
      ))}
    </div>
  )
}

/** A disk fills slowly. */
const DISK_AGAIN_MS = 60_000

/** The only place for ambient facts. */
function StatusLine() {
  const running = useRunning()
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 1000)
    return () => clearInterval(timer)
  }, [])
  const jobs = running.data ?? []
  const active = jobs.filter(({ status }) => status === 'processing').length
  const isLost = !useIsConnected()
  return (
    <footer className="strip">
      <span className="flex-row">
        <span className={isLost ? 'live lost' : 'live'} />
        {isLost ? 'Connecting again' : 'Live'}
      </span>
      <span className="tabular">
        {active} running, {jobs.length - active} waiting
      </span>
      <Disk />
      <Viewer />
      <span className="push tabular">
        {dayAndTime(now)} {zone}
      </span>
      <KeyButton keys="c" icon="code" text="This page as curl" />
      <KeyButton keys="?" text="Keys" />
    </footer>
  )
}

const KeyButton = ({ keys, icon, text }: { keys: string; icon?: IconName; text: string }) => (
  <button type="button" className="flex-row" onClick={() => findBinding(keys)?.run()}>
    {icon ? <Icon name={icon} size="small" /> : null}
    {text} <Key name={keys} />
  </button>
)

/** Why so much is disabled. */
const Viewer = () =>
  useRole() === 'viewer' ? <span title="Changes require the role editor.">You look at this project as a viewer</span> : null

/** For stack admins, who alone may see it and can act on it. */
function Disk() {
  const isAdmin = usePerson()?.account.isStackAdmin ?? false
  const status = useLoad('operations.status', {}, { enabled: isAdmin, again: () => DISK_AGAIN_MS })
  const facts = status.data?.checks.find(({ check }) => check === 'disk')?.facts
  if (!facts) return null
  const { freeBytes, totalBytes } = facts as { readonly freeBytes: number; readonly totalBytes: number } // described loosely
  return (
    <Link className="flex-row tabular" to="/operations">
      <Icon name="disk" size="small" />
      Disk {Math.round(100 * (1 - freeBytes / totalBytes))} %
    </Link>
  )
}

/** On a small screen: four places at the bottom, and all others behind the fifth. */
function Tabbar() {
  const isOf = useIsOf()
  const [isOpen, setOpen] = useState(false)
  return (
    <nav className="tabbar only-small" aria-label="Places">
      {[...DATA.slice(0, 2), WORK[0]!, WORK.at(-1)!].map(({ to, name, icon }) => (
        <Link key={to} to={to} {...isOf(to)} activeOptions={{ exact: to === '/' }} activeProps={{ 'aria-current': 'page' }}>
          <Icon name={icon} size="large" />
          {name}
        </Link>
      ))}
      <button type="button" onClick={() => setOpen(true)}>
        <Icon name="menu" size="large" />
        More
      </button>
      {isOpen ? <AllPlaces onClose={() => setOpen(false)} /> : null}
    </nav>
  )
}

/** Every place, and the end of the session. */
function AllPlaces({ onClose }: { onClose: () => void }) {
  const person = usePerson()
  const me = useMe()
  return (
    <Drawer title="Places" onClose={onClose}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the links in it are what is clicked; it only closes behind them */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link is a click, too */}
      <div
        className="stack-3"
        onClick={({ target }) => (target instanceof Element && target.closest('a') ? onClose() : undefined)}
      >
        <Places places={[...DATA, ...WORK, ...STACK, ...(person?.account.isStackAdmin ? OPERATED : [])]} />
        {person ? (
          <Link to="/settings" search={{ tab: 'you' }}>
            {person.account.name}
          </Link>
        ) : (
          <span className="mute">{me?.description ?? ''}</span>
        )}
      </div>
      <div className="flex-row">
        <button type="button" className="button" onClick={signOut}>
          Sign out
        </button>
        <ThemeButton />
      </div>
    </Drawer>
  )
}
