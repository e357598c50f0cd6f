import { useState } from 'preact/hooks'
import { type ApiFailure, toFailure } from '../../api/failure.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Failure } from '../../components/states.tsx'
import { useToast } from '../../components/toast.tsx'
import { routeHash } from '../../routing/route.ts'
import { useApi } from '../../session/session.tsx'
import type { StoredKind } from './summary.ts'

const paths = { completions: '/v1/chat/completions', responses: '/v1/responses' } as const
const names = { completions: 'completion', responses: 'response' } as const
const notes = {
  completions: 'The completion and its messages are deleted. This cannot be undone.',
  responses:
    'The response is deleted. Responses that continue it are kept, but it cannot be continued again. This cannot be undone.',
} as const

/** Asks before a stored object is deleted, and returns to the list afterwards. */
export function DeleteDialog(props: {
  readonly kind: StoredKind
  readonly id: string
  readonly onClose: () => void
}) {
  const { kind, onClose } = props
  const { remove, deleting, failure } = useDeletion(kind, props.id)
  return (
    <Dialog
      title={`Delete this ${names[kind]}?`}
      onClose={onClose}
      actions={
        <>
          <Button label="Keep it" onClick={onClose} />
          <Button
            label="Delete"
            icon="trash"
            kind="danger"
            disabled={deleting}
            onClick={() => void remove()}
          />
        </>
      }
    >
      <p>{notes[kind]}</p>
      {failure && <Failure failure={failure} />}
    </Dialog>
  )
}

function useDeletion(kind: StoredKind, id: string) {
  const api = useApi()
  const toast = useToast()
  const [deleting, setDeleting] = useState(false)
  const [failure, setFailure] = useState<ApiFailure | undefined>()
  const remove = async () => {
    setDeleting(true)
    try {
      await api.send('DELETE', `${paths[kind]}/${encodeURIComponent(id)}`)
      toast(`The ${names[kind]} was deleted.`)
      location.hash = routeHash('stored', [kind])
    } catch (error) {
      setFailure(toFailure(error))
      setDeleting(false)
    }
  }
  return { remove, deleting, failure }
}
