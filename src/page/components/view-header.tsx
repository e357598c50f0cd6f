import type { ComponentChildren } from 'preact'

/** The heading of a view, with its controls at the end of the line. */
export function ViewHeader({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <header class="view-header">
      <h1>{title}</h1>
      <div>{children}</div>
    </header>
  )
}
