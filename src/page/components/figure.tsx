import type { ComponentChildren } from 'preact'

/** A large figure with its label, in a `dl` of the class `figures`. */
export function Figure(props: {
  readonly label: string
  readonly note?: string
  readonly children: ComponentChildren
}) {
  return (
    <div>
      <dt>{props.label}</dt>
      <dd>
        {props.children} {props.note && <small>{props.note}</small>}
      </dd>
    </div>
  )
}
