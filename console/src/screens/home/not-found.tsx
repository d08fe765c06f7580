import { Link } from '@tanstack/react-router'
import { Page } from '../../shell/page.tsx'

export const NotFound = () => (
  <Page title="Not found" crumbs={[{ name: 'Not found' }]} say="There is no such page.">
    <p className="body-text soft">
      Go to <Link to="/">Home</Link>, or press <kbd>Ctrl</kbd> <kbd>K</kbd> and search.
    </p>
  </Page>
)
