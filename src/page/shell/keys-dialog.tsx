import { Badge } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { useSession } from '../session/session.tsx'
import { KeyForm } from './sign-in.tsx'

/** Shows which keys the tab has, adds one, and forgets them. */
export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const { keys, signOut } = useSession()
  return (
    <Dialog
      title="Keys of this tab"
      onClose={onClose}
      actions={<Button label="Forget the keys" icon="signOut" kind="danger" onClick={signOut} />}
    >
      <ul class="key-list">
        <KeyLine label="API key" value={keys.apiKey} />
        <KeyLine label="Admin key" value={keys.adminKey} />
      </ul>
      <KeyForm onDone={onClose} />
    </Dialog>
  )
}

/** A key is recognized by its start; the rest is secret. */
function KeyLine({ label, value }: { readonly label: string; readonly value: string | undefined }) {
  const [start = ''] = /^sk-weir-\w+-(?=\w)/.exec(value ?? '') ?? []
  return (
    <li>
      <span>{label}</span>
      {value === undefined ? <Badge>not set</Badge> : <code>{`${start}••••`}</code>}
    </li>
  )
}
