import { useState } from 'preact/hooks'
import { CodeBlock } from '../../components/code-block.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Tabs } from '../../components/tabs.tsx'
import type { GenerationRequest } from '../../generation/request-body.ts'
import { type Snippet, snippetsOf } from './snippets.ts'

/** Shows the request as code, to be copied. */
export function SnippetsDialog(props: { readonly request: GenerationRequest; readonly onClose: () => void }) {
  const { snippets, problem } = trySnippets(props.request)
  const [selected, setSelected] = useState('curl')
  const snippet = snippets.find(({ id }) => id === selected)
  return (
    <Dialog title="The request as code" onClose={props.onClose}>
      {problem !== undefined && <p>{problem}</p>}
      {snippet !== undefined && (
        <Tabs label="Language" tabs={snippets} selected={selected} onSelect={setSelected}>
          <CodeBlock code={snippet.code} label={snippet.label} />
        </Tabs>
      )}
      <p class="quiet">The code reads the key from the environment variable WEIR_API_KEY.</p>
    </Dialog>
  )
}

/** The parameters may be incomplete. */
function trySnippets(request: GenerationRequest): {
  readonly snippets: readonly Snippet[]
  readonly problem?: string
} {
  try {
    return { snippets: snippetsOf(request, location.origin) }
  } catch (error) {
    return { snippets: [], problem: error instanceof Error ? error.message : String(error) }
  }
}
