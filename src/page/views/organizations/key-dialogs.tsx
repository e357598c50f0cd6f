import { useState } from 'preact/hooks'
import type { ApiKey, NewApiKey } from '../../api/objects.ts'
import { Button, CopyButton } from '../../components/button.tsx'
import { Dialog, type DialogHandlers, FormDialog } from '../../components/dialog.tsx'
import { Foreign, Time } from '../../components/facts.tsx'
import { SelectField } from '../../components/field.tsx'
import { visibleText } from '../../components/format.ts'
import { useToast } from '../../components/toast.tsx'
import { type KeyOwner, keyPath } from './key.ts'
import { CreateKey, EditKey } from './key-form.tsx'

/** A dialog about keys. */
type OpenDialog =
  { readonly type: 'create' } | { readonly type: 'edit' | 'rotate' | 'revoke'; readonly of: ApiKey }

/** The dialogs of a list of keys, and what opens them. */
export function useKeyDialogs(options: {
  /** What a new key belongs to: always if it is `fixed`, else at first. */
  readonly owner?: KeyOwner
  readonly fixed?: boolean
  /** Called after a change. */
  readonly onChanged: () => void
}) {
  const toast = useToast()
  const [dialog, setDialog] = useState<OpenDialog>()
  /** A new key, which is kept only while its dialog is open. */
  const [created, setCreated] = useState<NewApiKey>()
  const close = () => setDialog(undefined)
  const show = (key: NewApiKey) => {
    setCreated(key)
    options.onChanged()
  }
  const changed = (message: string) => () => {
    toast(message)
    options.onChanged()
  }
  return {
    create: () => setDialog({ type: 'create' }),
    onEdit: (of: ApiKey) => setDialog({ type: 'edit', of }),
    onRotate: (of: ApiKey) => setDialog({ type: 'rotate', of }),
    onRevoke: (of: ApiKey) => setDialog({ type: 'revoke', of }),
    element: (
      <>
        {dialog?.type === 'create' && <CreateKey {...options} onClose={close} onDone={show} />}
        {created && <ShowKey created={created} onClose={() => setCreated(undefined)} />}
        {dialog?.type === 'edit' && (
          <EditKey of={dialog.of} onClose={close} onDone={changed('The key is changed.')} />
        )}
        {dialog?.type === 'rotate' && <RotateKey of={dialog.of} onClose={close} onDone={show} />}
        {dialog?.type === 'revoke' && (
          <RevokeKey of={dialog.of} onClose={close} onDone={changed('The key is revoked.')} />
        )}
      </>
    ),
  }
}

const graces = [
  { value: '0s', label: 'Not at all' },
  { value: '1h', label: 'For an hour' },
  { value: '24h', label: 'For a day' },
  { value: '7d', label: 'For a week' },
] as const

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
function RotateKey({ of: key, ...handlers }: { readonly of: ApiKey } & DialogHandlers<NewApiKey>) {
  const { id, name, last4, permissions } = key
  const [grace, setGrace] = useState<(typeof graces)[number]['value']>('24h')
  return (
    <FormDialog<NewApiKey>
      title={`Rotate ${visibleText(name)}`}
      action="Rotate"
      change={{ method: 'POST', path: `${keyPath(id)}/rotate`, body: { grace } }}
      {...handlers}
    >
      <p>
        A new key with the same name, limits and lifetime replaces the key that ends with <code>{last4}</code>
        . Both spend the same budget.
        {permissions.includes('mint') && ' The keys that the old one has created end with it.'}
      </p>
      <SelectField label="The old key still works" value={grace} options={graces} onChange={setGrace} />
    </FormDialog>
  )
}

/** Revokes a key. */
function RevokeKey({ of: key, ...handlers }: { readonly of: ApiKey } & DialogHandlers) {
  const { id, name, last4, permissions } = key
  return (
    <FormDialog
      title={`Revoke ${visibleText(name)}`}
      action="Revoke"
      kind="danger"
      change={{ method: 'POST', path: `${keyPath(id)}/revoke` }}
      {...handlers}
    >
      <p>
        Requests with the key that ends with <code>{last4}</code>
        {permissions.includes('mint') && ' or with keys that it has created'} are rejected at once. This
        cannot be undone.
      </p>
    </FormDialog>
  )
}
