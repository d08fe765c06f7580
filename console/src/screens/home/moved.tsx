import { Navigate } from '@tanstack/react-router'

/** Where the account was; links to it are in mails and bookmarks. */
export const AccountMoved = () => <Navigate to="/settings" search={{ tab: 'you' }} replace />
