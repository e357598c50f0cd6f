import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

/** A modal dialog. The browser keeps the focus inside, closes it with Escape, and returns the focus afterwards. */
export function Dialog(props: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Buttons at the end. */
  readonly actions?: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={props.onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
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
