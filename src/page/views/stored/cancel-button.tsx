import { useState } from 'preact/hooks'
import { toFailure } from '../../api/failure.ts'
import { Button } from '../../components/button.tsx'
import { useToast } from '../../components/toast.tsx'
import { useApi } from '../../session/session.tsx'

/** Cancels a background run. */
export function CancelButton({
  path,
  onCancelled,
}: {
  readonly path: string
  readonly onCancelled: () => void
}) {
  const api = useApi()
  const toast = useToast()
  const [cancelling, setCancelling] = useState(false)
  const cancel = async () => {
    setCancelling(true)
    try {
      await api.send('POST', `${path}/cancel`)
      toast('The run was cancelled.')
      onCancelled()
    } catch (error) {
      toast(toFailure(error).message)
    }
    setCancelling(false)
  }
  return <Button label="Cancel the run" icon="stop" disabled={cancelling} onClick={() => void cancel()} />
}
