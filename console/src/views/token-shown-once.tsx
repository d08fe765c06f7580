// A new token in its dialog: the only time that it can be copied.

import { CopyButton } from '../parts/copy.tsx'
import { Dialog } from '../parts/drawer.tsx'

export const TokenShownOnce = ({ title, token, onClose }: { title: string; token: string; onClose: () => void }) => (
  <Dialog title={title} onClose={onClose}>
    <div className="inset stack-4">
      <p className="body-text">Copy it now: it is shown this once and cannot be read again.</p>
      <div className="note good">
        <code className="mono grow wrap">{token}</code>
        <CopyButton text={token} />
      </div>
      <button type="button" className="button primary" onClick={onClose}>
        I have it
      </button>
    </div>
  </Dialog>
)
