import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Table } from '../../components/table.tsx'
import { useToast } from '../../components/toast.tsx'
import type { ApiKey, NewApiKey } from './api-key.ts'
import { keyColumns, organizationColumn } from './key-columns.tsx'
import { CreateKey, RevokeKey, RotateKey, ShowKey } from './key-dialogs.tsx'

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

/** A table of keys, of one organization or of all. */
export function KeyTable(props: {
  readonly keys: readonly ApiKey[]
  readonly everyone: boolean
  readonly dialogs: ReturnType<typeof useKeyDialogs>
  readonly empty: ComponentChildren
}) {
  const { keys, everyone, dialogs } = props
  const columns = useMemo(() => {
    const [name, ...rest] = keyColumns(dialogs)
    return [name, everyone && organizationColumn, ...rest].filter((column) => typeof column === 'object')
  }, [everyone])
  return (
    <Table
      label="API keys"
      columns={columns}
      rows={keys}
      rowKey={({ id }) => id}
      initialSort={{ column: 'created', direction: 'descending' }}
      empty={props.empty}
    />
  )
}
