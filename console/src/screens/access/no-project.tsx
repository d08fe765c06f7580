import { signOut } from '../../session.ts'

export const NoProject = () => (
  <main id="main" className="content stack4">
    <h1 className="say">You do not belong to a project yet.</h1>
    <p className="md">Ask an admin to add you, then load this page again.</p>
    <p>
      <button type="button" className="btn" onClick={signOut}>
        Sign out
      </button>
    </p>
  </main>
)
