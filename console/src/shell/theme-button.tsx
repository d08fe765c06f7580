import { Icon } from '../parts/icon.tsx'
import { toggleTheme } from '../theme.ts'

export const ThemeButton = () => (
  <button
    type="button"
    className="button icon ghost small"
    aria-label="Switch light and dark"
    title="Switch light and dark"
    onClick={toggleTheme}
  >
    <Icon name="sun" />
  </button>
)
