// The frame of every screen: its place, the sentence that answers its first question, its actions.

import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { screenHelp } from '../facts/field-help.ts'
import { Lines } from '../load.tsx'
import { HelpAbout } from '../parts/guide.tsx'
import { Icon } from '../parts/icon.tsx'
import { ProblemPlace } from '../parts/problem-place.ts'
import { RightsSubject, type Subject } from '../rights.ts'
import { findBinding } from '../use-key.ts'
import { BranchMark } from './branch.tsx'
import { CurlButton } from './curl.tsx'
import { ProjectButton } from './project-switch.tsx'
import './shell.css'

export interface Crumb {
  readonly name: string
  readonly to?: string
  readonly search?: Readonly<Record<string, string>>
}

export function Page({
  title,
  crumbs,
  above,
  say,
  beside,
  sub,
  actions,
  tabs,
  isWide = false,
  about = {},
  isLoading = false,
  children,
}: {
  /** Of the browser's window. */
  title: string
  crumbs: readonly Crumb[]
  /** Before the sentence: a status, an id. */
  above?: ReactNode
  /** A true sentence from the facts of the screen; the name alone when there is no fact. */
  say: ReactNode
  /** After the sentence and not part of it: a button that changes the name. */
  beside?: ReactNode
  sub?: ReactNode
  actions?: ReactNode
  tabs?: ReactNode
  /** An editor: uses the whole width and divides it by lines. */
  isWide?: boolean
  /** Whose rights its actions take. */
  about?: Subject
  /** The content of the head is not loaded yet: what comes below it waits, so that it does not move when the head grows. */
  isLoading?: boolean
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Millrace`
  }, [title])
  /** Below the head: a sentence beside the buttons would leave no room for the title. */
  const [problems, setProblems] = useState<HTMLElement | null>(null)
  return (
    <RightsSubject value={about}>
      <header className="top-bar">
        <nav aria-label="Breadcrumb" className="grow">
          <ol className="crumbs">
            {crumbs.map(({ name, to, search = {} }) => (
              <li key={name} className="clip">
                {to === undefined ? (
                  <span className="clip" aria-current="page">
                    {name}
                  </span>
                ) : (
                  <Link className="clip" to={to} search={search} activeOptions={{ exact: true }}>
                    {name}
                  </Link>
                )}
              </li>
            ))}
          </ol>
        </nav>
        <ProjectButton />
        <button
          type="button"
          className="button icon ghost only-small"
          aria-label="Search or run"
          title="Search or run"
          onClick={() => findBinding('Ctrl k')?.run()}
        >
          <Icon name="search" />
        </button>
        <CurlButton />
        <Link className="button icon ghost" to="/help" aria-label="Guides" title="Guides">
          <Icon name="help" />
        </Link>
      </header>
      <BranchMark />
      <main id="main" className={isWide ? 'content flush' : 'content'} tabIndex={-1}>
        <div className={isWide ? 'wide-top' : 'contents'}>
          <div className="head">
            <div className="grow">
              {above ? <div className="flex-row above">{above}</div> : null}
              {beside ? (
                <div className="flex-row wrap">
                  <h1 className="page-sentence">{say}</h1>
                  {beside}
                </div>
              ) : (
                <h1 className="page-sentence">{say}</h1>
              )}
              {sub ? <p className="subtitle">{sub}</p> : null}
            </div>
            {actions ? (
              <div className="flex-row wrap">
                <ProblemPlace value={problems}>
                  <HelpAbout {...screenHelp(crumbs[0]?.name ?? '')}>{actions}</HelpAbout>
                </ProblemPlace>
              </div>
            ) : null}
          </div>
          <div ref={setProblems} />
          {isLoading ? null : tabs}
        </div>
        {isLoading ? <Lines count={8} /> : null}
        <div className={isLoading ? undefined : 'contents'} hidden={isLoading}>
          <HelpAbout {...screenHelp(crumbs[0]?.name ?? '')}>{children}</HelpAbout>
        </div>
      </main>
    </RightsSubject>
  )
}
