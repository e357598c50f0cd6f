import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { useChange } from '../api/resource.ts'
import { useAdminApi } from '../session.tsx'
import { Button } from './button.tsx'
import { Failure } from './view.tsx'

/** A modal dialog. The browser keeps the focus inside, closes it with Escape, and returns the focus afterwards. */
export function Dialog(props: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Buttons at the end. */
  readonly actions?: ComponentChildren
  /** Whether a click beside the dialog leaves it open, because what it shows is not shown again. */
  readonly sticky?: boolean
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Closing fires an event later, when another dialog may have taken the place of this one.
  const removed = useRef(false)
  const beside = useClickBeside(() => !props.sticky && dialog.current?.close())
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    // Here, because the browser has moved the focus to the button that closes the dialog.
    element?.querySelector<HTMLElement>('form.dialog-form :is(input, select)')?.focus()
    return () => {
      removed.current = true
      element?.close()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={() => !removed.current && props.onClose()}
      {...beside}
    >
      <div class="dialog-body">
        <header>
          <h2 id={id}>{props.title}</h2>
          <Button label="Close" icon="close" iconOnly onClick={() => dialog.current?.close()} />
        </header>
        {props.children}
        {props.actions && <footer>{props.actions}</footer>}
      </div>
    </dialog>
  )
}

/** Handlers of a dialog for a click that begins and ends beside it: its content covers all of the dialog itself. */
function useClickBeside(onClickBeside: () => void) {
  const pressed = useRef(false)
  const isBeside = ({ target, currentTarget }: Event) => target === currentTarget
  return {
    onPointerDown(event: Event) {
      pressed.current = isBeside(event)
    },
    onClick(event: Event) {
      // A selection of text that begins in a field and ends beside the dialog is a click on the dialog, too.
      if (pressed.current && isBeside(event)) onClickBeside()
    },
  }
}

/** A change that is sent to the admin API. */
export type AdminChange = {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object | undefined
}

/** The callbacks of a dialog with a change. */
export type DialogHandlers<Reply = unknown> = {
  readonly onClose: () => void
  /** Called after the change with the reply of the gateway. */
  readonly onDone: (reply: Reply) => void
}

/** A dialog with a change and its fields. It closes once the change is made; if that fails, it stays open, and says why. */
export function FormDialog<Reply>(
  props: DialogHandlers<Reply> & {
    readonly title: string
    /** The label of the button that sends the change. */
    readonly action: string
    readonly kind?: 'primary' | 'danger'
    /** Undefined while the fields are not complete. */
    readonly change: AdminChange | undefined
    readonly children?: ComponentChildren
  },
) {
  const { action, kind = 'primary', change, onClose, onDone } = props
  const admin = useAdminApi()
  const { busy, failure, run } = useChange()
  const send = async ({ method, path, body }: AdminChange) => {
    // The gateway rejects a change without fields.
    const isEmpty = method === 'PATCH' && Object.keys(body ?? {}).length === 0
    onDone(await (isEmpty ? admin.get<Reply>(path) : admin.send<Reply>(method, path, body)))
    onClose()
  }
  return (
    <Dialog title={props.title} onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (change !== undefined) run(() => send(change))
        }}
      >
        {props.children}
        {failure && <Failure failure={failure} />}
        <footer>
          <Button label="Cancel" onClick={onClose} />
          <Button label={action} kind={kind} type="submit" disabled={change === undefined || busy} />
        </footer>
      </form>
    </Dialog>
  )
}
