// Status as shape, word and colour (console-design, section 6).

import { Icon, type IconName } from './icon.tsx'
import './parts.css'

interface Look {
  readonly word: string
  readonly icon: IconName
  readonly tone: 'good' | 'warn' | 'failed' | 'running' | 'stop' | 'idle'
}

const LOOKS: Readonly<Record<string, Look>> = {
  success: { word: 'Success', icon: 'st-ok', tone: 'good' },
  warning: { word: 'Warning', icon: 'st-warn', tone: 'warn' },
  error: { word: 'Failed', icon: 'st-err', tone: 'failed' },
  failed: { word: 'Failed', icon: 'st-err', tone: 'failed' },
  processing: { word: 'Running', icon: 'st-run', tone: 'running' },
  terminating: { word: 'Terminating', icon: 'stop', tone: 'stop' },
  terminated: { word: 'Terminated', icon: 'st-stop', tone: 'stop' },
  stopped: { word: 'Stopped', icon: 'st-stop', tone: 'stop' },
  waiting: { word: 'Waiting', icon: 'st-wait', tone: 'idle' },
  created: { word: 'Created', icon: 'st-created', tone: 'idle' },
  cancelled: { word: 'Cancelled', icon: 'st-cancel', tone: 'idle' },
  skipped: { word: 'Skipped', icon: 'st-skip', tone: 'idle' },
  late: { word: 'Late', icon: 'st-late', tone: 'warn' },
  fresh: { word: 'Fresh', icon: 'st-ok', tone: 'good' },
  never: { word: 'Never loaded', icon: 'st-created', tone: 'idle' },
  paused: { word: 'Paused', icon: 'st-pause', tone: 'idle' },
  disabled: { word: 'Disabled', icon: 'st-pause', tone: 'idle' },
  enabled: { word: 'Enabled', icon: 'st-ok', tone: 'good' },
}

const lookOf = (status: string): Look => LOOKS[status] ?? { word: status, icon: 'st-created', tone: 'idle' }

export const wordOf = (status: string): string => lookOf(status).word

export function Status({ status, badge = false, text }: { status: string; badge?: boolean; text?: string }) {
  const { word, icon, tone } = lookOf(status)
  return (
    <span className={`status ${tone} ${badge ? 'badge' : ''}`}>
      <Icon name={icon} size={badge ? 'small' : ''} />
      {text ?? word}
    </span>
  )
}

/** The shape alone, where room is short; the word for screen readers and as a tooltip. */
export function StatusIcon({ status }: { status: string }) {
  const { word, icon, tone } = lookOf(status)
  return (
    <span className={tone} title={word}>
      <Icon name={icon} />
      <span className="visually-hidden">{word}</span>
    </span>
  )
}
