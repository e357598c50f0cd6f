import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useChange } from '../api/use-change.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Failure } from './states.tsx'

/** A dialog with fields and a change that they describe. It stays open if the change fails, and says why. */
export function FormDialog(props: {
  readonly title: string
  /** The label of the button that sends the change. */
  readonly action: string
  readonly kind?: 'primary' | 'danger'
  /** Whether the fields are complete. */
  readonly ready?: boolean
  readonly onClose: () => void
  /** Sends the change; throws `ApiFailure`. */
  readonly onSubmit: () => Promise<void>
  readonly children?: ComponentChildren
}) {
  const { action, kind = 'primary', ready = true, onClose, onSubmit } = props
  const form = useRef<HTMLFormElement>(null)
  const change = useChange()
  useEffect(() => form.current?.querySelector<HTMLElement>('input, select')?.focus(), [])
  return (
    <Dialog title={props.title} onClose={onClose}>
      <form
        ref={form}
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) change.run(onSubmit)
        }}
      >
        {props.children}
        {change.failure && <Failure failure={change.failure} />}
        <footer>
          <Button label="Cancel" onClick={onClose} />
          <Button label={action} kind={kind} type="submit" disabled={!ready || change.busy} />
        </footer>
      </form>
    </Dialog>
  )
}
