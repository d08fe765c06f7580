// Light or dark: what the person chose before, else what the system asks for, also when it changes its mind in the evening.

const KEY = 'millrace.theme'
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

export function followTheme(): void {
  applyTheme()
  systemIsDark.addEventListener('change', applyTheme)
}

function applyTheme(): void {
  document.documentElement.dataset.theme = localStorage.getItem(KEY) ?? (systemIsDark.matches ? 'dark' : 'light')
}

export function toggleTheme(): void {
  localStorage.setItem(KEY, document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark')
  applyTheme()
}
