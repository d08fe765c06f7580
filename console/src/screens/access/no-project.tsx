import { signOut } from '../../session.ts'

export const NoProject = () => (
  <main id="main" className="content stack-4">
    <h1 className="page-sentence">You do not belong to a project yet.</h1>
    <p className="body-text">Ask an admin to add you, then load this page again.</p>
    <p>
      <button type="button" className="button" onClick={signOut}>
        Sign out
      </button>
    </p>
  </main>
)
