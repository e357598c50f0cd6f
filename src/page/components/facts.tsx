import type { ComponentChildren } from 'preact'

/** A row of facts with their labels. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [label: string, value: ComponentChildren])[]
}) {
  return (
    <dl class="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
