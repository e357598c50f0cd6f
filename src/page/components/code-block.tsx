import { CopyButton } from './copy-button.tsx'

/** Code as it is, with a button that copies it. It can be scrolled with the keyboard. */
export function CodeBlock({ code, label = 'Code' }: { readonly code: string; readonly label?: string }) {
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} label={`Copy ${label}`} iconOnly />
    </div>
  )
}
