// Light or dark: what the person chose before, else what the system asks for.

const KEY = 'millrace.theme'

export function applyTheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  document.documentElement.dataset.theme = localStorage.getItem(KEY) ?? (dark ? 'dark' : 'light')
}

export function toggleTheme(): void {
  const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset.theme = next
  localStorage.setItem(KEY, next)
}
