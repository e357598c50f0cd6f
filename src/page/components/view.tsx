import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { ApiFailure } from '../api/failure.ts'
import type { Resource } from '../api/resource.ts'
import { Button } from './button.tsx'

/** The heading of a view, with its controls at the end of the line, and above it the way back. */
export function ViewHeader(props: {
  readonly title: string
  readonly back?: { readonly href: string; readonly label: string } | undefined
  readonly children?: ComponentChildren
}) {
  const { title, back, children } = props
  return (
    <>
      {back && (
        <p class="back">
          <a href={back.href}>{back.label}</a>
        </p>
      )}
      <header class="view-header">
        <h1>{title}</h1>
        <div>{children}</div>
      </header>
    </>
  )
}

/** A part of a view with its heading, and with its controls at the end of the line. */
export function Section(props: {
  readonly title: ComponentChildren
  /** What the part shows, in a few words behind its title. */
  readonly note?: ComponentChildren
  /** The name of the part, where its title alone would not say enough. */
  readonly label?: string
  readonly controls?: ComponentChildren
  readonly busy?: boolean
  readonly children: ComponentChildren
}) {
  const { title, note, label, controls } = props
  const id = useId()
  const heading = (
    <h2 id={id}>
      {title} {note && <small class="quiet">{note}</small>}
    </h2>
  )
  return (
    <section class="stack" aria-label={label} aria-labelledby={label ? undefined : id} aria-busy={props.busy}>
      {controls ? (
        <div class="section-header">
          {heading}
          {controls}
        </div>
      ) : (
        heading
      )}
      {props.children}
    </section>
  )
}

/** The text of a view that has nothing to show yet: why, and what to do. */
export function Empty(props: {
  readonly title: string
  readonly text?: ComponentChildren
  readonly children?: ComponentChildren
}) {
  return (
    <div class="state">
      <h2>{props.title}</h2>
      {props.text && <p>{props.text}</p>}
      {props.children}
    </div>
  )
}

/** A sentence in the place of a part of a view that is empty, with what to do next. */
export function EmptyLine(props: { readonly text: ComponentChildren; readonly children: ComponentChildren }) {
  return (
    <div class="state line">
      <p class="quiet">{props.text}</p>
      {props.children}
    </div>
  )
}

/** Lines in the place of what is being loaded, so that nothing moves when it arrives. */
export function Loading(props: { readonly lines: number; readonly label?: string }) {
  return (
    <div class="skeleton" role="status" aria-label={props.label ?? 'Loading'}>
      {Array.from({ length: props.lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  )
}

/** A failed request: what the gateway said, what to do, and the ID to find it in the log. */
export function Failure(props: {
  readonly failure: ApiFailure
  readonly retry?: () => void
  /** False where the remedy is beside it. */
  readonly advice?: boolean
}) {
  const { failure, retry } = props
  const advice = props.advice === false ? undefined : failure.advice
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
      {advice !== undefined && <p>{advice}</p>}
      {facts.length > 0 && <p class="quiet mono">{facts.join(' · ')}</p>}
      {retry && <Button label="Try again" icon="retry" onClick={retry} />}
    </div>
  )
}

/** Shows a resource once it is there; before, lines; if it failed, why. */
export function Loaded<Value>(props: {
  readonly resource: Resource<Value>
  readonly lines: number
  readonly children: (value: Value) => ComponentChildren
}) {
  const { value, failure, reload } = props.resource
  if (failure !== undefined) return <Failure failure={failure} retry={reload} />
  if (value === undefined) return <Loading lines={props.lines} />
  return <>{props.children(value)}</>
}
