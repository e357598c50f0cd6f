import { Button } from './button.tsx'
import { useToast } from './toast.tsx'

/** Copies a text; without access to the clipboard, as over plain HTTP from another machine, through a selection. */
export function CopyButton(props: {
  readonly text: string | (() => string)
  readonly label?: string
  readonly iconOnly?: boolean
}) {
  const toast = useToast()
  const { label = 'Copy', iconOnly = false } = props
  const copy = async () => {
    const text = typeof props.text === 'string' ? props.text : props.text()
    toast((await copyText(text)) ? 'Copied.' : 'The browser did not allow copying.')
  }
  return <Button label={label} icon="copy" iconOnly={iconOnly} onClick={() => void copy()} />
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelection(text)
  }
}

/** `navigator.clipboard` exists in secure contexts only. */
function copySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  // A modal dialog makes everything outside of it inert.
  const parent = document.querySelector('dialog[open]') ?? document.body
  parent.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  return copied
}
