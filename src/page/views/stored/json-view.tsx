import { CodeBlock } from '../../components/code-block.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { formatCount } from '../../components/format.ts'
import { visibleText } from '../../markdown/visible-text.ts'

/** Characters. */
const maxShown = 100_000

/** A stored object as JSON; of a long one, the start. */
export function JsonView({ value }: { readonly value: unknown }) {
  const json = JSON.stringify(value, null, 2)
  return (
    <div class="stack">
      {json.length > maxShown && (
        <p class="quiet">
          These are the first {formatCount(maxShown)} of {formatCount(json.length)} characters.{' '}
          <CopyButton text={json} label="Copy all" />
        </p>
      )}
      <CodeBlock code={visibleText(json.slice(0, maxShown))} label="JSON" />
    </div>
  )
}
