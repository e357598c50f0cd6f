import type { ComponentChildren } from 'preact'

/** A short fact; its tone never says more than its text. */
export function Badge(props: {
  readonly tone?: 'neutral' | 'good' | 'warning' | 'bad' | 'accent'
  readonly children: ComponentChildren
}) {
  return <span class={`badge ${props.tone ?? 'neutral'}`}>{props.children}</span>
}
