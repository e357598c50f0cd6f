import { visibleText } from '../markdown/visible-text.ts'

/** An active filter, which a click removes. */
export function FilterChip(props: {
  readonly name: string
  readonly value: string
  readonly onClear: () => void
}) {
  return (
    <button type="button" class="button filter" onClick={props.onClear}>
      <span class="visually-hidden">Remove the filter </span>
      <span>
        <bdi>{visibleText(props.name)}</bdi>: <bdi>{visibleText(props.value)}</bdi>
      </span>
      <span aria-hidden="true">×</span>
    </button>
  )
}
