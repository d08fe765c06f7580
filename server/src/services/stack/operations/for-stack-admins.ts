// What every route of this module has in common: it is for stack admins.

export const config = (operation: string, summary: string) =>
  ({
    operation: `operations.${operation}`,
    summary,
    needs: 'person',
    role: 'stack admin',
    validationCode: 'validation.failed',
  }) as const
