import { Link } from '@tanstack/react-router'

interface OpenConfigurationProps {
  readonly componentId: string
  readonly configurationId: string
  /** The row to show. */
  readonly row?: string | undefined
  readonly isSmall?: boolean
}

/** Beside something that a configuration has done, or is to do. */
export const OpenConfiguration = ({ componentId, configurationId, row, isSmall = false }: OpenConfigurationProps) => (
  <Link
    className={isSmall ? 'button small' : 'button'}
    to="/components/$componentId/$configurationId"
    params={{ componentId, configurationId }}
    search={row ? { row } : {}}
  >
    Open the configuration
  </Link>
)
