import { useState } from 'preact/hooks'
import { Button, CopyButton } from '../../components/button.tsx'
import { Dialog, FormDialog } from '../../components/dialog.tsx'
import { Foreign, Time } from '../../components/facts.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { visibleText } from '../../components/format.ts'
import { useToast } from '../../components/toast.tsx'
import { useAdminApi } from '../../session.tsx'
import type { ApiKey, NewApiKey } from './key-table.tsx'

/** A dialog about keys. A new key is kept only while its dialog is open. */
type OpenDialog =
  | { readonly type: 'create' }
  | { readonly type: 'rotate' | 'revoke'; readonly of: ApiKey }
  | { readonly type: 'show'; readonly created: NewApiKey }

/** The dialogs of a list of keys, and what opens them. */
export function useKeyDialogs(options: {
  readonly organizations: readonly string[]
  readonly initial?: string | undefined
  /** Called after a change. */
  readonly onChanged: () => void
}) {
  const toast = useToast()
  const [dialog, setDialog] = useState<OpenDialog>()
  const close = () => setDialog(undefined)
  const show = (created: NewApiKey) => {
    setDialog({ type: 'show', created })
    options.onChanged()
  }
  const revoked = () => {
    toast('The key is revoked.')
    close()
    options.onChanged()
  }
  return {
    create: () => setDialog({ type: 'create' }),
    onRotate: (of: ApiKey) => setDialog({ type: 'rotate', of }),
    onRevoke: (of: ApiKey) => setDialog({ type: 'revoke', of }),
    element: (
      <>
        {dialog?.type === 'create' && <CreateKey {...options} onClose={close} onCreated={show} />}
        {dialog?.type === 'show' && <ShowKey created={dialog.created} onClose={close} />}
        {dialog?.type === 'rotate' && <RotateKey of={dialog.of} onClose={close} onCreated={show} />}
        {dialog?.type === 'revoke' && <RevokeKey of={dialog.of} onClose={close} onRevoked={revoked} />}
      </>
    ),
  }
}

const lifetimes = [
  { value: '', label: 'Never' },
  { value: '1d', label: 'In a day' },
  { value: '30d', label: 'In 30 days' },
  { value: '90d', label: 'In 90 days' },
  { value: '365d', label: 'In a year' },
] as const

const graces = [
  { value: '0s', label: 'Not at all' },
  { value: '1h', label: 'For an hour' },
  { value: '24h', label: 'For a day' },
  { value: '7d', label: 'For a week' },
] as const

/** Creates a key of one of these organizations. */
function CreateKey(props: {
  readonly organizations: readonly string[]
  /** The organization that is selected at first. */
  readonly initial?: string | undefined
  readonly onClose: () => void
  readonly onCreated: (created: NewApiKey) => void
}) {
  const admin = useAdminApi()
  const { organizations } = props
  const [organization, setOrganization] = useState(props.initial ?? organizations[0] ?? '')
  const [name, setName] = useState('')
  const [lifetime, setLifetime] = useState<(typeof lifetimes)[number]['value']>('')
  const options = organizations.map((value) => ({ value, label: value }))
  const create = async () => {
    const body = {
      organization,
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(lifetime !== '' && { expires_in: lifetime }),
    }
    props.onCreated(await admin.send<NewApiKey>('POST', '/admin/keys', body))
  }
  return (
    <FormDialog
      title="Create an API key"
      action="Create"
      ready={organization !== ''}
      onClose={props.onClose}
      onSubmit={create}
    >
      <SelectField label="Organization" value={organization} options={options} onChange={setOrganization} />
      <TextField label="Name" placeholder="laptop" value={name} onInput={setName} />
      <SelectField label="Expires" value={lifetime} options={lifetimes} onChange={setLifetime} />
    </FormDialog>
  )
}

/** Shows a new key, for the only time. */
function ShowKey({ created, onClose }: { readonly created: NewApiKey; readonly onClose: () => void }) {
  return (
    <Dialog
      title="The new API key"
      sticky
      onClose={onClose}
      actions={<Button label="Done" kind="primary" onClick={onClose} />}
    >
      <div class="dialog-form">
        <p>
          Copy the key of <Foreign text={created.organization ?? ''} /> now: it is not shown again, and the
          gateway stores only a hash of it.
        </p>
        <p class="secret">
          <code>{created.key}</code>
          <CopyButton text={created.key} label="Copy the key" iconOnly />
        </p>
        {created.expires_at !== null && (
          <p class="quiet">
            It expires <Time at={created.expires_at} />.
          </p>
        )}
      </div>
    </Dialog>
  )
}

/** Replaces a key; the old one works for a while. */
function RotateKey(props: {
  readonly of: ApiKey
  readonly onClose: () => void
  readonly onCreated: (created: NewApiKey) => void
}) {
  const admin = useAdminApi()
  const { id, name, last4 } = props.of
  const [grace, setGrace] = useState<(typeof graces)[number]['value']>('24h')
  const rotate = async () =>
    props.onCreated(await admin.send<NewApiKey>('POST', `${keyPath(id)}/rotate`, { grace }))
  return (
    <FormDialog
      title={`Rotate ${visibleText(name)}`}
      action="Rotate"
      onClose={props.onClose}
      onSubmit={rotate}
    >
      <p>
        A new key with the same name, organization and lifetime replaces the key that ends with{' '}
        <code>{last4}</code>.
      </p>
      <SelectField label="The old key still works" value={grace} options={graces} onChange={setGrace} />
    </FormDialog>
  )
}

/** Revokes a key. */
function RevokeKey(props: {
  readonly of: ApiKey
  readonly onClose: () => void
  readonly onRevoked: () => void
}) {
  const admin = useAdminApi()
  const { id, name, last4 } = props.of
  const revoke = async () => {
    await admin.send('POST', `${keyPath(id)}/revoke`)
    props.onRevoked()
  }
  return (
    <FormDialog
      title={`Revoke ${visibleText(name)}`}
      action="Revoke"
      kind="danger"
      onClose={props.onClose}
      onSubmit={revoke}
    >
      <p>
        Requests with the key that ends with <code>{last4}</code> are rejected at once. This cannot be undone.
      </p>
    </FormDialog>
  )
}

function keyPath(id: string): string {
  return `/admin/keys/${encodeURIComponent(id)}`
}
