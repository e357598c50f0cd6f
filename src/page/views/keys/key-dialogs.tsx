import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Time } from '../../components/time.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { useAdminApi } from '../../session/session.tsx'
import type { ApiKey, NewApiKey } from './api-key.ts'

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
export function CreateKey(props: {
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
export function ShowKey({ created, onClose }: { readonly created: NewApiKey; readonly onClose: () => void }) {
  return (
    <Dialog
      title="The new API key"
      sticky
      onClose={onClose}
      actions={<Button label="Done" kind="primary" onClick={onClose} />}
    >
      <div class="dialog-form">
        <p>
          Copy the key of <bdi>{visibleText(created.organization ?? '')}</bdi> now: it is not shown again, and
          the gateway stores only a hash of it.
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
export function RotateKey(props: {
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
export function RevokeKey(props: {
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
