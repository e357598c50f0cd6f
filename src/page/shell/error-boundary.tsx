import { Component, type ComponentChildren } from 'preact'
import { toFailure } from '../api/failure.ts'
import { Failure } from '../components/states.tsx'

/** Shows an error of a view in its place; the navigation stays usable. */
export class ErrorBoundary extends Component<
  { readonly children: ComponentChildren },
  { readonly error?: unknown }
> {
  override state: { readonly error?: unknown } = {}

  static override getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (this.state.error === undefined) return this.props.children
    return <Failure failure={toFailure(this.state.error)} retry={() => this.setState({ error: undefined })} />
  }
}
