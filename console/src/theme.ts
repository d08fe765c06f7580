// Light or dark: what the person chose in this browser, else the preference of the system, also when it changes in the evening.

import { observable } from './observable.ts'

const KEY = 'millrace.theme'
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

export type Theme = 'light' | 'dark' | 'system'

const chosen = observable<Theme>((localStorage.getItem(KEY) as Theme | null) ?? 'system') // written below

export const useTheme = chosen.use

export function followTheme(): void {
  applyTheme()
  systemIsDark.addEventListener('change', applyTheme)
}

function applyTheme(): void {
  const theme = chosen.get()
  document.documentElement.dataset.theme = theme === 'system' ? (systemIsDark.matches ? 'dark' : 'light') : theme
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme)
  chosen.set(theme)
  applyTheme()
}

export const toggleTheme = (): void => chooseTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark')
