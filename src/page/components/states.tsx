import type { ComponentChildren } from 'preact'
import type { ApiFailure } from '../api/failure.ts'
import type { Resource } from '../api/use-resource.ts'
import { Button } from './button.tsx'

/** What a view shows where it has nothing to show yet: why, and what to do. */
export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** Lines in the place of what is being loaded, so that nothing moves when it arrives. */
export function Loading({
  lines = 6,
  label = 'Loading',
}: {
  readonly lines?: number
  readonly label?: string
}) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  )
}

/** A failed request: what the gateway said, what to do, and the ID to find it in the log. */
export function Failure({ failure, retry }: { readonly failure: ApiFailure; readonly retry?: () => void }) {
  const facts = [
    failure.status > 0 && `Status ${failure.status}`,
    failure.code !== null && `code ${failure.code}`,
    failure.requestId !== null && `request ${failure.requestId}`,
  ].filter((fact) => fact !== false)
  return (
    <div class="failure" role="alert">
      <p class="failure-message">
        <bdi>{failure.message}</bdi>
      </p>
      {failure.advice !== undefined && <p>{failure.advice}</p>}
      {facts.length > 0 && <p class="quiet mono">{facts.join(' · ')}</p>}
      {retry && <Button label="Try again" icon="retry" onClick={retry} />}
    </div>
  )
}

/** Shows a resource once it is there; before, lines; if it failed, why. */
export function Loaded<Value>(props: {
  readonly resource: Resource<Value>
  readonly lines?: number
  readonly children: (value: Value) => ComponentChildren
}) {
  const { value, failure, reload } = props.resource
  if (failure !== undefined) return <Failure failure={failure} retry={reload} />
  if (value === undefined) return <Loading lines={props.lines} />
  return <>{props.children(value)}</>
}
